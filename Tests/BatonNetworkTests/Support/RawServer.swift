import Foundation

/// A server that sends the same bytes on each connection after the head of a request, and reads no body.
final class RawServer: Sendable {
    private let descriptor: Int32
    let port: UInt16

    init(_ reply: String, connections: Int = 1) throws {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, length) == 0 && listen(socket, 16) == 0
                    && getsockname(socket, pointer, &length) == 0
            }
        }
        precondition(bound, "no port")
        descriptor = socket
        port = UInt16(bigEndian: address.sin_port)
        let bytes = Array(reply.utf8)
        Thread.detachNewThread {
            for _ in 0..<connections {
                let connection = accept(socket, nil, nil)
                if connection < 0 { return }
                var buffer = [UInt8](repeating: 0, count: 1024)
                _ = recv(connection, &buffer, buffer.count, 0)
                _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                shutdown(connection, Int32(SHUT_WR))
                // Wait until the client has read the response and closes the connection.
                while recv(connection, &buffer, buffer.count, 0) > 0 {}
                close(connection)
            }
        }
    }

    var url: URL { URL(string: "http://127.0.0.1:\(port)/")! }

    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    deinit { close(descriptor) }
}
