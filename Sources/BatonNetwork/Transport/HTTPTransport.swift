public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// What sends requests: URLSession unless said otherwise, or any other HTTP stack.
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
/// It follows redirects, and asks nobody whether a status is a good one: ``ResponseValidation`` does.
public protocol HTTPTransport: Sendable {
    /// Sends a request, and returns when the head of the answer is there.
    ///
    /// When the calling task is cancelled, the request is given up. The addresses that it is called with have the scheme http or
    /// https, and a host. `timeoutInterval` of the request is how long nothing may come or go.
    ///
    /// - Parameters:
    ///   - request: Where to, with its method and header fields.
    ///   - body: What is sent, in place of the request's own `httpBody`. Nil: that counts.
    ///   - sent: To be called, from any thread, with how many bytes of the body have been sent so far.
    /// - Throws: ``HTTPError``, or `CancellationError` after a cancel.
    func send(
        _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (_ count: Int64) -> Void
    ) async throws -> HTTPAnswer
}

extension HTTPTransport where Self == URLSessionTransport {
    /// URLSession, with the usual configuration, but without a cache.
    public static var shared: URLSessionTransport { URLSessionTransport.shared }
}

/// The body of a request.
public enum HTTPRequestBody: Sendable {
    /// These bytes.
    case data(Data)
    /// The content of a file, which is read while it is sent.
    case file(URL)
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
