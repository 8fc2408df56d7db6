internal import CBaton
internal import Synchronization

#if canImport(Darwin)
    /// A lock for critical sections of some nanoseconds that rarely contend. On Darwin it is the system's lock, because
    /// a thread that waits for that lock lends its priority to the holder.
    struct SpinLock: ~Copyable {
        private let state = Locked(())

        @inline(__always)
        borrowing func withLock<Result, Failure: Error>(_ step: () throws(Failure) -> Result) throws(Failure) -> Result
        {
            try state.withLock { _ throws(Failure) in try step() }
        }
    }
#else
    /// A lock for critical sections of some nanoseconds that rarely contend. Taking it is one atomic read-modify-write
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
            if !take() { wait() }
            defer { isTaken.store(false, ordering: .releasing) }
            return try step()
        }

        @inline(__always)
        private borrowing func take() -> Bool { !isTaken.exchange(true, ordering: .acquiring) }

        /// Loads before it tries to take the lock: each attempt would take the cache line away from the thread that is
        /// about to release the lock.
        @inline(never)
        private borrowing func wait() {
            var looks: UInt32 = 0
            repeat {
                while isTaken.load(ordering: .relaxed) {
                    baton_wait_briefly(looks)
                    looks += 1
                }
            } while !take()
        }
    }
#endif
