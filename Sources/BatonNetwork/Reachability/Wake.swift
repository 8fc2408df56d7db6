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

/// Wakes a thread that polls, from another one: two sockets that are connected.
///
/// Its two descriptors are closed with it. Whoever polls and whoever wakes hold it, so none of them is closed in use.
final class Wake: Sendable {
    /// To be polled for reading.
    let descriptor: Int32
    private let writing: Int32

    /// Nil: the system gives no descriptors.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Descriptor.stream, 0, &ends) == 0 else { return nil }
        for end in ends { Descriptor.keepFromChildren(end) }
        (descriptor, writing) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writing)
    }

    /// From any thread. For good: nobody reads it away.
    func wake() {
        var byte: UInt8 = 0
        // At most a few bytes are ever written, so it never blocks.
        _ = write(writing, &byte, 1)
    }
}

enum Descriptor {
    /// The kind of a socket that connects, which programs that this one starts do not get: where the system can, from
    /// its beginning.
    static var stream: Int32 {
        #if canImport(Glibc)
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    static func keepFromChildren(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
}
