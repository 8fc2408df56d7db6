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

/// Wakes a thread that polls, from another one: a pipe.
///
/// Its two descriptors are closed with it. Whoever polls and whoever wakes hold it, so none of them is closed in use.
final class Wake: Sendable {
    /// To be polled for reading.
    let descriptor: Int32
    private let writing: Int32

    /// Nil: the system gives no descriptors.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (descriptor, writing) = (ends[0], ends[1])
        for end in ends { keepFromChildren(end) }
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

/// Programs that this one starts do not get it.
func keepFromChildren(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
