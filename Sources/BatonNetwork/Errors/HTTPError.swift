internal import Baton

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// The error that HTTP requests throw. An operation that fails with it has it as the error's `underlyingError`.
///
/// ```swift
/// do { use(try await page.value) } catch {
///     if let error = error.underlyingError as? HTTPError, case .refused(let refusal) = error.reason {
///         show(refusal.status)
///     }
/// }
/// ```
///
/// A cancelled request throws `CancellationError`, not an `HTTPError`.
public struct HTTPError: Error, Sendable {
    /// The reason why a request failed.
    @nonexhaustive
    public enum Reason: Sendable, Hashable {
        /// The text is not a URL, or not an http or https URL with a host.
        case invalidURL(String)
        /// The request cannot be sent, for the given reason: it is a GET with a body, for example.
        case invalidRequest(String)
        /// The name of the host was not found.
        case hostNotFound
        /// The host refused the connection at this port.
        case connectionRefused
        /// The host cannot be connected to for another reason, which the text gives: there is no route to it, for
        /// example.
        case hostNotReached(String)
        /// The proxy with this URL cannot be connected to, or does not reach the host at the moment. The text says why.
        case proxyNotReached(proxy: String, String)
        /// The SOCKS proxy with this URL rejects the user or the password, or does not allow the connection. The text
        /// says why.
        case proxyDenied(proxy: String, String)
        /// The proxy with this URL refused a tunnel with this status, or wants a password: 407. The wait that it asks
        /// for is ``HTTPError/retryAfter``.
        case proxyRefused(proxy: String, status: Int)
        /// The process has nearly as many open files and connections as the system allows: ``CurlTransport`` leaves the
        /// last 16 unused.
        case tooManyOpenFiles
        /// No secure connection could be made: a plain-text port or a bad certificate, for example. The text is the
        /// system's.
        case insecureConnection(String)
        /// No byte arrived or was sent for this time.
        case timedOut(after: Duration)
        /// The transfer was slower than the transport's lowest speed for this time.
        case tooSlow(bytesPerSecond: Int, over: Duration)
        /// The request and its response together took longer than the deadline.
        case deadlineExceeded(after: Duration)
        /// The connection ended before the response was complete, or the server has reset the request's HTTP/2 stream.
        ///
        /// A reset whose code reports a broken rule, such as `PROTOCOL_ERROR`, is ``invalidAnswer(_:)`` on libcurl, and
        /// one with `NO_ERROR` ends a body that has no length.
        case connectionBroken
        /// The body has another length than the head promised, usually because the connection ended early.
        case bodyTooShort(received: Int64, promised: Int64)
        /// The response is not HTTP, has a status below 100 or above 999, or has a content encoding that cannot be
        /// decoded. The text says why.
        ///
        /// A common cause is a server of another protocol on that port. On libcurl, this is also the reason if the
        /// server resets an HTTP/2 stream because it considers a rule broken, with `PROTOCOL_ERROR` for example.
        case invalidAnswer(String)
        /// The body of the response is larger than the limit, in bytes.
        case bodyTooLarge(limit: Int)
        /// The request was redirected more often than its ``RedirectPolicy`` allows.
        case tooManyRedirects
        /// A redirect led from https to http, and the request's ``RedirectPolicy`` does not allow that.
        case insecureRedirect(to: String)
        /// The status of the response is not among those that the validation accepts.
        case refused(Refusal)
        /// The content type of the response, nil if it has none, is not among the expected ones.
        case unexpectedContentType(String?, expected: [String])
        /// The response is a part of the file that was not requested. The text is its `Content-Range`.
        case unexpectedPart(String?)
        /// A local file cannot be read or written.
        case file(FileProblem, path: String)
        /// Any other error of URLSession or libcurl, with its code and its text.
        case other(code: Int, String)
    }

    /// A response whose status was not accepted.
    public struct Refusal: Sendable, Hashable {
        /// The status code.
        public let status: Int
        /// The beginning of the body, at most 1,024 bytes, as text.
        public let excerpt: String
        /// The time that the server asks the client to wait, counted from the response; nil if it has not said.
        public let retryAfter: Duration?
        /// The target of a redirect that was not followed, without its secrets. Nil if the response was not a redirect:
        /// a status of 304 is none.
        public let location: String?

        /// Creates a refusal, for transports and tests.
        ///
        /// - Parameters:
        ///   - status: The status code.
        ///   - excerpt: The beginning of the body.
        ///   - retryAfter: The time that the server asks the client to wait.
        ///   - location: The target of a redirect that was not followed.
        public init(status: Int, excerpt: String = "", retryAfter: Duration? = nil, location: String? = nil) {
            self.status = status
            self.excerpt = excerpt
            self.retryAfter = retryAfter
            self.location = location
        }
    }

    /// A problem with a local file.
    @nonexhaustive
    public enum FileProblem: Sendable, Hashable {
        /// A folder has this name.
        case isDirectory
        /// There is no such file, or no such folder to create it in.
        case notFound
        /// The process lacks the permission.
        case notPermitted
        /// The disk or the quota is full.
        case diskFull
        /// The hidden name of a download belongs to a link, to a file with several links or to no plain file. It was
        /// not touched.
        case notPlain
        /// A device, a pipe or a socket has this name. It was not touched.
        case isDevice
        /// Another download writes to the same file.
        case inUse
        /// The file changed its length while it was sent.
        case changed
        /// Any other problem, with the system's error number.
        case other(errno: Int32)
    }

