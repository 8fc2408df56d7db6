#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Bionic)
    internal import Bionic
#endif

/// Wakes a polling thread from another thread, through a pair of connected sockets.
///
/// The polling thread and the waking threads hold a reference, so no descriptor is closed while it is in use.
final class WakeUpSocket: Sendable {
    /// The descriptor to poll for reading.
    let descriptor: Int32
    private let writing: Int32

    /// Makes the pair of sockets, or returns nil if the system has no more descriptors.
    init?() {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        #if !canImport(Glibc)
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
            }
        #endif
        (descriptor, writing) = (ends[0], ends[1])
    }

    deinit {
        _ = close(descriptor)
        _ = close(writing)
    }

    /// Wakes the thread that polls, or that polls next. May be called on any thread.
    func wake() {
        var byte: UInt8 = 0
        // If the buffer is full, the thread will wake in any case.
        _ = write(writing, &byte, 1)
    }

    /// Discards the wake-ups so far. The polling thread checks its condition afterwards.
    func clear() {
        var bytes: [UInt8] = Array(repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }

    /// Blocks the thread until it is woken. Returns false if the deadline has passed first.
    func wait(until deadline: ContinuousClock.Instant) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            if poll(&watched, 1, Socket.milliseconds(until: deadline)) > 0 { return true }
            if ContinuousClock.now >= deadline { return false }
        }
    }
}
