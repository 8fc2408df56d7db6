#if os(Linux)
    internal import CBatonCurl

    /// What a thread has to know of its connections beyond what libcurl tells. The thread alone uses it.
    final class CurlConnections {
        private struct Connection {
            let socket: curl_socket_t
            var isHTTP2 = false
        }

        /// How many transfers are connecting. libcurl 7.88 does not always wake up for the next address of a host when one has failed, so
        /// the thread looks after them.
        var connectingCount = 0

        /// How many transfers have an answer of HTTP/2. libcurl 7.88 does not always wake up for what it has kept of a stream that was paused,
        /// so the thread looks after them as well.
        var multiplexedCount = 0

        /// By their local ports. A port that is used again replaces its entry, so there are at most as many as ports.
        private var connections: [Int32: Connection] = [:]

        /// Notes which of the sockets that were opened has become the connection.
        func note(_ opened: [curl_socket_t], localPort: Int32) {
            guard let socket = opened.last(where: { baton_curl_local_port($0) == localPort }) else { return }
            connections[localPort] = Connection(socket: socket)
        }

        /// Its answers are streams.
        func noteHTTP2(localPort: Int32) { connections[localPort]?.isHTTP2 = true }

        /// Whether something has come that no request has asked for: what a server sent beyond the end of an answer. libcurl 7.88 would take
        /// it for the answer to the next request. What TLS and HTTP/2 say of themselves is no harm: the next request has another connection
        /// then, or no need of one.
        func hasLeftovers(localPort: Int32) -> Bool {
            guard let connection = connection(localPort), !connection.isHTTP2 else { return false }
            return baton_curl_is_readable(connection.socket) != 0
        }

        /// Whether the other side has closed the connection.
        func isClosed(localPort: Int32) -> Bool {
            guard let connection = connection(localPort), !connection.isHTTP2 else { return false }
            return baton_curl_is_closed(connection.socket) != 0
        }

        /// How long ago the connection of a local port received something for one request alone; nil if that is not known.
        func silence(localPort: Int32) -> Duration? {
            guard let connection = connection(localPort), !connection.isHTTP2 else { return nil }
            let milliseconds = baton_curl_silence(connection.socket)
            return milliseconds < 0 ? nil : .milliseconds(milliseconds)
        }

        /// The number of the socket may belong to another one by now.
        private func connection(_ localPort: Int32) -> Connection? {
            guard let connection = connections[localPort], baton_curl_local_port(connection.socket) == localPort else {
                return nil
            }
            return connection
        }
    }
#endif
