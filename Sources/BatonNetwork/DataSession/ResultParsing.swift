public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A query to a server, as a value that describes the request and parses the response.
///
/// ```swift
/// struct Weather: ResultParsing {
///     let url: URL
///     func parseResult(data: Data?, response: HTTPHead?, error: (any Error)?) throws -> Forecast {
///         if let error { throw error }
///         return try JSONDecoder().decode(Forecast.self, from: data ?? Data())
///     }
/// }
/// let forecast = AsyncOperation(DataSession(Weather(url: url)))
/// ```
///
/// The idea comes from Atelier Clockwork's protocol of the same name. Only ``url`` and
/// ``parseResult(data:response:error:)`` have no default.
public protocol ResultParsing<ParsedResult>: Sendable {
    /// The type of the parsed result.
    associatedtype ParsedResult: Sendable

    /// The URL of the request.
    var url: URL { get }
    /// The method of the request: GET by default.
    var method: String { get }
    /// The header fields of the request: none by default.
    var headers: [String: String] { get }
    /// The body of the request: none by default.
    var body: Data? { get }
    /// The longest time during which no byte arrives or is sent: 60 seconds by default.
    var timeout: Duration { get }
    /// The longest time of the request and its response together. It is nil by default, which means that there is no
    /// limit.
    var deadline: Duration? { get }
    /// The cache policy of the request, for transports that have a cache.
    var cachePolicy: URLRequest.CachePolicy { get }
    /// The transport that sends the request: `HTTPTransport.shared` by default.
    var transport: any HTTPTransport { get }

    /// Parses the response. It is called once for each run, whatever has happened, on a task of the operation's queue.
    ///
    /// An error that this method throws is the operation's error. A response with any status is passed to this method.
    ///
    /// - Parameters:
    ///   - data: The body, or nil if there is an error.
    ///   - response: The head, or nil if there is an error.
    ///   - error: The reason why there is no response: an ``HTTPError``, or `CancellationError` after a cancellation.
    /// - Returns: The parsed result.
    /// - Throws: Any error.
    func parseResult(data: Data?, response: HTTPHead?, error: (any Error)?) async throws -> ParsedResult
}

extension ResultParsing {
    /// The default method, GET.
    public var method: String { "GET" }
    /// No header fields.
    public var headers: [String: String] { [:] }
    /// No body.
    public var body: Data? { nil }
    /// The default limit, 60 seconds.
    public var timeout: Duration { .seconds(60) }
    /// No deadline.
    public var deadline: Duration? { nil }
    /// The policy of the URL's protocol.
    public var cachePolicy: URLRequest.CachePolicy { .useProtocolCachePolicy }
    /// The default transport, ``HTTPTransport/shared``.
    public var transport: any HTTPTransport { .shared }
}
