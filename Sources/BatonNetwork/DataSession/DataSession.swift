public import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends the request that a ``ResultParsing`` describes, and lets it parse the response.
///
/// ```swift
/// let ticket = AsyncOperation(DataSession(TicketQuery(user: "ada")))
/// ```
public struct DataSession<Query: ResultParsing>: Procedure {
    private let query: Query

    /// Creates a procedure for a query.
    ///
    /// - Parameter query: The query whose request is sent and whose parser is called.
    public init(_ query: Query) { self.query = query }

    /// Sends the request and calls the query's parser once, even if there is no response.
    ///
    /// - Parameter context: The context of the running operation.
    /// - Returns: The result of the parser.
    /// - Throws: Any error that the parser throws. An error of the request is passed to the parser instead.
    public func execute(in context: OperationContext) async throws -> Query.ParsedResult {
        let response: HTTPResponse
        do {
            var data = HTTPData(request).validation(.none).transport(query.transport)
            data = data.deadline(query.deadline).timeout(query.timeout)
            for (name, value) in query.headers { data = data.header(name, value) }
            response = try await data.execute(in: context)
        } catch {
            return try await query.parseResult(data: nil, response: nil, error: error)
        }
        return try await query.parseResult(data: response.data, response: response.head, error: nil)
    }

    private var request: URLRequest {
        var request = URLRequest(url: query.url, cachePolicy: query.cachePolicy)
        request.httpMethod = query.method
        request.httpBody = query.body
        return request
    }
}
