#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Threads that belong to no executor.
enum OtherThread {
    private final class Job {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs the body on a new thread and returns when it has ended, blocking the calling thread.
    static func runAndWait(_ body: @escaping @Sendable () -> Void) {
        join(start(body))
    }

    /// Runs the body on a new thread.
    static func run(_ body: @escaping @Sendable () -> Void) {
        pthread_detach(start(body))
    }

    /// Runs the body on the current thread, without a change of threads: a synchronous function does not change its
    /// thread.
    static func onThisThread(_ body: () -> Void) {
        body()
    }

    #if canImport(Darwin)
        private typealias Parameter = UnsafeMutableRawPointer
    #else
        private typealias Parameter = UnsafeMutableRawPointer?
    #endif

    private static func join(_ thread: pthread_t) {
        pthread_join(thread, nil)
    }

    private static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t {
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let entry: @convention(c) (Parameter) -> UnsafeMutableRawPointer? = { job in
            #if canImport(Darwin)
                Unmanaged<Job>.fromOpaque(job).takeRetainedValue().body()
            #else
                Unmanaged<Job>.fromOpaque(job!).takeRetainedValue().body()
            #endif
            return nil
        }
        pthread_create(&thread, nil, entry, Unmanaged.passRetained(Job(body)).toOpaque())
        #if canImport(Darwin)
            return thread!
        #else
            return thread
        #endif
    }
}
