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

/// Starts detached threads.
package enum PosixThread {
    private final class Start {
        let name: String?
        let body: @Sendable () -> Void

        init(_ name: String?, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// The stack size of a main thread. By default, Darwin gives other threads 512 KB and Musl gives them 128 KB, which
    /// is too little for some C libraries.
    package static let stackSize = 8 << 20

    /// Starts a thread that runs `body`. Returns false if the system provides no more threads.
    package static func start(_ name: String?, _ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackSize)

        #if canImport(Darwin) || canImport(Musl)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let start = Retained(Start(name.map(shortened), body)).handOver()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                // The C libraries disagree about which pointers may be null. Nobody reads the returned pointer.
                let pointer = (argument as UnsafeMutableRawPointer?)!
                let start = Retained<Start>(handedOver: Unretained(address: pointer)).take()
                if let name = start.name { baton_name_thread(name) }
                start.body()
                return pointer
            }, start.address)
        if status != 0 { Retained(handedOver: start).release() }
        return status == 0
    }

    /// Shortens a name to at most 15 bytes, without splitting a character.
    private static func shortened(_ name: String) -> String {
        var name = name
        while name.utf8.count > 15 { name.removeLast() }
        return name
    }
}

// MARK: - Monitor

/// A value that threads share and on which they can wait for one another: a mutex with a condition variable.
///
/// Only threads that belong to Baton wait on a monitor. Other threads lock it briefly, and no user code is called or
/// released while it is locked.
///
/// `@unchecked`: `value` is accessed only while `mutex` is locked. The other properties never change.
final class Monitor<Value>: @unchecked Sendable {
    private var value: Value
    // They are allocated because their addresses must not change.
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

    /// The decision of a thread that has looked at the value.
    enum Step<Result> {
        case done(Result)
        /// Waits until the thread is woken, or at most this many nanoseconds if there is a number. Then the thread
        /// looks again.
        case wait(nanoseconds: Int64?)
    }

    /// The threads to wake after a change.
    enum WakeUp {
        case nobody
        case one
        case everybody
    }

    /// Changes the value and wakes waiting threads. Touches nothing after the unlock, because a thread that continues
    /// may release this object.
    func change(_ body: (inout Value) -> WakeUp) {
        pthread_mutex_lock(mutex)
        switch body(&value) {
        case .nobody: break
        case .one: pthread_cond_signal(condition)
        case .everybody: pthread_cond_broadcast(condition)
        }
        pthread_mutex_unlock(mutex)
    }

    /// Blocks the calling thread until `look` returns `.done`. The thread may also look after a spurious wake-up.
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
