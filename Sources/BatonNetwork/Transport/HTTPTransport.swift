public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// What sends requests: libcurl on Linux, URLSession on Apple's platforms, or any other HTTP stack.
///
/// ```swift
/// struct OurStack: HTTPTransport {
///     func send(
///         _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (Int64) -> Void
///     ) async throws -> HTTPAnswer { … }
/// }
/// let page = AsyncOperation(HTTPData(url).transport(OurStack()))
/// ```
///
/// A transport sends one request and brings its answer, whatever the status: the procedures follow redirects (see
/// ``RedirectPolicy``), and judge the answer (see ``ResponseValidation``).
public protocol HTTPTransport: Sendable {
    /// Sends a request, and returns when the head of the answer is there.
    ///
    /// When the calling task is cancelled, the request is given up. The addresses that it is called with have the
    /// scheme http or https, and a host. `timeoutInterval` of the request is how long nothing may come or go.
    ///
    /// - Parameters:
    ///   - request: Where to, with its method and header fields.
    ///   - body: What is sent, in place of the request's own `httpBody`. Nil: that is sent, if there is one.
    ///   - sent: To be called, from any thread, with how many bytes of the body have been sent so far.
    /// - Throws: ``HTTPError``, or `CancellationError` after a cancel.
    func send(
        _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (_ count: Int64) -> Void
    ) async throws -> HTTPAnswer
}

#if os(Linux)
    /// What sends requests unless a procedure says otherwise: libcurl, because URLSession on Linux ends the process on
    /// some answers.
    public typealias DefaultHTTPTransport = CurlTransport
#else
    /// What sends requests unless a procedure says otherwise.
    public typealias DefaultHTTPTransport = URLSessionTransport
#endif

extension HTTPTransport where Self == DefaultHTTPTransport {
    /// One transport for all requests of the process that say nothing else: libcurl on Linux, URLSession on Apple's
    /// platforms.
    public static var shared: DefaultHTTPTransport { DefaultHTTPTransport.shared }
}

/// The body of a request.
@nonexhaustive
public enum HTTPRequestBody: Sendable {
    /// These bytes.
    case data(Data)
    /// The content of a file, which is read while it is sent.
    case file(URL)
    /// Bytes that are made while they are sent.
    case stream(HTTPBodyStream)
}

/// What a server answers: the head is there, the body comes while it is read.
public struct HTTPAnswer: Sendable {
    /// Status and headers.
    public let head: HTTPHead
    /// To be read once. If nobody reads it and the last copy of this is gone, the transfer is given up.
    public let body: HTTPBody

    /// Pairs a head with a body.
    public init(head: HTTPHead, body: HTTPBody) {
        self.head = head
        self.body = body
    }
}
