#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Bionic)
    internal import Bionic
#endif

/// Connects to a host, and closes the connection at once. It blocks its thread, so it runs on a thread of its own.
struct BlockingConnect {
    let host: String
    let port: Int
    let wakeUp: WakeUpSocket
    let lookup: Lookup

    /// Returns nil if the host accepted the connection, or if the attempt was cancelled.
    ///
    /// The lookup of the name takes as long as the system needs. After the lookup, a call of ``WakeUpSocket/wake()``
    /// ends the attempt at once.
    func failure() -> ReachabilityError? {
        let first: UnsafeMutablePointer<addrinfo>
        do throws(ReachabilityError) { first = try lookUp() } catch { return error }
        defer { freeaddrinfo(first) }
        var address = first.pointee
        while true {
            guard let failure = failure(at: address) else { return nil }
            guard let next = address.ai_next else { return failure }
            address = next.pointee
        }
    }

    /// Returns a list of at least one address of the host. The caller frees it with `freeaddrinfo`.
    private func lookUp() throws(ReachabilityError) -> UnsafeMutablePointer<addrinfo> {
        defer { lookup.end() }
        // `getaddrinfo` would stop at the NUL byte, and look up another host.
        if host.utf8.contains(0) { throw .unresolved(host: host, reason: "a name has no zero in it") }
        var hints = addrinfo()
        // With a protocol, `getaddrinfo` returns each address once, not once for each type of socket.
        hints.ai_protocol = Int32(IPPROTO_TCP)
        // The host may be an IPv6 address in brackets, as in a URL.
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let name = isBracketed ? String(host.dropFirst().dropLast()) : host
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, "\(port)", &hints, &found)
        if status == 0, let found { return found }
        let reason =
            switch status {
            case 0: "it has no address"
            case EAI_SYSTEM: text(of: errno)
            default: String(cString: gai_strerror(status))
            }
        throw .unresolved(host: host, reason: reason)
    }

    private func failure(at address: addrinfo) -> ReachabilityError? {
        let descriptor = socket(address.ai_family, SocketFlags.stream, address.ai_protocol)
        // An address of a family that this machine does not support is unreachable.
        if descriptor < 0 { return errno == EMFILE || errno == ENFILE ? .noResources(text(of: errno)) : failed(errno) }
        defer { close(descriptor) }
        SocketFlags.keepFromChildren(descriptor)
        // `wakeUp` could not end a connection attempt that blocks.
        let flags = fcntl(descriptor, F_GETFL)
        if flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 { return .noResources(text(of: errno)) }
        if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return nil }
        guard errno == EINPROGRESS || errno == EINTR else { return failed(errno) }
        switch waitForOutcome(at: descriptor) {
        case .ready: break
        case .cancelled: return nil
        case .failed(let code): return .noResources(text(of: code))
        }
        var (code, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        if getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) != 0 { code = errno }
        return code == 0 ? nil : failed(code)
    }

    private enum WaitResult {
        /// The connection attempt has an outcome.
        case ready
        /// `wakeUp` was signalled first.
        case cancelled
        /// The wait itself failed, with this errno.
        case failed(Int32)
    }

    private func waitForOutcome(at descriptor: Int32) -> WaitResult {
        var watched = [
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&watched, nfds_t(watched.count), -1) < 0 {
            // A signal may interrupt `poll`.
            if errno != EINTR { return .failed(errno) }
        }
        return watched[1].revents == 0 ? .ready : .cancelled
    }

    private func failed(_ code: Int32) -> ReachabilityError {
        .unreachable(host: host, port: port, reason: text(of: code))
    }

    private func text(of code: Int32) -> String { String(cString: strerror(code)) }
}
