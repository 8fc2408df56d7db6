public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A type that sends HTTP requests: with libcurl on Linux, URLSession on Apple platforms, or any other HTTP stack.
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
/// A transport sends one request and returns the response, whatever its status. The procedures follow redirects (see
/// ``RedirectPolicy``) and validate the response (see ``ResponseValidation``).
public protocol HTTPTransport: Sendable {
    /// Sends a request, and returns when the head of the response has arrived.
    ///
    /// When the calling task is cancelled, the transport cancels the request. The URL of the request has the scheme
    /// http or https, and a host. The request's `timeoutInterval` is the longest time during which no byte may arrive
    /// or be sent.
    ///
    /// - Parameters:
    ///   - request: The URL, the method and the header fields.
    ///   - body: The body to send. If it is nil, the request's own `httpBody` is sent, if there is one.
    ///   - sent: A closure that the transport calls, from any thread, with the number of bytes of the body that have
    ///     been sent so far.
    /// - Returns: The head of the response, with a body that arrives while it is read.
    /// - Throws: ``HTTPError``, or `CancellationError` after a cancellation.
    func send(
        _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (_ count: Int64) -> Void
    ) async throws -> HTTPAnswer
}

#if os(Linux)
    /// The transport of procedures that do not specify one. It is libcurl, because URLSession on Linux crashes on some
    /// responses.
    public typealias DefaultHTTPTransport = CurlTransport
#else
    /// The transport of procedures that do not specify one.
    public typealias DefaultHTTPTransport = URLSessionTransport
#endif

extension HTTPTransport where Self == DefaultHTTPTransport {
    /// The transport that all requests of the process share by default.
    public static var shared: DefaultHTTPTransport { DefaultHTTPTransport.shared }
}

/// A response whose head has arrived, and whose body arrives while it is read.
public struct HTTPAnswer: Sendable {
    /// The status and the header fields of the response.
    public let head: HTTPHead
    /// The body of the response, which can be read once. If it is released before it has been read, the transfer is
    /// cancelled.
    public let body: HTTPBody

    /// Creates a response. Transports call this.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - body: The body of the response.
    public init(head: HTTPHead, body: HTTPBody) {
        self.head = head
        self.body = body
    }
}

// MARK: - Body of a request

/// The body of a request.
@nonexhaustive
public enum HTTPRequestBody: Sendable {
    /// The given bytes.
    case data(Data)
    /// The content of a file, which is read while it is sent.
    case file(URL)
    /// Bytes that are produced while they are sent.
    case stream(HTTPBodyStream)
}

extension HTTPRequestBody {
    var stream: HTTPBodyStream? {
        if case .stream(let stream) = self { return stream }
        return nil
    }
}
