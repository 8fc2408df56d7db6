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

/// Wakes a thread that polls, from any other thread, through a pair of connected sockets.
///
/// The polling thread and the waking threads retain this object, which closes both descriptors when it is released, so
/// no descriptor is closed while it is in use.
final class WakeUpSocket: Sendable {
    /// The descriptor that the waiting thread polls for reading.
    let descriptor: Int32
    private let writing: Int32

    /// Returns nil if the system has no descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, SocketFlags.stream, 0, &ends) == 0 else { return nil }
        for end in ends { SocketFlags.keepFromChildren(end) }
        (descriptor, writing) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writing)
    }

    /// Wakes the thread for good. May be called from any thread. No thread reads the byte, so the descriptor stays
    /// readable, and every later poll returns at once.
    func wake() {
        var byte: UInt8 = 0
        // `write` does not block: an object is woken a few times at most, and the socket's buffer has room for more.
        _ = write(writing, &byte, 1)
    }
}

enum SocketFlags {
    /// The type of a stream socket. On Glibc, it contains the flag that keeps child processes from inheriting the
    /// socket. Elsewhere ``keepFromChildren(_:)`` sets the flag afterwards.
    static var stream: Int32 {
        #if canImport(Glibc)
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    static func keepFromChildren(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
}
