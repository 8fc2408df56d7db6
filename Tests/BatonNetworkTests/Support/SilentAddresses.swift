#if os(Linux)
    import Foundation

    /// Addresses of loopback, from 127.0.0.2 on, that do not answer at one port: their backlogs are full.
    final class SilentAddresses: Sendable {
        let texts: [String]
        private let descriptors: [Int32]

        /// - Parameter port: A port that is free at these addresses.
        init(port: UInt16, count: Int) {
            var (texts, descriptors): ([String], [Int32]) = ([], [])
            for number in 0..<count {
                let ip = 0x7f00_0002 + UInt32(number)
                let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
                precondition(Self.call(bind, listener, ip, port) == 0 && listen(listener, 0) == 0, "no port")
                // The system completes one connection more than the backlog has, and answers no others.
                let clients = (0..<3).map { _ in
                    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
                    let client = socket(AF_INET, Int32(kind), 0)
                    _ = Self.call(connect, client, ip, port)
                    return client
                }
                descriptors += [listener] + clients
                texts.append("127.0.0.\(number + 2)")
            }
            (self.texts, self.descriptors) = (texts, descriptors)
        }

        private static func call(
            _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ socket: Int32, _ ip: UInt32,
            _ port: UInt16
        ) -> Int32 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = ip.bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    function(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }

        deinit { for descriptor in descriptors { close(descriptor) } }
    }
#endif
