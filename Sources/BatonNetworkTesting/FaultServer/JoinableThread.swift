internal import Baton

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Bionic)
    internal import Bionic
#endif

/// A thread that is joined: when ``join()`` returns, the thread has ended.
///
/// The type is unchecked because the handle is a pointer on some systems. Any thread may use the handle.
struct JoinableThread: @unchecked Sendable {
    private final class Start {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let thread: pthread_t

    /// Starts a thread, or returns nil if the system has no more threads.
    init?(_ body: @escaping @Sendable () -> Void) {
        #if canImport(Darwin) || canImport(Musl)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let start = Unmanaged.passRetained(Start(body))
        let status = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { buffer in
            let attributes = buffer.baseAddress!
            pthread_attr_init(attributes)
            defer { pthread_attr_destroy(attributes) }
            // The thread runs Foundation and closures of the test.
            pthread_attr_setstacksize(attributes, PosixThread.stackSize)
            return pthread_create(
                &thread, attributes,
                { argument in
                    // The C libraries disagree about which pointers may be null.
                    let pointer = (argument as UnsafeMutableRawPointer?)!
                    Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue().body()
                    return pointer
                }, start.toOpaque())
        }
        guard status == 0 else {
            start.release()
            return nil
        }
        #if canImport(Darwin) || canImport(Musl)
            guard let thread else { preconditionFailure("pthread_create stored no handle") }
            self.thread = thread
        #else
            self.thread = thread
        #endif
    }

    /// Blocks until the thread has ended. Must be called exactly once, by another thread.
    func join() { _ = pthread_join(thread, nil) }
}
