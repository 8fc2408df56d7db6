#if os(Linux)
    internal import CBatonCurl

    /// What a thread has to know of its connections beyond what libcurl tells. The thread alone uses it.
    final class CurlConnections {
        /// How many transfers are connecting. libcurl 7.88 does not always wake up for the next address of a host when one has failed, so
        /// the thread looks after them.
        var connectingCount = 0

        /// The sockets of connections, by their local ports. A port that is used again replaces its entry, so there are at most as many as
        /// ports.
        private var sockets: [Int32: curl_socket_t] = [:]

        /// Notes which of the sockets that were opened has become the connection.
        func note(_ opened: [curl_socket_t], localPort: Int32) {
            if let socket = opened.last(where: { baton_curl_local_port($0) == localPort }) {
                sockets[localPort] = socket
            }
        }

        /// How long ago the connection of a local port received something; nil if that is not known.
        func silence(localPort: Int32) -> Duration? {
            // The number may belong to another socket by now.
            guard let socket = sockets[localPort], baton_curl_local_port(socket) == localPort else { return nil }
            let milliseconds = baton_curl_silence(socket)
            return milliseconds < 0 ? nil : .milliseconds(milliseconds)
        }
    }
#endif
