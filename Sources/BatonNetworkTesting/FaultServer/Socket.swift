#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Bionic)
    internal import Bionic
#endif

/// The system calls that the server needs. The differences between the systems are handled here.
///
/// Every socket is closed on `exec`, never blocks, and never raises `SIGPIPE`.
enum Socket {
    /// The failure of a system call.
    struct Failure: Error, CustomStringConvertible {
        let call: String
        let code: Int32

        var description: String { "\(call) failed: \(String(cString: strerror(code)))" }
    }

    enum Received {
        case bytes(Int)
        case nothingYet
        case endOfStream
        case failed(Int32)
    }

    enum Sent {
        case bytes(Int)
        case noRoom
        case failed(Int32)
    }

    /// The number of bytes that the system buffers for a connection in each direction.
    ///
    /// The size is fixed and small, so that a peer or a script that does not read makes the other side wait soon.
    private static let bufferSize: Int32 = 256 * 1024

    // MARK: Listening

    /// Makes a socket that is bound to a free port of loopback. It does not listen yet, so connections to it are
    /// refused.
    static func bound(to host: FaultServer.Host) throws(Failure) -> (descriptor: Int32, port: Int) {
        let descriptor = make(host == .ipv4 ? AF_INET : AF_INET6)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        set(descriptor, SO_REUSEADDR, 1)
        // Accepted connections inherit the buffer sizes.
        set(descriptor, SO_RCVBUF, bufferSize)
        set(descriptor, SO_SNDBUF, bufferSize)
        let port: Int?
        switch host {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            port = bind(descriptor, &address) ? Int(UInt16(bigEndian: address.sin_port)) : nil
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = in6addr_loopback
            port = bind(descriptor, &address) ? Int(UInt16(bigEndian: address.sin6_port)) : nil
        }
        guard let port else {
            let code = errno
            _ = close(descriptor)
            throw Failure(call: "bind", code: code)
        }
        return (descriptor, port)
    }

