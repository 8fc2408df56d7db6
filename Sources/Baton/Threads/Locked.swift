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
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mutex.withLock { (guarded: inout Guarded<Value>) throws(Failure) -> Guarded<Result> in
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
struct Guarded<Content>: @unchecked Sendable {
    var content: Content
}

/// Tells ThreadSanitizer that everything before the resumption of a continuation happens before the code after its
/// `await`.
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
