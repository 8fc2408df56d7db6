#if os(Linux)
    internal import Foundation
    public import FoundationNetworking

    /// Sends requests with libcurl. The default on Linux.
    ///
    /// ```swift
    /// var configuration = CurlTransport.Configuration()
    /// configuration.certificateAuthorities = URL(fileURLWithPath: "/etc/our/ca.pem")
    /// let transport = CurlTransport(configuration)
    /// let page = AsyncOperation(HTTPData(url).transport(transport))
    /// ```
    ///
    /// - Connections: one thread serves all requests of a transport. Connections are kept for later requests, and
    ///   closed with the transport. Requests to one host share a connection where the server speaks HTTP/2, as many as
    ///   it takes at a time; beyond that each has a connection of its own, unless ``Configuration/connectionsPerHost``
    ///   lets it wait. Each host that is looked up has a thread meanwhile.
    /// - Bodies: a slow reader holds the sender back; at most a quarter of a megabyte and what came last wait in
    ///   memory. Content that is packed (gzip, deflate, br and zstd, as libcurl has them) is unpacked; if 16 KB of it
    ///   become more than 64 MB, that is ``HTTPError/Reason/invalidAnswer(_:)``.
    /// - Sending twice: a request is sent once more by itself only if its method is idempotent, the server has closed a
    ///   kept connection without a word, and its body can be read again from the start: never a POST, and never a
    ///   stream.
    /// - Secure connections use the certificates of the system unless the configuration says otherwise.
    /// - Proxies are those of the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`) unless the
    ///   configuration says otherwise.
    /// - Cookies are kept in memory and sent with later requests of the transport, unless the address of a request is
    ///   so long that libcurl 7.88 has no room for them: 3,000 to 7,000 bytes, as the cookies are long.
    /// - The head of a request has at most 120 KB: more is ``HTTPError/Reason/invalidRequest(_:)``. Servers take less.
    ///   Nor does it keep the cookies that the answer to such a request sets.
    /// - The end of a body: compressed content that stops too early, and a TLS connection that ends without
    ///   `close_notify`, count as complete unless a length or chunks say otherwise, because libcurl does not report
    ///   them. Ask for content that must be whole without compression, `header("Accept-Encoding", "identity")`, from
    ///   servers that give its length. Content of several gzip members is ``HTTPError/Reason/invalidAnswer(_:)``.
    /// - Hostile servers: a server that sends empty HTTP/2 frames without end holds up all requests of the transport,
    ///   their deadlines included. For servers that you do not trust set ``Configuration/version`` to `.http1`, or give
    ///   them a transport of their own.
    /// - HTTP/2: libcurl itself keeps up to 32 MB for each request whose reader is slow.
    /// - What comes with 417, after a request with `Expect`, is not read on a kept connection.
    /// - A user and a password in the address are sent as Basic authentication.
    /// - `httpShouldHandleCookies`, `timeoutInterval`, method, header fields and `httpBody` of a request count; an
    ///   `httpBodyStream` is an error (see ``HTTPBodyStream``); what it says of caches and kinds of networks does not
    ///   count.
    public struct CurlTransport: HTTPTransport {
        /// One for all, with the usual configuration.
        public static let shared = CurlTransport()

        /// The system takes at most 128 KB that are not sent yet, and libcurl 7.88 has been seen not to send the rest
        /// of a longer head.
        private static let longestHead = 120 * 1024

        private let engine: CurlEngine

        /// A transport with connections, cookies and a thread of its own.
        public init(_ configuration: Configuration = Configuration()) { engine = CurlEngine(configuration) }

        /// See ``HTTPTransport/send(_:body:sent:)``.
        public func send(
            _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (Int64) -> Void
        ) async throws -> HTTPAnswer {
            try Task.checkCancellation()
            if body == nil, request.httpBodyStream != nil {
                let problem = "libcurl does not send an httpBodyStream. Give HTTPUpload an HTTPBodyStream"
                throw HTTPError(.invalidRequest(problem), request)
            }
            if let agent = engine.userAgent, agent.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
                throw HTTPError(
                    .invalidRequest(
                        "the user agent of the transport has a line end or another control character in it"),
                    request)
            }
            if request.headLength > Self.longestHead {
                throw HTTPError(
                    .invalidRequest(
                        "its address and header fields have \(request.headLength) bytes, and at most "
                            + "\(Self.longestHead) can be sent. Send large values in a body"), request)
            }
            let transfer = try CurlTransfer(request, body, on: engine.worker, sent: sent)
            let reader = TransferReader(transfer, of: engine)
            try await transfer.start()
            let head = try await reader.head()
            return HTTPAnswer(head: head, body: HTTPBody { try await reader.next() })
        }
    }

    /// Keeps the worker's thread until the transport and all who read from it have gone.
    final class CurlEngine: Sendable {
        let worker: CurlWorker
        let userAgent: String?

        init(_ configuration: CurlTransport.Configuration) {
            worker = CurlWorker(configuration)
            userAgent = configuration.userAgent
        }

        deinit { worker.close() }
    }

    /// Gives the transfer up when nobody reads it any more.
    private final class TransferReader: Sendable {
        private let transfer: CurlTransfer
        private let engine: CurlEngine

        init(_ transfer: CurlTransfer, of engine: CurlEngine) {
            self.transfer = transfer
            self.engine = engine
        }

        func head() async throws -> HTTPHead { try await transfer.head() }

        func next() async throws -> Data? { try await transfer.next() }

        deinit { transfer.cancel() }
    }

    extension URLRequest {
        /// How many bytes the method, the address and the header fields take in a request, at least.
        fileprivate var headLength: Int {
            let line = (httpMethod ?? "GET").utf8.count + (url?.absoluteString.utf8.count ?? 0)
            return (allHTTPHeaderFields ?? [:]).reduce(line) { $0 + $1.key.utf8.count + $1.value.utf8.count + 4 }
        }
    }
#endif
