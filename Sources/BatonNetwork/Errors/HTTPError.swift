#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Why a request has no good answer. What the procedures of this module throw, so an operation's error is `.failed` of
/// it.
///
/// ```swift
/// do { use(try await page.value) } catch {
///     if let error = error.underlyingError as? HTTPError, case .refused(let refusal) = error.reason {
///         show(refusal.status)
///     }
/// }
/// ```
///
/// A cancel is none of these: a cancelled request throws `CancellationError`.
public struct HTTPError: Error, Sendable {
    /// What went wrong.
    @nonexhaustive
    public enum Reason: Sendable, Hashable {
        /// This is no address, or none of http or https with a host.
        case invalidURL(String)
        /// This cannot be sent, for the reason given: a GET with a body, for example.
        case invalidRequest(String)
        /// Nobody knows the host's name.
        case hostNotFound
        /// Nobody listens at the host's port.
        case connectionRefused
        /// There is no connection to the host, for another reason than those above: no route to it, for example. The
        /// text says why.
        case hostNotReached(String)
        /// There is no connection to the proxy, whose address this is. The text says why.
        case proxyNotReached(proxy: String, String)
        /// The proxy, whose address this is, answered the request for a tunnel with this status: 407 if it wants a
        /// password.
        case proxyRefused(proxy: String, status: Int)
        /// The process has as many open files and connections as the system lets it have.
        case tooManyOpenFiles
        /// No secure connection: a plain port, a bad certificate. The text is that of the system.
        case insecureConnection(String)
        /// Nothing came or went for so long.
        case timedOut(after: Duration)
        /// Fewer bytes a second came or went than the transport's lowest speed, for so long.
        case tooSlow(bytesPerSecond: Int, over: Duration)
        /// All of it took longer than the deadline.
        case deadlineExceeded(after: Duration)
        /// The connection ended before the answer did.
        case connectionBroken
        /// The connection ended before as many bytes had come as the head had promised.
        case bodyTooShort(received: Int64, promised: Int64)
        /// The answer is not HTTP, or its content encoding cannot be undone. The text says why. Often a server of
        /// another kind listens at that port.
        case invalidAnswer(String)
        /// The body is larger than the limit, in bytes.
        case bodyTooLarge(limit: Int)
        /// One redirect led to another too often.
        case tooManyRedirects
        /// A redirect led from https to http, and the request's ``RedirectPolicy`` does not allow that.
        case insecureRedirect(to: String)
        /// The status is none of those that were expected.
        case refused(Refusal)
        /// The content type, nil if there is none, is none of those expected.
        case unexpectedContentType(String?, expected: [String])
        /// A part of a file was asked for, and another one came.
        case unexpectedPart(String?)
        /// A local file cannot be read or written.
        case file(FileProblem, path: String)
        /// Anything else that URLSession or libcurl reports: the error code, and what it says.
        case other(code: Int, String)
    }

    /// An answer whose status was not expected.
    public struct Refusal: Sendable, Hashable {
        /// The status code.
        public let status: Int
        /// The beginning of the body, at most 1,024 bytes, as text.
        public let excerpt: String
        /// How long the server wants us to wait, counted from the answer; nil if it has not said.
        public let retryAfter: Duration?
        /// Where a redirect leads that was not followed, without what may be secret. Nil: it was no redirect.
        public let location: String?

        /// Puts a refusal together; for transports and tests.
        public init(status: Int, excerpt: String = "", retryAfter: Duration? = nil, location: String? = nil) {
            self.status = status
            self.excerpt = excerpt
            self.retryAfter = retryAfter
            self.location = location
        }
    }

    /// What is wrong with a local file.
    @nonexhaustive
    public enum FileProblem: Sendable, Hashable {
        /// A folder of this name is there.
        case isDirectory
        /// There is no such file, or no such folder to put it into.
        case notFound
        /// We may not.
        case notPermitted
        /// There is no room for it.
        case diskFull
        /// A link, or another file than a plain one with one name, is in the place of the hidden file of a download.
        /// It was left as it is.
        case notPlain
        /// A device, a pipe or a socket has this name. It was left as it is.
        case isDevice
        /// Another download writes to the same file.
        case inUse
        /// The file got shorter or longer while it was sent.
        case changed
        /// Anything else: the system's error number.
        case other(errno: Int32)
    }

    /// What went wrong.
    public let reason: Reason
    /// GET, POST, …
    public let method: String
    /// The address without user, password and query, which may be secret.
    public let url: String
    /// The last address that redirects had led to, without what may be secret. Nil: the request was not redirected.
    public internal(set) var redirectedTo: String?
    /// The proxy that the request went through, without its password. Nil: none, or the transport does not know.
    public internal(set) var proxy: String?
    /// Something may have reached a server before it failed, whatever the reason says of the end.
    var isAfterTheRequest = false
    /// There was no connection yet that could have carried anything of it.
    var isBeforeTheConnection = false

    /// What went wrong with this request; for transports and tests.
    public init(_ reason: Reason, _ request: URLRequest) {
        self.reason = reason
        method = request.httpMethod ?? "GET"
        url = request.url?.withoutSecrets ?? ""
    }

    /// What is wrong with the answer that has this head.
    init(_ reason: Reason, _ request: URLRequest, after head: HTTPHead) {
        self.init(reason, request)
        proxy = head.proxy
    }

    /// Whether the same request may go well a little later.
    ///
    /// That is so for hosts and proxies that are not found or not reached, broken connections, bodies that are too
    /// short, too many open files, time limits, and the status codes 408, 425, 429 and 500 to 599, but for 501 and 505,
    /// which say that the server never will; of a proxy's tunnel 502 to 504.
    public var isTransient: Bool {
        switch reason {
        case .hostNotFound, .connectionRefused, .hostNotReached, .proxyNotReached, .tooManyOpenFiles, .timedOut,
            .tooSlow,
            .deadlineExceeded, .connectionBroken, .bodyTooShort:
            true
        case .refused(let refusal):
            switch refusal.status {
            case 501, 505: false
            case 408, 425, 429, 500...599: true
            default: false
            }
        case .proxyRefused(_, let status): [502, 503, 504].contains(status)
        case .invalidURL, .invalidRequest, .insecureConnection, .invalidAnswer, .bodyTooLarge,
            .tooManyRedirects, .insecureRedirect, .unexpectedContentType, .unexpectedPart, .file, .other:
            false
        }
    }

    /// Nothing of the request has reached a server.
    var isBeforeTheRequest: Bool {
        switch reason {
        case .hostNotFound, .connectionRefused, .hostNotReached, .proxyNotReached, .tooManyOpenFiles: !isAfterTheRequest
        default: isBeforeTheConnection && !isAfterTheRequest
        }
    }
}

extension HTTPError {
    /// The error of a request that failed after redirects had led it to this address. The first server has received it,
    /// so whether it may be sent again depends on its own method.
    func redirected(to target: URL, from request: URLRequest) -> HTTPError {
        var error = HTTPError(reason, request)
        error.redirectedTo = target.withoutSecrets
        error.proxy = proxy
        error.isAfterTheRequest = true
        return error
    }

    /// The error of a request for which a local file could not be used.
    ///
    /// - Parameter isSent: Whether something may have reached a server.
    init(_ error: FileError, _ request: URLRequest, isSent: Bool) {
        self.init(error.reason, request)
        isAfterTheRequest = isSent
    }
}
