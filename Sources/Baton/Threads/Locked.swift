internal import CBaton
internal import Synchronization

/// A mutex that owns the value it guards. The value can only be accessed inside ``withLock(_:)``. All of Baton uses it,
/// except operations, which use ``SpinLock``.
///
/// With `BATON_SANITIZE=thread` it also tells ThreadSanitizer, which does not see through `Mutex`, about the order that
/// the lock establishes. Never hold two of these locks at once, and call no user code while holding one.
package struct Locked<Value>: ~Copyable, Sendable {
    private let mutex: Mutex<Guarded<Value>>

    package init(_ value: consuming Value) { mutex = Mutex(Guarded(content: value)) }

    @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        assert(HeldLocks.isEmpty, "A thread that holds the lock of an operation takes another lock.")
        return try mutex.withLock { (guarded: inout Guarded<Value>) throws(Failure) -> Guarded<Result> in
            #if BATON_TSAN
                // The address of the lock identifies it, because taking the address of the value would be an access to
                // the value.
                withUnsafePointer(to: mutex) { baton_tsan_acquire($0) }
                defer { withUnsafePointer(to: mutex) { baton_tsan_release($0) } }
            #endif
            return Guarded<Result>(content: try body(&guarded.content))
        }.content
    }
}

/// A value that `Mutex` accepts without proof that nothing inside is shared with the outside. The values stored here
/// are `Sendable`, or are accessed under this lock only, as ``OptionalState`` is.
struct Guarded<Content: ~Copyable>: ~Copyable, @unchecked Sendable {
    var content: Content
}

/// The locks of operations that the calling thread holds. All members are called in assertions, so they cost nothing in
/// a release build.
///
/// Without this check, a thread that takes a ``SpinLock`` recursively would hang. A `Mutex` traps by itself.
enum HeldLocks {
    static var isEmpty: Bool { baton_count_held_locks(0) == 0 }

    /// Counts a lock that has been taken. Returns true, for assertions.
    static func begin() -> Bool { baton_count_held_locks(1) == 1 }

    /// Counts a lock that is about to be released. Returns true, for assertions.
    static func end() -> Bool { baton_count_held_locks(-1) == 0 }
}

/// Tells ThreadSanitizer that everything before the resumption of a continuation happens before the code after its
/// `await`.
enum TSanAnnotations {
    @inline(__always)
    static func willResume(_ subject: AnyObject) {
        #if BATON_TSAN
            baton_tsan_release(Unretained(subject).address)
        #endif
    }

    @inline(__always)
    static func didAwait(_ subject: AnyObject) {
        #if BATON_TSAN
            baton_tsan_acquire(Unretained(subject).address)
        #endif
    }
}

// MARK: - Lock of an operation

#if canImport(Darwin)
    /// A lock for critical sections of a few nanoseconds that rarely contend. On Darwin it is the system's lock,
    /// because a thread that waits for that lock raises the priority of the holder.
    struct SpinLock: ~Copyable {
        private let state = Locked(())

        @inline(__always)
        borrowing func withLock<Result, Failure: Error>(_ step: () throws(Failure) -> Result) throws(Failure) -> Result
        {
            try state.withLock { _ throws(Failure) in try step() }
        }
    }
#else
    /// A lock for critical sections of a few nanoseconds that rarely contend. Taking it is one atomic read-modify-write
    /// operation, and releasing it is one store.
    ///
    /// A thread that finds the lock taken spins for a few microseconds, and then sleeps between attempts. Nobody is
    /// woken. So the thread that releases the lock need not find out whether others wait, which takes a second
    /// read-modify-write operation in a `Mutex`.
    ///
    /// Ordering: taking the lock acquires what releasing it has released, so a critical section sees the effects of all
    /// previous ones. The store is the last access to the lock, because the next thread that takes the lock may free
    /// it.
    struct SpinLock: ~Copyable {
        private let isTaken = Atomic<Bool>(false)

        @inline(__always)
        borrowing func withLock<Result, Failure: Error>(_ step: () throws(Failure) -> Result) throws(Failure) -> Result
        {
            assert(HeldLocks.isEmpty, "A thread takes the lock of an operation, and holds that one or another.")
            if !take() { wait() }
            assert(HeldLocks.begin())
            defer {
                assert(HeldLocks.end())
                release()
            }
            return try step()
        }

        // `take()` and `release()` are the two atomic operations of the lock. Only this type and the tests of their
        // interleavings call them.

        /// Returns true if the lock was free, and belongs to the calling thread from now on.
        @inline(__always)
        borrowing func take() -> Bool { !isTaken.exchange(true, ordering: .acquiring) }

        @inline(__always)
        borrowing func release() { isTaken.store(false, ordering: .releasing) }

        /// Loads before it tries to take the lock: each attempt would take the cache line away from the thread that is
        /// about to release the lock.
        @inline(never)
        private borrowing func wait() {
            var attempts: UInt32 = 0
            repeat {
                while isTaken.load(ordering: .relaxed) {
                    baton_wait_briefly(attempts)
                    attempts += 1
                }
            } while !take()
        }
    }
#endif
