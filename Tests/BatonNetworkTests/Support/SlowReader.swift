#if os(Linux)
    import Foundation

    /// A server with a 4 KiB receive buffer, so that the client's send buffer soon fills. It accepts one connection,
    /// reads the head of a request, and immediately sends the head of a response whose body is chunked, and no body.
    final class SlowReader: Sendable {
        private let listener: Int32
        private let port: UInt16

        init() {
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            // An accepted connection inherits the size.
            var size: Int32 = 4096
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    bind(socket, pointer, length) == 0 && listen(socket, 1) == 0
                        && getsockname(socket, pointer, &length) == 0
                }
            }
            precondition(isBound, "no port")
            listener = socket
            port = UInt16(bigEndian: address.sin_port)
        }

        var url: URL { URL(string: "http://127.0.0.1:\(port)/")! }

        /// Accepts the connection, and returns it after the head of the response has been sent, or when the client has
        /// closed it.
        func accept() async -> Connection {
            await onOwnThread { [listener] in
                let connection = Connection(descriptor: Glibc.accept(listener, nil, nil))
                var head: [UInt8] = []
                while !head.reversed().starts(with: Array("\r\n\r\n".utf8).reversed()) {
                    let byte = connection.receive(1)
                    if byte.isEmpty { return connection }
                    head += byte
                }
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                return connection
            }
        }

        deinit { close(listener) }

        final class Connection: Sendable {
            private let descriptor: Int32

            fileprivate init(descriptor: Int32) { self.descriptor = descriptor }

            fileprivate func receive(_ count: Int) -> [UInt8] {
                var bytes = [UInt8](repeating: 0, count: count)
                let received = recv(descriptor, &bytes, count, 0)
                return Array(bytes.prefix(max(0, received)))
            }

            /// Returns when `count` bytes have been read, or the client has closed the connection.
            func read(_ count: Int) async {
                await onOwnThread { [self] in
                    var left = count
                    while left > 0 {
                        let bytes = receive(min(left, 1000))
                        if bytes.isEmpty { return }
                        left -= bytes.count
                    }
                }
            }

            func send(_ text: String) {
                let bytes = Array(text.utf8)
                _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }

            deinit { close(descriptor) }
        }
    }
#endif
