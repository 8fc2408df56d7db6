#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends requests with URLSession.
///
/// What has come and was not read takes little memory: a quarter of a megabyte for each request, and beyond that a file without a
/// name in the folder for temporary ones, which no other HTTP stack has to do; but URLSession cannot pause a transfer on Linux (its
/// `suspend()` there begins the request again). Connections are kept for later requests, and closed with the transport.
///
/// Redirects to other schemes than http and https are not followed, and one to another origin does not take along `Authorization`,
/// `Cookie` and `Host`. After 303, and of a POST after 301 and 302, what follows is a GET (of a HEAD, the same); else method and body
/// are sent once more. Where the body is a stream, that cannot be, and the redirect is the answer.
public struct URLSessionTransport: HTTPTransport {
    /// One for all, with the usual configuration.
    public static let shared = URLSessionTransport()

    private let session: Session

    /// A transport with a session of its own, and so with its own connections.
    ///
    /// Without a configuration it is URLSession's default, but without a limit for connections to one host (see
    /// ``OperationCondition/perHost(_:to:)``), without its cache, which on Linux answers from memory what the server never said to
    /// keep, and with cookies of its own, in memory: on Linux all programs of one folder share a file of them that everybody can read.
    ///
    /// - Parameter configuration: Its `timeoutIntervalForRequest` and `timeoutIntervalForResource` do not count: the request's own
    ///   `timeoutInterval` does, and ``HTTPProcedure/deadline(_:clock:)``.
    public init(configuration: URLSessionConfiguration? = nil) { session = Session(configuration ?? Self.usual) }

    private static var usual: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 10_000
        return configuration
    }

    /// See ``HTTPTransport/send(_:body:sent:)``.
    public func send(
        _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (Int64) -> Void
    ) async throws -> HTTPAnswer {
        var request = request
        for _ in 0..<Self.mostRedirects {
            let answer = try await sendOnce(request, body, sent)
            // A stream has been read by now.
            let isRepeatable = body != nil || request.httpBodyStream == nil
            guard isRepeatable, let next = request.repeated(after: answer.head) else { return answer }
            request = next
        }
        throw HTTPError(.tooManyRedirects, request)
    }

    private static let mostRedirects = 16

    private func sendOnce(
        _ request: URLRequest, _ body: HTTPRequestBody?, _ sent: @escaping @Sendable (Int64) -> Void
    ) async throws -> HTTPAnswer {
        try Task.checkCancellation()
        let exchange = Exchange(request, sent: sent)
        var request = request
        // ‘HTTP://’ is no address for URLSession on Linux.
        request.url = request.url?.withLowercaseScheme
        // Longer than anything: an exchange has its own limit, which URLSession's would cross.
        request.timeoutInterval = 7 * 24 * 60 * 60
        session.start(exchange, request, body)
        let reader = ExchangeReader(exchange, in: session)
        let head = try await reader.head()
        return HTTPAnswer(head: head, body: HTTPBody { try await reader.next() })
    }
}

/// Gives the transfer up when nobody reads it any more, and keeps the session until then.
private final class ExchangeReader: Sendable {
    private let exchange: Exchange
    private let session: Session

    init(_ exchange: Exchange, in session: Session) {
        self.exchange = exchange
        self.session = session
    }

    func head() async throws -> HTTPHead { try await exchange.head() }

    func next() async throws -> Data? { try await exchange.next() }

    deinit { exchange.cancel() }
}
