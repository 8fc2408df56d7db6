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
                descriptors += [listener] + Self.fillBacklog(ip, port)
                texts.append("127.0.0.\(number + 2)")
            }
            (self.texts, self.descriptors) = (texts, descriptors)
        }

        /// Opens connections to an address whose backlog is 0, until it does not answer any more. Returns their
        /// sockets.
        fileprivate static func fillBacklog(_ ip: UInt32, _ port: UInt16) -> [Int32] {
            // The system completes one connection more than the backlog has, and answers no others.
            (0..<3).map { _ in
                let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
                let client = socket(AF_INET, Int32(kind), 0)
                _ = call(connect, client, ip, port)
                return client
            }
        }

        fileprivate static func call(
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

    /// A server that answers one request and keeps the connection. When the next request arrives, it closes the
    /// connection, and its address does not answer any more.
    final class ServerThatFallsSilent: Sendable {
        let url: URL
        private let listener: Int32

        init() {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            let ip: UInt32 = 0x7f00_0001
            precondition(SilentAddresses.call(bind, listener, ip, 0) == 0 && listen(listener, 0) == 0, "no port")
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(listener, $0, &length) }
            }
            let port = UInt16(bigEndian: address.sin_port)
            url = URL(string: "http://127.0.0.1:\(port)/")!
            self.listener = listener
            Thread.detachNewThread {
                let connection = accept(listener, nil, nil)
                var buffer = [UInt8](repeating: 0, count: 4096)
                _ = recv(connection, &buffer, buffer.count, 0)
                let reply = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)
                _ = send(connection, reply, reply.count, Int32(MSG_NOSIGNAL))
                let clients = SilentAddresses.fillBacklog(ip, port)
                _ = recv(connection, &buffer, buffer.count, 0)
                close(connection)
                // Until the listener is shut down.
                var event = pollfd(fd: listener, events: 0, revents: 0)
                poll(&event, 1, -1)
                for descriptor in clients + [listener] { close(descriptor) }
            }
        }

        deinit { shutdown(listener, Int32(SHUT_RDWR)) }
    }
#endif
