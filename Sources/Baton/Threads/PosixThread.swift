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
    private static let stackSize = 8 << 20

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
        let start = Unmanaged.passRetained(Start(name.map(shortened), body))
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                // The C libraries disagree about which pointers may be null. Nobody reads the returned pointer.
                let pointer = (argument as UnsafeMutableRawPointer?)!
                let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
                if let name = start.name { baton_name_thread(name) }
                start.body()
                return pointer
            }, start.toOpaque())
        if status != 0 { start.release() }
        return status == 0
    }

    /// Shortens a name to at most 15 bytes, without splitting a character.
    private static func shortened(_ name: String) -> String {
        var name = name
        while name.utf8.count > 15 { name.removeLast() }
        return name
    }
}
