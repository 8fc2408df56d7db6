public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A question to a server, as a value: the request, and what to make of the answer.
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
/// The idea is that of Atelier Clockwork's protocol of the same name. All but ``url`` and
/// ``parseResult(data:response:error:)`` has a default.
public protocol ResultParsing<ParsedResult>: Sendable {
    /// What the answer is made into.
    associatedtype ParsedResult: Sendable

    /// What is asked.
    var url: URL { get }
    /// GET by default.
    var method: String { get }
    /// None by default.
    var headers: [String: String] { get }
    /// None by default.
    var body: Data? { get }
    /// How long nothing may come or go: a minute by default.
    var timeout: Duration { get }
    /// How long all of it may take: as long as something comes, by default.
    var deadline: Duration? { get }
    /// What a cache may do; only with a transport that has one.
    var cachePolicy: URLRequest.CachePolicy { get }
    /// What sends it: `HTTPTransport.shared` by default.
    var transport: any HTTPTransport { get }

    /// Makes the answer into a result. Called once for each run, whatever has happened, on a task of the operation's
    /// queue.
    ///
    /// What it throws is the operation's error. Any status is an answer here.
    ///
    /// - Parameters:
    ///   - data: The body; nil if there is an error.
    ///   - response: The head; nil if there is an error.
    ///   - error: Why there is no answer: an ``HTTPError``, or `CancellationError` after a cancel.
    func parseResult(data: Data?, response: HTTPHead?, error: (any Error)?) async throws -> ParsedResult
}

extension ResultParsing {
    /// GET.
    public var method: String { "GET" }
    /// None.
    public var headers: [String: String] { [:] }
    /// None.
    public var body: Data? { nil }
    /// A minute.
    public var timeout: Duration { .seconds(60) }
    /// None.
    public var deadline: Duration? { nil }
    /// What the protocol of the address says.
    public var cachePolicy: URLRequest.CachePolicy { .useProtocolCachePolicy }
    /// ``HTTPTransport/shared``.
    public var transport: any HTTPTransport { .shared }
}
