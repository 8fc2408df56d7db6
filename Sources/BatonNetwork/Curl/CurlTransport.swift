#if os(Linux)
    internal import Foundation
    public import FoundationNetworking

    /// A transport that sends requests with libcurl. It is the default on Linux.
    ///
    /// ```swift
    /// var configuration = CurlTransport.Configuration()
    /// configuration.certificateAuthorities = URL(fileURLWithPath: "/etc/our/ca.pem")
    /// let transport = CurlTransport(configuration)
    /// let page = AsyncOperation(HTTPData(url).transport(transport))
    /// ```
    ///
    /// - Connections: One thread serves all requests of a transport. Connections are kept for later requests, and
    ///   closed with the transport. Requests to one host share a connection if the server speaks HTTP/2, as many as the
    ///   server accepts at a time. Every other request has a connection of its own, unless
    ///   ``Configuration/connectionsPerHost`` makes it wait. A request with a body uses HTTP/1.1, and never a
    ///   connection that one without a body has opened to an `https` host. While such a request connects or is sent,
    ///   libcurl 7.88 does not wait to see whether the host speaks HTTP/2: requests that begin together may then open a
    ///   connection each, up to ``Configuration/connectionsPerHost``. Each lookup of a host name uses a further
    ///   thread while it lasts.
    /// - Addresses: If a host has several addresses and one does not answer, the next one is tried: at first after a
    ///   twelfth of the idle limit, but at most a second. If none accepts a connection and one has not answered, all of
    ///   them are tried again, and each gets three times as long, until the idle limit ends.
    /// - Time: The idle limit and the lowest speed are measured by the clock of the operation's queue. The lookup of a
    ///   host is not, and neither is the time after which the next address is tried.
    /// - Bodies: A slow reader slows down the sender; at most 256 KB and the last piece wait in memory. Content that is
    ///   encoded with gzip, deflate, br or zstd is decoded if libcurl supports the encoding. If 16 KB of it become more
    ///   than 64 MB, that is ``HTTPError/Reason/invalidAnswer(_:)``. If requests share an HTTP/2 connection, the same
    ///   holds for up to 256 KB.
    /// - Automatic repetition: A request is sent a second time only if its method is idempotent, its body can be read
    ///   from the start again, and the server has closed a kept connection without a response, or has sent bytes on it
    ///   that are no response. A POST or a stream is never sent twice, not even if an HTTP/2 server says that it has
    ///   not processed it (`REFUSED_STREAM`, `GOAWAY`): libcurl 7.88 does not tell this from a lost connection.
    /// - Kept connections: A connection on which bytes have arrived that belong to no request is not used again. If
    ///   such bytes arrive after a POST was sent, that is ``HTTPError/Reason/invalidAnswer(_:)``.
    /// - Early responses: A response that arrives before the end of the body is the response. The server has to read on
    ///   for a while after it (RFC 9112, 9.6). If it closes the connection at once, its system resets the connection.
    ///   Over TLS, libcurl 7.88 then often fails to send, and does not read the response any more. The error is
    ///   ``HTTPError/Reason/connectionBroken``. A request with `Expect: 100-continue` does not have this problem.
    /// - Secure connections use the certificates of the system unless the configuration says otherwise.
    /// - Proxies come from the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`) unless the
    ///   configuration says otherwise.
    /// - Cookies are kept in memory and sent with later requests of the transport, unless the URL of a request is so
    ///   long that libcurl 7.88 has no room for them: from 3,000 to 7,000 bytes, depending on the length of the
    ///   cookies. The cookies that the response to such a request sets are not kept.
    /// - The head of a request has at most 120 KB, including the fields that the transport adds: the user agent, the
    ///   host, and the users and passwords in the addresses of the request and of the proxy. A longer head is
    ///   ``HTTPError/Reason/invalidRequest(_:)``. Most servers accept less.
    /// - End of a body: libcurl does not check that compressed content is whole. If a server sends the beginning of it
    ///   only, with a length or chunks that fit, the request succeeds with a part of the body; half of a zstd response
    ///   counts as complete. A TLS connection that ends without `close_notify` ends a body as well, unless a length or
    ///   chunks say otherwise, and so does an HTTP/2 connection that fails because the server breaks the rules, or a
    ///   stream that it resets with `NO_ERROR`. If a body must be complete, request it without compression,
    ///   `header("Accept-Encoding", "identity")`, from a server that sends its length. Content of several gzip members
    ///   is ``HTTPError/Reason/invalidAnswer(_:)``.
    /// - The head of a response over HTTP/2 has at most 128 KB. A longer one ends the connection, and each request on
    ///   it that is not sent again fails with ``HTTPError/Reason/invalidAnswer(_:)``.
    /// - `OPTIONS *` cannot be sent: the target of a request is always the path of its URL.
    /// - Hostile servers: A server that sends empty HTTP/2 frames without end blocks all requests of the transport, and
    ///   their deadlines. For servers that you do not trust, set ``Configuration/version`` to `.http1`, or use a
    ///   separate transport.
    /// - HTTP/2: libcurl itself buffers up to 32 MB for each request whose reader is slow.
    /// - The body of a 417 response to a request with `Expect` is not read on a kept connection.
    /// - A user and a password in the URL are sent as Basic authentication. A control character in one of them is
    ///   ``HTTPError/Reason/invalidRequest(_:)`` (RFC 7617, 2).
    /// - `httpShouldHandleCookies`, `timeoutInterval`, the method, the header fields and `httpBody` of a request are
    ///   honoured. An `httpBodyStream` is an error; use ``HTTPBodyStream``. The cache policy and the allowed kinds of
    ///   networks are ignored.
    public struct CurlTransport: HTTPTransport {
        /// The transport that all requests share by default, with the default configuration.
        public static let shared = CurlTransport()

        /// The longest head of a request, in bytes. The system accepts at most 128 KB of unsent bytes
        /// (`TCP_NOTSENT_LOWAT`), and libcurl 7.88 has been observed not to send the rest of a longer head.
        private static let longestHead = 120 * 1024

        private let engine: CurlEngine

        /// Creates a transport with its own connections, cookies and thread.
        ///
        /// - Parameter configuration: The options of the transport.
        public init(_ configuration: Configuration = Configuration()) { engine = CurlEngine(configuration) }

        /// Sends a request; see ``HTTPTransport/send(_:body:sent:)``.
        ///
        /// - Parameters:
        ///   - request: The URL, the method and the header fields.
        ///   - body: The body to send, or nil for the `httpBody` of the request.
        ///   - sent: A closure that is called, from any thread, with the number of bytes of the body that have been
        ///     sent so far.
        /// - Returns: The head of the response, with a body that arrives while it is read.
        /// - Throws: ``HTTPError``, or `CancellationError` after a cancellation.
        public func send(
            _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (Int64) -> Void
        ) async throws -> HTTPAnswer {
            if Task.isCancelled { throw HTTPError.cancelled(request) }
            if body == nil, request.httpBodyStream != nil {
                let problem = "libcurl does not send an httpBodyStream. Give HTTPUpload an HTTPBodyStream"
                throw HTTPError(.invalidRequest(problem), request)
            }
            if request.url?.hasControlCharacterInCredentials ?? false {
                throw HTTPError(
                    .invalidRequest("the user or the password in its address contains a control character"), request)
            }
            if let agent = engine.configuration.userAgent, agent.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
                throw HTTPError(
                    .invalidRequest(
                        "the user agent of the transport has a line end or another control character in it"),
                    request)
            }
            let headLength = request.headLength(engine.configuration)
            if headLength > Self.longestHead {
                throw HTTPError(
                    .invalidRequest(
                        "its address and header fields have \(headLength) bytes, and at most "
                            + "\(Self.longestHead) can be sent. Send large values in a body"), request)
            }
            if let problem = engine.problemOfResolved ?? engine.configuration.problemOfProxy
                ?? engine.configuration.problemOfCertificates
            {
                throw HTTPError(.invalidRequest(problem), request)
            }
            let clock = TransferClock(TransferTime.current)
            let transfer = try CurlTransfer(request, body, on: engine.thread, clock, sent: sent)
            let reader = TransferReader(transfer, of: engine)
            do {
                try await transfer.start()
                let head = try await reader.head()
                return HTTPAnswer(head: head, body: HTTPBody { try await reader.next() })
            } catch is CancellationError {
                throw HTTPError.cancelled(request)
            }
        }
    }

    /// Keeps the transport's thread until the transport and all readers of its responses have been released.
    final class CurlEngine: Sendable {
        let thread: CurlThread
        let configuration: CurlTransport.Configuration
        /// The reason why the addresses of hosts in the configuration cannot be used, or nil.
        let problemOfResolved: String?

        init(_ configuration: CurlTransport.Configuration) {
            thread = CurlThread(configuration)
            self.configuration = configuration
            problemOfResolved = configuration.problemOfResolved
        }

        deinit { thread.close() }
    }

    /// Cancels the transfer when the response and its body have been released.
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

    extension HTTPError {
        /// Returns the error of a request that was cancelled before its response began. If that is because its deadline
        /// is over, and a connection did not exist yet, the error says so.
        fileprivate static func cancelled(_ request: URLRequest) -> any Error {
            guard let deadline = TransferDeadline.current, deadline.isOverBeforeRequest else {
                return CancellationError()
            }
            var error = HTTPError(.deadlineExceeded(after: deadline.limit), request)
            error.isBeforeTheConnection = true
            return error
        }
    }

    extension URLRequest {
        /// The approximate number of bytes that the method, the URL and the header fields take in a request. Fields
        /// that libcurl adds count if they have no limit of their own. The cookies of the transport have one; see
        /// ``CurlCookies``.
        fileprivate func headLength(_ configuration: CurlTransport.Configuration) -> Int {
            let fields = (allHTTPHeaderFields ?? [:]).reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 4 }
            var length = (httpMethod ?? "GET").utf8.count + (url?.absoluteString.utf8.count ?? 0) + fields
            if value(forHTTPHeaderField: "User-Agent") == nil { length += configuration.userAgent?.utf8.count ?? 0 }
            if value(forHTTPHeaderField: "Host") == nil { length += url?.host?.utf8.count ?? 0 }
            // Basic authentication makes four bytes of three.
            if value(forHTTPHeaderField: "Authorization") == nil { length += (url?.credentialsLength ?? 0) * 4 / 3 }
            if value(forHTTPHeaderField: "Proxy-Authorization") == nil {
                let proxy = CurlProxy.wholeAddress(for: url, configuration.proxy)
                length += (proxy.utf8.lastIndex(of: UInt8(ascii: "@")).map { proxy[..<$0].decodedLength } ?? 0) * 4 / 3
            }
            return length
        }
    }

    extension URL {
        /// The user and the password, percent-encoded.
        private var credentials: [String] {
            guard absoluteString.utf8.contains(UInt8(ascii: "@")) else { return [] }
            let parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
            return [parts?.percentEncodedUser, parts?.percentEncodedPassword].compactMap(\.self)
        }

        fileprivate var credentialsLength: Int { credentials.reduce(0) { $0 + $1[...].decodedLength } }

        /// A Boolean value that indicates whether the user or the password contains a control character. Basic
        /// authentication cannot send one, and libcurl would call the whole URL malformed.
        fileprivate var hasControlCharacterInCredentials: Bool {
            credentials.contains { text in
                text.split(separator: "%", omittingEmptySubsequences: false).dropFirst().contains { part in
                    UInt8(part.prefix(2), radix: 16).map { $0 < 0x20 || $0 == 0x7f } ?? false
                }
            }
        }
    }

    extension Substring {
        /// The number of bytes after the percent-encoding is decoded, if each percent sign begins an escape.
        fileprivate var decodedLength: Int { utf8.count - 2 * utf8.count { $0 == UInt8(ascii: "%") } }
    }
#endif
