internal import CBaton
internal import Synchronization

/// The lock of all but operations, see ``SpinLock``: a value that can only be touched inside ``withLock(_:)``.
///
/// It also tells ThreadSanitizer, which does not see through `Mutex`, what the lock orders (`BATON_SANITIZE=thread`).
/// Never hold two at once, and call nothing of the user's inside.
package struct Locked<Value>: ~Copyable, Sendable {
    private let mutex: Mutex<Guarded<Value>>

    package init(_ value: consuming Value) { mutex = Mutex(Guarded(content: value)) }

    @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mutex.withLock { (guarded: inout Guarded<Value>) throws(Failure) -> Guarded<Result> in
            #if BATON_TSAN
                // The lock's address: taking that of the value would be an access to it.
                withUnsafePointer(to: mutex) { baton_tsan_acquire($0) }
                defer { withUnsafePointer(to: mutex) { baton_tsan_release($0) } }
            #endif
            return Guarded<Result>(content: try body(&guarded.content))
        }.content
    }
}

/// `Mutex` wants proof that nothing inside is shared with the outside; what is stored here is either `Sendable` or,
/// like ``OptionalState``, reached by this lock alone.
struct Guarded<Content>: @unchecked Sendable {
    var content: Content
}

/// Tells ThreadSanitizer that what happened before a continuation was resumed is seen by the one that awaited it.
enum TSanAnnotations {
    @inline(__always)
    static func willResume(_ subject: AnyObject) {
        #if BATON_TSAN
            baton_tsan_release(Unmanaged.passUnretained(subject).toOpaque())
        #endif
    }

    @inline(__always)
    static func didAwait(_ subject: AnyObject) {
        #if BATON_TSAN
            baton_tsan_acquire(Unmanaged.passUnretained(subject).toOpaque())
        #endif
    }
}