    /// Binds the socket, and stores the address with its port.
    private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        var size = socklen_t(MemoryLayout<Address>.size)
        return withGeneric(&address) { address in
            #if canImport(Darwin)
                let status = Darwin.bind(descriptor, address, size)
            #elseif canImport(Glibc)
                let status = Glibc.bind(descriptor, address, size)
            #elseif canImport(Musl)
                let status = Musl.bind(descriptor, address, size)
            #elseif canImport(Bionic)
                let status = Bionic.bind(descriptor, address, size)
            #endif
            return status == 0 && getsockname(descriptor, address, &size) == 0
        }
    }

    static func listen(_ descriptor: Int32, backlog: Int32) throws(Failure) {
        #if canImport(Darwin)
            let status = Darwin.listen(descriptor, backlog)
        #elseif canImport(Glibc)
            let status = Glibc.listen(descriptor, backlog)
        #elseif canImport(Musl)
            let status = Musl.listen(descriptor, backlog)
        #elseif canImport(Bionic)
            let status = Bionic.listen(descriptor, backlog)
        #endif
        if status != 0 { throw Failure(call: "listen", code: errno) }
    }

    /// Accepts the next pending connection, or returns nil if there is none now.
    static func accept(_ listener: Int32) -> Int32? {
        #if canImport(Darwin)
            let descriptor = Darwin.accept(listener, nil, nil)
        #elseif canImport(Glibc)
            let descriptor = Glibc.accept(listener, nil, nil)
        #elseif canImport(Musl)
            let descriptor = Musl.accept(listener, nil, nil)
        #elseif canImport(Bionic)
            let descriptor = Bionic.accept(listener, nil, nil)
        #endif
        if descriptor < 0 { return nil }
        prepare(descriptor)
        // Each piece that a script sends leaves at once, however small it is.
        var yes: Int32 = 1
        _ = setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    /// Starts a connection to a port of loopback, which may not be complete yet. Returns nil if the system refuses.
    static func connecting(to port: Int) -> Int32? {
        let descriptor = make(AF_INET)
        if descriptor < 0 { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let status = withGeneric(&address) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        if status == 0 || errno == EINPROGRESS { return descriptor }
        _ = close(descriptor)
        return nil
    }

    // MARK: Bytes

    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Received {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .endOfStream }
            if errno == EAGAIN || errno == EWOULDBLOCK { return .nothingYet }
            if errno != EINTR { return .failed(errno) }
        }
    }

    static func send(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Sent {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        while true {
            #if canImport(Darwin)
                let count = Darwin.send(descriptor, buffer.baseAddress, buffer.count, flags)
            #elseif canImport(Glibc)
                let count = Glibc.send(descriptor, buffer.baseAddress, buffer.count, flags)
            #elseif canImport(Musl)
                let count = Musl.send(descriptor, buffer.baseAddress, buffer.count, flags)
            #elseif canImport(Bionic)
                let count = Bionic.send(descriptor, buffer.baseAddress, buffer.count, flags)
            #endif
            if count >= 0 { return .bytes(count) }
            if errno == EAGAIN || errno == EWOULDBLOCK { return .noRoom }
            if errno != EINTR { return .failed(errno) }
        }
    }

    // MARK: Waiting

    enum Interest {
        case readable
        case writable
        /// Wait only for the peer to close or reset the connection.
        case hangup
    }

    struct Poll {
        var isReady = false
        /// True if the peer has closed its side, or has reset the connection. There may still be bytes to read.
        var hasHungUp = false
        var isWoken = false
        /// True if the deadline has passed without an event.
        var hasExpired = false
    }

    /// Blocks the thread until the socket is ready, `wakeUp` was woken, or the deadline has passed. Nil waits forever.
    static func poll(
        _ descriptor: Int32, for interest: Interest, wakeUp: WakeUpSocket, until deadline: ContinuousClock.Instant?
    ) -> Poll {
        let events: Int32
        switch interest {
        case .readable: events = Int32(POLLIN)
        case .writable: events = Int32(POLLOUT) | hangup
        case .hangup: events = hangup
        }
        var watched = [
            pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0),
            pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = systemPoll(&watched, milliseconds(until: deadline))
            if count < 0, errno == EINTR { continue }
            if count == 0, let deadline, ContinuousClock.now < deadline { continue }
            let found = Int32(watched[0].revents)
            var result = Poll(hasExpired: count == 0)
            result.hasHungUp = found & (Int32(POLLHUP) | Int32(POLLERR) | hangup) != 0
            result.isReady = found & (Int32(POLLIN) | Int32(POLLOUT)) != 0 || interest == .readable && found != 0
            result.isWoken = watched[1].revents != 0
            return result
        }
    }

    private static func systemPoll(_ watched: inout [pollfd], _ milliseconds: Int32) -> Int32 {
        #if canImport(Darwin)
            Darwin.poll(&watched, nfds_t(watched.count), milliseconds)
        #elseif canImport(Glibc)
            Glibc.poll(&watched, nfds_t(watched.count), milliseconds)
        #elseif canImport(Musl)
            Musl.poll(&watched, nfds_t(watched.count), milliseconds)
        #elseif canImport(Bionic)
            Bionic.poll(&watched, nfds_t(watched.count), milliseconds)
        #endif
    }

    /// Returns the milliseconds until the deadline, rounded up so that the thread does not wake early.
    static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let rest = max(ContinuousClock.now.duration(to: deadline), .zero)
        let (seconds, attoseconds) = rest.components
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: min(seconds, 1_000_000) * 1000 + fraction)
    }

    /// The poll event that tells that the peer has closed its side. Darwin reports `POLLHUP`, which is always reported.
    /// The value elsewhere is that of `POLLRDHUP`.
    private static var hangup: Int32 {
        #if canImport(Darwin)
            0
        #else
            0x2000
        #endif
    }

    // MARK: Closing

    /// Closes the sending side. The peer reads the end of the stream after the bytes that were sent, and can still
    /// send.
    static func closeWriting(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes the socket so that the peer sees a reset.
    static func reset(_ descriptor: Int32) {
        var now = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        _ = close(descriptor)
    }

    static func closeCompletely(_ descriptor: Int32) { _ = close(descriptor) }

    // MARK: Creation

    private static func make(_ family: Int32) -> Int32 {
        #if canImport(Glibc)
            return socket(
                family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        #else
            let descriptor = socket(family, SOCK_STREAM, 0)
            if descriptor >= 0 { prepare(descriptor) }
            return descriptor
        #endif
    }

    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
            set(descriptor, SO_NOSIGPIPE, 1)
        #endif
    }

    private static func set(_ descriptor: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        _ = setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func withGeneric<Address, Result>(
        _ address: inout Address, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        withUnsafeMutableBytes(of: &address) { bytes in
            // The bytes of a variable are never empty, so the base address is not nil.
            body(bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self))
        }
    }
}

// MARK: - Ports

/// A port of loopback that is reserved for a test, and on which no connection is ever completed.
final class SilentPort {
    enum Behaviour {
        /// Every connection is refused at once, because the socket does not listen.
        case refuses
        /// A connection gets no answer, because it is never accepted and the backlog is full.
        case staysSilent
    }

    let number: Int
    private let descriptor: Int32
    private var clients: [Int32] = []

    init(_ behaviour: Behaviour) throws {
        (descriptor, number) = try Socket.bound(to: .ipv4)
        switch behaviour {
        case .refuses: break
        case .staysSilent:
            try Socket.listen(descriptor, backlog: 0)
            clients = (0..<8).compactMap { _ in Socket.connecting(to: number) }
        }
    }

    deinit {
        for client in clients { Socket.closeCompletely(client) }
        Socket.closeCompletely(descriptor)
    }
}
