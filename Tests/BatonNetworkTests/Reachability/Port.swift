#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A loopback port that belongs to the test. It refuses connections until `listen` is called.
final class Port {
    let number: Int
    private var descriptor: Int32
    private var clients: [Int32] = []

    init() throws { (descriptor, number) = try Self.bind(to: 0) }

    /// Makes the port refuse connections again.
    func stopListening() throws {
        // Closing alone is not enough: the port would listen as long as a child process of another test has a copy of
        // the descriptor.
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
        descriptor = -1
        (descriptor, _) = try Self.bind(to: number)
    }

    private static func bind(to number: Int) throws -> (descriptor: Int32, number: Int) {
        let descriptor = makeSocket()
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = address(number)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withGeneric(&address) { address in
            #if canImport(Darwin)
                Darwin.bind(descriptor, address, size)
            #elseif canImport(Glibc)
                Glibc.bind(descriptor, address, size)
            #elseif canImport(Musl)
                Musl.bind(descriptor, address, size)
            #endif
        }
        if status != 0 {
            let code = errno
            close(descriptor)
            throw Taken(number: number, code: code)
        }
        _ = withGeneric(&address) { getsockname(descriptor, $0, &size) }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    struct Taken: Error {
        let number: Int
        let code: Int32
    }

    deinit {
        for client in clients { close(client) }
        close(descriptor)
    }

    /// Listens without accepting. Slightly more than `backlog` connections can wait in the queue of the system.
    func listen(backlog: Int32 = 1024) {
        #if canImport(Darwin)
            _ = Darwin.listen(descriptor, backlog)
        #elseif canImport(Glibc)
            _ = Glibc.listen(descriptor, backlog)
        #elseif canImport(Musl)
            _ = Musl.listen(descriptor, backlog)
        #endif
    }

    /// Listens with a full queue, so that an attempt to connect gets no answer.
    func listenWithoutAccepting() {
        listen(backlog: 0)
        for _ in 0..<8 {
            let client = Self.makeSocket()
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            var address = Self.address(number)
            _ = Self.withGeneric(&address) { connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
            clients.append(client)
        }
    }

    /// Makes a socket that child processes do not inherit, because those of other tests would keep it open.
    private static func makeSocket() -> Int32 {
        #if canImport(Glibc)
            return socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            return socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    private static func address(_ number: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(number).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withGeneric<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
}
