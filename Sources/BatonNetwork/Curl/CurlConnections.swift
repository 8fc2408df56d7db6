#if os(Linux)
    internal import Baton
    internal import CBatonCurl
    internal import Foundation

    /// Facts about connections that libcurl does not report. Only the transport's thread uses this object.
    final class CurlConnections {
        /// The identity of a connection. The local port alone does not suffice, because connections to several servers
        /// may share it.
        struct ID: Hashable {
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
            /// libcurl uses a TLS library other than OpenSSL. The version is known from the first head on.
            case unknown
        }

        /// The number of transfers that are connecting. libcurl 7.88 does not always wake up to try the next address of
        /// a host when one has failed, so the loop polls while this is not 0.
        var connectingCount = 0 {
            didSet { assert(connectingCount >= 0, "Internal inconsistency: a connection attempt that ends twice") }
        }

        /// The number of transfers that wait for a connection because their number is limited. libcurl 7.88 may miss
        /// that a connection has become free for one of them, so the loop polls while this is not 0.
        var waitingCount = 0 {
            didSet { assert(waitingCount >= 0, "Internal inconsistency: a wait for a connection that ends twice") }
        }

        /// The number of transfers with a response over HTTP/2. libcurl 7.88 does not always wake up for bytes that it
        /// has buffered for a paused stream, so the loop polls while this is not 0.
        var multiplexedCount = 0 {
            didSet { assert(multiplexedCount >= 0, "Internal inconsistency: an HTTP/2 transfer that ends twice") }
        }

        /// The exchanges whose bodies have nothing to send at the moment.
        var pausedUploads: [ObjectIdentifier: CurlExchange] = [:]

        /// A Boolean value that indicates whether the last attempt to open a socket failed for lack of descriptors.
        /// While it is true, libcurl closes connections that have been unused for a second.
        var lacksDescriptors = false

        /// The attempts to connect, by the time at which each is given up if the address has not answered.
        var attempts = TimerHeap<ContinuousClock.Instant, ConnectionAttempt>()

        /// The number of calls from libcurl, from which the loop tells whether libcurl has done anything.
        private(set) var eventCount: UInt64 = 0

        /// The number of paused streams of each HTTP/2 connection.
        private var pausedCounts: [ID: Int] = [:]
        private var connections: [ID: Connection] = [:]
        /// The last exchange on each connection that has an exchange.
        private var holders: [ID: CurlExchange] = [:]
        /// When the table reaches this count, closed connections are removed from it.
        private var pruneThreshold = 1024

        func recordEvent() { eventCount &+= 1 }

        /// Records the socket of a transfer's connection: the last one among those it opened whose addresses match
        /// `id`.
        func recordConnection(_ opened: [curl_socket_t], as id: ID, _ version: Version) {
            guard let socket = opened.last(where: { id.matches($0) }) else { return }
            connections[id] = Connection(socket: socket, version: version)
            if connections.count < pruneThreshold { return }
            connections = connections.filter { $0.key.matches($0.value.socket) }
            pruneThreshold = max(1024, 2 * connections.count)
        }

        func setVersion(_ version: Version, of id: ID) { connections[id]?.version = version }

        /// Returns whether a connection is known to use HTTP/2.
        func usesHTTP2(_ id: ID) -> Bool { connection(id)?.version == .http2 }

        /// Returns whether a connection is known to use HTTP/1.1.
        func usesHTTP1(_ id: ID) -> Bool { connection(id)?.version == .http1 }

        /// Notes that the last request on a connection is that of an exchange.
        func take(_ id: ID, for exchange: CurlExchange) { holders[id] = exchange }

        /// Notes that an exchange has left a connection.
        func release(_ id: ID, by exchange: CurlExchange) {
            if holders[id] === exchange { holders[id] = nil }
        }

        /// Returns whether libcurl is still working on another exchange on a secure connection.
        func isTaken(_ id: ID, byOtherThan exchange: CurlExchange) -> Bool {
            guard let holder = holders[id], holder !== exchange else { return false }
            // The connection of a transfer that has ended is free before the loop learns of the end.
            return holder.handle.hasSecureConnection
        }

        /// Returns whether bytes have arrived that belong to no request, because the server sent more than its
        /// response.
        ///
        /// libcurl 7.88 would take these bytes for the response to the next request. Records of the TLS protocol itself
        /// count as well, which does no harm: the next request then uses another connection.
        ///
        /// - Parameter isRead: Whether OpenSSL has already read such bytes from the socket.
        func hasLeftovers(_ id: ID, onceRead isRead: Bool) -> Bool {
            guard let connection = connection(id), connection.version == .http1 else { return false }
            return isRead || baton_curl_is_readable(connection.socket) != 0
        }

        /// Returns true if the connection is known, does not use HTTP/2, and was closed by its peer.
        func isClosed(_ id: ID) -> Bool {
            // This is asked often, and the answer is rarely yes.
            guard let connection = connections[id], connection.version != .http2,
                baton_curl_is_closed(connection.socket) != 0
            else { return false }
            return id.matches(connection.socket)
        }

        /// Closes a connection, and gives libcurl a socket pair in its place that discards what libcurl writes. Returns
        /// the other end, which the caller keeps until the end of the transfer, or nil if no descriptor was available.
        func replaceWithDiscardSocket(_ id: ID) -> FileHandle? {
            guard let connection = connection(id) else { return nil }
            let other = baton_curl_mute(connection.socket)
            return other < 0 ? nil : FileHandle(fileDescriptor: other, closeOnDealloc: true)
        }

        /// Returns the time since a connection that serves a single request last received bytes, or nil if it is
        /// unknown.
        func timeSinceReceive(_ id: ID) -> Duration? {
            guard let connection = connection(id), connection.version == .http1 else { return nil }
            let milliseconds = baton_curl_silence(connection.socket)
            return milliseconds < 0 ? nil : .milliseconds(milliseconds)
        }

        /// Returns the number of bytes that a connection that serves a single request has received, or nil if it is
        /// unknown.
        func receivedCount(_ id: ID) -> Int64? {
            guard let connection = connection(id), connection.version == .http1 else { return nil }
            let count = baton_curl_received(connection.socket)
            return count < 0 ? nil : count
        }

        /// Returns the number of bytes that the peer of a connection that serves a single request has acknowledged, or
        /// nil if it is unknown.
        func acknowledgedCount(_ id: ID) -> Int64? {
            guard let connection = connection(id), connection.version == .http1 else { return nil }
            let count = baton_curl_acknowledged(connection.socket)
            return count < 0 ? nil : count
        }

        func recordPause(on id: ID) { pausedCounts[id, default: 0] += 1 }

        func recordResume(on id: ID) {
            let count = pausedCounts[id, default: 0]
            assert(count > 0, "Internal inconsistency: a stream resumes that was not paused")
            pausedCounts[id] = count > 1 ? count - 1 : nil
        }

        /// The number of bytes that libcurl has read from HTTP/2 connections with paused streams. The other streams of
        /// such a connection make no progress until libcurl has buffered the bytes of the paused ones. libcurl does
        /// that without calling back, so this count is the only sign of progress.
        var readCount: Int64 {
            pausedCounts.keys.reduce(0) { count, id in
                count &+ (connection(id).map { baton_curl_read_count($0.socket) } ?? 0)
            }
        }

        /// Returns the connection, unless its socket's number belongs to another connection by now.
        private func connection(_ id: ID) -> Connection? {
            guard let connection = connections[id], id.matches(connection.socket) else { return nil }
            return connection
        }
    }

    /// An attempt of libcurl to connect to one address of a host.
    struct ConnectionAttempt {
        let exchange: CurlExchange
        let socket: OpenedSocket

        /// Ends the attempt if the address has not answered yet. libcurl then tries the next one.
        ///
        /// - Returns: Whether the attempt was ended.
        func abandon() -> Bool { baton_curl_abandon(socket.socket, socket.identity) != 0 }
    }

    /// A socket that was opened for a transfer.
    struct OpenedSocket {
        let socket: curl_socket_t
        /// The system's identity of the socket, whose number may belong to another socket later.
        let identity: UInt64

        /// The number of bytes that the socket has received, or nil if it is unknown.
        var receivedCount: Int64? {
            guard identity != 0, baton_curl_identity(socket) == identity else { return nil }
            let count = baton_curl_received(socket)
            return count < 0 ? nil : count
        }

        /// The time since the socket last received bytes, or nil if it has received none or the time is unknown.
        var timeSinceReceive: Duration? {
            guard let count = receivedCount, count > 0 else { return nil }
            let milliseconds = baton_curl_silence(socket)
            return milliseconds < 0 ? nil : .milliseconds(milliseconds)
        }
    }

    extension CurlConnections.ID {
        fileprivate func matches(_ socket: curl_socket_t) -> Bool {
            baton_curl_is_connection(socket, localPort, peer, peerPort) != 0
        }
    }
#endif