    /// The reason why the request failed.
    public let reason: Reason
    /// The method of the request: GET, POST, …
    public let method: String
    /// The URL without its user, password and query, which may be secret.
    public let url: String
    /// The URL that the last redirect led to, without its secrets. Nil if the request was not redirected.
    public internal(set) var redirectedTo: String?
    /// The URL of the proxy, without its password. Nil if there was no proxy, or the transport does not know.
    public internal(set) var proxy: String?
    /// The time that the proxy asks the client to wait, if the reason is ``Reason/proxyRefused(proxy:status:)``.
    var retryAfterOfProxy: Duration?
    /// A Boolean value that indicates whether a part of the request may have reached a server, whatever the reason
    /// says.
    var isAfterTheRequest = false
    /// A Boolean value that indicates whether the request failed before a connection existed that could have carried
    /// it.
    var isBeforeTheConnection = false
    /// The method of the request whose body this error has ended. The error is then that of another request, on which
    /// the stream of that body has failed. Nil if the error is that of the request that it names.
    private(set) var methodOfCarrier: String?

    /// Creates an error, for transports and tests.
    ///
    /// - Parameters:
    ///   - reason: The reason why the request failed.
    ///   - request: The request.
    public init(_ reason: Reason, _ request: URLRequest) {
        self.reason = reason
        method = request.httpMethod ?? "GET"
        url = request.url?.withoutSecrets ?? ""
    }

    /// Creates the error of a response that has this head.
    init(_ reason: Reason, _ request: URLRequest, after head: HTTPHead) {
        self.init(reason, request)
        proxy = head.proxy
    }

    /// A Boolean value that indicates whether the same request may succeed a little later.
    ///
    /// It is true if a host or a proxy is not found or not reached, a connection breaks, a body is too short, the
    /// process has too many open files, or a time limit ends. It is also true for the status codes 408, 425, 429 and
    /// 500 to 599, except 501 and 505, with which a server says that it will never support the request, and for the
    /// status codes 429 and 502 to 504 of a proxy's tunnel. A status of 600 and above is invalid, and counts as one of
    /// 500 to 599 (RFC 9110, 15).
    public var isTransient: Bool {
        switch reason {
        case .hostNotFound, .connectionRefused, .hostNotReached, .proxyNotReached, .tooManyOpenFiles, .timedOut,
            .tooSlow,
            .deadlineExceeded, .connectionBroken, .bodyTooShort:
            true
        case .refused(let refusal):
            switch refusal.status {
            case 501, 505: false
            case 408, 425, 429, 500...: true
            default: false
            }
        case .proxyRefused(_, let status): [429, 502, 503, 504].contains(status)
        case .invalidURL, .invalidRequest, .proxyDenied, .insecureConnection, .invalidAnswer, .bodyTooLarge,
            .tooManyRedirects, .insecureRedirect, .unexpectedContentType, .unexpectedPart, .file, .other:
            false
        }
    }

    /// A Boolean value that indicates whether no part of the request has reached a server.
    var failedBeforeSending: Bool {
        switch reason {
        case .hostNotFound, .connectionRefused, .hostNotReached, .proxyNotReached, .proxyDenied, .tooManyOpenFiles:
            !isAfterTheRequest
        default: isBeforeTheConnection && !isAfterTheRequest
        }
    }
}

extension HTTPError {
    /// Returns the error of a request that failed after redirects had led it to a URL. The first server has received
    /// the request, so whether it may be sent again depends on its original method.
    func redirected(to target: URL, from request: URLRequest) -> HTTPError {
        var error = HTTPError(reason, request)
        error.redirectedTo = target.withoutSecrets
        error.proxy = proxy
        error.retryAfterOfProxy = retryAfterOfProxy
        error.isAfterTheRequest = true
        return error
    }

    /// A Boolean value that indicates whether the error is that of a request on which the stream of another request's
    /// body has failed.
    var isOfStream: Bool { methodOfCarrier != nil }

    /// The method of the request that has to be sent again if the operation is to succeed.
    var methodToRepeat: String { methodOfCarrier ?? method }

    /// Marks the error of a stream, if it is that of another request, or of an operation that has sent one. The request
    /// whose body the stream is may have reached a server, whatever has become of the other one.
    static func ofStream(_ error: any Error, in carrier: URLRequest) -> any Error {
        if case .failed(let inner)? = error as? OperationError {
            return OperationError.failed(ofStream(inner, in: carrier))
        }
        // `underlyingError` also finds the error of an operation at the root of one that was caused by it.
        guard var failure = OperationError.failed(error).underlyingError as? HTTPError else { return error }
        failure.methodOfCarrier = carrier.httpMethod ?? "GET"
        failure.isAfterTheRequest = true
        failure.isBeforeTheConnection = false
        return failure
    }

    /// Creates the error of a request for which a local file could not be used.
    ///
    /// - Parameter isSent: Whether a part of the request may have reached a server.
    init(_ error: FileError, _ request: URLRequest, isSent: Bool) {
        self.init(error.reason, request)
        isAfterTheRequest = isSent
    }
}
