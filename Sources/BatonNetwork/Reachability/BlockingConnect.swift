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
        let (found, problem) = lookUp()
        lookup.end()
        guard let found else { return .unresolved(host: host, reason: problem) }
        defer { freeaddrinfo(found) }
        var failure: ReachabilityError? = .unresolved(host: host, reason: "it has no address")
        var next: UnsafeMutablePointer<addrinfo>? = found
        while let address = next?.pointee {
            failure = self.failure(at: address)
            if failure == nil { return nil }
            next = address.ai_next
        }
        return failure
    }

    /// Returns the addresses of the host, or a text that says why there are none.
    private func lookUp() -> (UnsafeMutablePointer<addrinfo>?, problem: String) {
        // The C string would end at the zero byte, and so name another host.
        if host.utf8.contains(0) { return (nil, "a name has no zero in it") }
        var hints = addrinfo()
        // With a protocol, `getaddrinfo` returns each address once, not once for each type of socket.
        hints.ai_protocol = Int32(IPPROTO_TCP)
        // The host may be an IPv6 address in brackets, as in a URL.
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let name = isBracketed ? String(host.dropFirst().dropLast()) : host
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, "\(port)", &hints, &found)
        if status == 0 { return (found, "it has no address") }
        return (nil, status == EAI_SYSTEM ? text(of: errno) : String(cString: gai_strerror(status)))
    }

    private func failure(at address: addrinfo) -> ReachabilityError? {
        let descriptor = socket(address.ai_family, SocketFlags.stream, address.ai_protocol)
        // An address of a family that this machine does not support is unreachable.
        if descriptor < 0 { return errno == EMFILE || errno == ENFILE ? .noResources(text(of: errno)) : failed(errno) }
        defer { close(descriptor) }
        SocketFlags.keepFromChildren(descriptor)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return nil }
        guard errno == EINPROGRESS || errno == EINTR else { return failed(errno) }
        guard waitForAnswer(at: descriptor) else { return nil }
        var (code, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        if getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) != 0 { code = errno }
        return code == 0 ? nil : failed(code)
    }

    /// Returns false if the attempt was cancelled, that is, woken.
    private func waitForAnswer(at descriptor: Int32) -> Bool {
        var watched = [
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        // A signal may interrupt `poll`.
        while poll(&watched, nfds_t(watched.count), -1) < 0, errno == EINTR {}
        return watched[1].revents == 0
    }

    private func failed(_ code: Int32) -> ReachabilityError {
        .unreachable(host: host, port: port, reason: text(of: code))
    }

    private func text(of code: Int32) -> String { String(cString: strerror(code)) }
}
