#if os(Linux)
    internal import CBatonCurl
    internal import Foundation

    /// What a thread has to know of its connections beyond what libcurl tells. The thread alone uses it.
    final class CurlConnections {
        /// Which connection it is. Connections to several servers may have the same local port.
        struct Name: Hashable {
            let localPort: Int32
            let peer: String
            let peerPort: Int32
        }

        private struct Connection {
            let socket: curl_socket_t
            var version: Version
        }

        enum Version {
            case http1, http2
            /// libcurl uses another library than OpenSSL, and tells with the first head.
            case unknown
        }

        /// How many transfers are connecting. libcurl 7.88 does not always wake up for the next address of a host when
        /// one has failed, so the thread looks after them.
        var connectingCount = 0

        /// How many transfers have an answer of HTTP/2. libcurl 7.88 does not always wake up for what it has kept of a
        /// stream that was paused, so the thread looks after them as well.
        var multiplexedCount = 0

        /// There was no socket to be had the last time. Connections that nobody has used for a second are closed then.
        var lacksDescriptors = false

        /// Grows whenever libcurl tells of something.
        private(set) var eventCount: UInt64 = 0

        /// How many streams of connections of HTTP/2 are paused.
        private var pausedCounts: [Name: Int] = [:]
        private var connections: [Name: Connection] = [:]
        /// When there are so many, those that have ended are taken out.
        private var mostConnections = 1024

        func noteEvent() { eventCount &+= 1 }

        /// Notes which of the sockets that were opened has become the connection.
        func note(_ opened: [curl_socket_t], as name: Name, _ version: Version) {
            guard let socket = opened.last(where: { name.isThat(of: $0) }) else { return }
            connections[name] = Connection(socket: socket, version: version)
            if connections.count < mostConnections { return }
            connections = connections.filter { $0.key.isThat(of: $0.value.socket) }
            mostConnections = max(1024, 2 * connections.count)
        }

        func note(_ version: Version, of name: Name) { connections[name]?.version = version }

        /// Whether something has come that no request has asked for: what a server sent beyond the end of an answer.
        /// libcurl 7.88 would take it for the answer to the next request. What TLS says of itself is no harm: the next
        /// request has another connection then.
        ///
        /// - Parameter isRead: OpenSSL has taken it from the socket already.
        func hasLeftovers(_ name: Name, onceRead isRead: Bool) -> Bool {
            guard let connection = connection(name), connection.version == .http1 else { return false }
            return isRead || baton_curl_is_readable(connection.socket) != 0
        }

        /// Whether the other side has closed the connection.
        func isClosed(_ name: Name) -> Bool {
            guard let connection = connection(name), connection.version != .http2 else { return false }
            return baton_curl_is_closed(connection.socket) != 0
        }

        /// Closes a connection, and lets libcurl write into the void. Returns what is to be kept until the end of the
        /// transfer; nil if no descriptor was to be had.
        func mute(_ name: Name) -> FileHandle? {
            guard let connection = connection(name) else { return nil }
            let void = baton_curl_mute(connection.socket)
            return void < 0 ? nil : FileHandle(fileDescriptor: void, closeOnDealloc: true)
        }

        /// How long ago a connection received something for one request alone; nil if that is not known.
        func silence(_ name: Name) -> Duration? {
            guard let connection = connection(name), connection.version == .http1 else { return nil }
            let milliseconds = baton_curl_silence(connection.socket)
            return milliseconds < 0 ? nil : .milliseconds(milliseconds)
        }

        /// How many bytes the other side of a connection has acknowledged of what one request alone sends; nil if that
        /// is not known.
        func acknowledgedCount(_ name: Name) -> Int64? {
            guard let connection = connection(name), connection.version == .http1 else { return nil }
            let count = baton_curl_acknowledged(connection.socket)
            return count < 0 ? nil : count
        }

        func streamPauses(on name: Name) { pausedCounts[name, default: 0] += 1 }

        func streamGoesOn(on name: Name) {
            pausedCounts[name, default: 0] -= 1
            if pausedCounts[name] == 0 { pausedCounts[name] = nil }
        }

        /// How much libcurl has read from connections of HTTP/2 with paused streams. Those who wait for other streams
        /// have to wait until it has taken in what is for these, of which it tells nobody.
        var readCount: Int64 {
            pausedCounts.keys.reduce(0) { count, name in
                count &+ (connection(name).map { baton_curl_read_count($0.socket) } ?? 0)
            }
        }

        /// The number of the socket may belong to another one by now.
        private func connection(_ name: Name) -> Connection? {
            guard let connection = connections[name], name.isThat(of: connection.socket) else { return nil }
            return connection
        }
    }

    extension CurlConnections.Name {
        fileprivate func isThat(of socket: curl_socket_t) -> Bool {
            baton_curl_is_connection(socket, localPort, peer, peerPort) != 0
        }
    }
#endif
