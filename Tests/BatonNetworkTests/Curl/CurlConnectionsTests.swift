#if os(Linux)
    import Foundation
    import Testing

    @testable import BatonNetwork

    /// Sockets that are connected to different servers may share a local port, and the system may reuse a descriptor
    /// for another socket.
    @Suite struct CurlConnectionsTests {
        private struct Refusal: Error {
            let call: String
            let error = errno
        }

        private func checked(_ result: Int32, _ call: String) throws -> Int32 {
            if result < 0 { throw Refusal(call: call) }
            return result
        }

        private func withAddress<Result>(
            _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
        ) rethrows -> Result {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
            return try withUnsafePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }

        private func port(of socket: Int32) throws -> UInt16 {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = try checked(getsockname(socket, $0, &size), "getsockname")
                }
            }
            return UInt16(bigEndian: address.sin_port)
        }

        /// Returns a socket that is bound to a free port, or to `port`, which it may share with other sockets.
        private func boundSocket(_ port: UInt16 = 0) throws -> Int32 {
            let made = try checked(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), "socket")
            var isOn: Int32 = 1
            _ = try checked(setsockopt(made, SOL_SOCKET, SO_REUSEPORT, &isOn, socklen_t(4)), "setsockopt")
            _ = try checked(withAddress(port) { bind(made, $0, $1) }, "bind")
            return made
        }

        @Test("Connections that share a local port are distinguished by their servers")
        func oneLocalPort() async throws {
            let servers = try (0..<2).map { _ in try boundSocket() }
            for server in servers { _ = try checked(listen(server, 1), "listen") }
            let first = try boundSocket()
            let clients = [first, try boundSocket(port(of: first))]
            for (client, server) in zip(clients, servers) {
                let port = try port(of: server)
                _ = try checked(withAddress(port) { connect(client, $0, $1) }, "connect")
            }
            var accepted = try servers.map { try checked(accept($0, nil, nil), "accept") }
            defer { for socket in clients + servers + accepted { close(socket) } }

            let connections = CurlConnections()
            let ids = try servers.map { server in
                CurlConnections.ID(
                    localPort: Int32(try port(of: first)), peer: "127.0.0.1", peerPort: Int32(try port(of: server)))
            }
            // One transfer has opened both sockets, so their order does not tell which is which.
            for id in ids { connections.recordConnection(clients, as: id, .http1) }
            #expect(ids.map(connections.isClosed) == [false, false])
            #expect(ids.map { connections.hasLeftovers($0, onceRead: false) } == [false, false])
            // Bytes count as acknowledged when the peer's system has received them, even if the peer does not read
            // them.
            let before = try ids.map { try #require(connections.acknowledgedCount($0)) }
            _ = try checked(Int32(send(clients[1], "hello", 5, 0)), "send")
            while connections.acknowledgedCount(ids[1]) != before[1] + 5 { await Task.yield() }
            #expect(connections.acknowledgedCount(ids[0]) == before[0])
            connections.setVersion(.http2, of: ids[1])
            #expect(connections.acknowledgedCount(ids[1]) == nil)
            connections.setVersion(.http1, of: ids[1])
            _ = try checked(Int32(send(accepted[1], "x", 1, 0)), "send")
            #expect(ids.map { connections.hasLeftovers($0, onceRead: false) } == [false, true])
            close(accepted.removeFirst())
            #expect(ids.map(connections.isClosed) == [true, false])
        }

        @Test("A descriptor that now belongs to another connection is not mistaken for the old one")
        func numbersThatAreUsedAgain() throws {
            let server = try boundSocket()
            _ = try checked(listen(server, 2), "listen")
            let serverPort = try port(of: server)
            func connected() throws -> Int32 {
                let client = try boundSocket()
                _ = try checked(withAddress(serverPort) { connect(client, $0, $1) }, "connect")
                return client
            }
            let old = try connected()
            let id = CurlConnections.ID(
                localPort: Int32(try port(of: old)), peer: "127.0.0.1", peerPort: Int32(serverPort))
            let connections = CurlConnections()
            connections.recordConnection([old], as: id, .http1)
            let accepted = try checked(accept(server, nil, nil), "accept")
            close(accepted)
            #expect(connections.isClosed(id))
            // The new connection reuses the descriptor of the old one.
            let other = try connected()
            let answered = try checked(accept(server, nil, nil), "accept")
            defer { for socket in [old, other, server, answered] { close(socket) } }
            _ = try checked(dup2(other, old), "dup2")
            close(answered)
            #expect(!connections.isClosed(id))
        }
    }
#endif
