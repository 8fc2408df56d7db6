#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A port on loopback that belongs to the test. It refuses connections until it listens.
final class Port {
    let number: Int
    private let descriptor: Int32
    private var clients: [Int32] = []

    /// - Parameter number: 0: one that is free.
    init(_ number: Int = 0) throws {
        let descriptor = Self.makeSocket()
        self.descriptor = descriptor
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = Self.address(number)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = Self.withGeneric(&address) { (address: UnsafeMutablePointer<sockaddr>) in
            bind(descriptor, address, size) == 0 ? getsockname(descriptor, address, &size) : -1
        }
        if status != 0 {
            close(descriptor)
            throw Taken()
        }
        self.number = Int(UInt16(bigEndian: address.sin_port))
    }

    struct Taken: Error {}

    deinit {
        for client in clients { close(client) }
        close(descriptor)
    }

    func listen(backlog: Int32 = 128) {
        #if canImport(Darwin)
            _ = Darwin.listen(descriptor, backlog)
        #elseif canImport(Glibc)
            _ = Glibc.listen(descriptor, backlog)
        #elseif canImport(Musl)
            _ = Musl.listen(descriptor, backlog)
        #endif
    }

    /// Nobody accepts, and there is no room to wait for that: who connects now gets no answer.
    func listenWithoutAnAnswer() {
        listen(backlog: 0)
        for _ in 0..<8 {
            let client = Self.makeSocket()
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            var address = Self.address(number)
            _ = Self.withGeneric(&address) { connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
            clients.append(client)
        }
    }

    private static func makeSocket() -> Int32 {
        #if canImport(Glibc)
            return socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
