internal import CBaton

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Bionic)
    internal import Bionic
#endif

/// A value that threads share, and on which they can wait for one another: a lock with a condition.
///
/// Only threads that belong to Baton wait here. Everybody else locks it for a moment, and nothing of the user's is
/// called or released inside.
///
/// `@unchecked`: `value` is touched only while `mutex` is locked; the rest never changes.
final class Monitor<Value>: @unchecked Sendable {
    private var value: Value
    // Allocated, because their addresses must not change.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init(_ value: Value) {
        self.value = value
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        baton_init_condition(condition)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// What a thread does after it has looked at the value.
    enum Step<Result> {
        case done(Result)
        /// Until it is woken, or for so many nanoseconds at most, if there is a number; then it looks again.
        case wait(nanoseconds: Int64?)
    }

    /// Whom to wake after a change.
    enum Waking {
        case nobody
        case one
        case everybody
    }

    /// Changes the value, and wakes threads that wait. Touches nothing after the unlock: a thread that goes on may
    /// release this.
    func change(_ body: (inout Value) -> Waking) {
        pthread_mutex_lock(mutex)
        switch body(&value) {
        case .nobody: break
        case .one: pthread_cond_signal(condition)
        case .everybody: pthread_cond_broadcast(condition)
        }
        pthread_mutex_unlock(mutex)
    }

    /// Looks at the value, and blocks the calling thread until `look` is done. A thread may also wake without a reason.
    func wait<Result>(_ look: (inout Value) -> Step<Result>) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch look(&value) {
            case .done(let result): return result
            case .wait(nanoseconds: nil): pthread_cond_wait(condition, mutex)
            case .wait(let nanoseconds?): baton_wait(condition, mutex, nanoseconds)
            }
        }
    }
}
