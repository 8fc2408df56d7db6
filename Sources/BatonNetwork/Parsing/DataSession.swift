public import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Asks a server what a ``ResultParsing`` wants to know.
///
/// ```swift
/// let ticket = AsyncOperation(DataSession(TicketQuery(user: "ada")))
/// ```
public struct DataSession<Query: ResultParsing>: Procedure {
    private let query: Query

    /// Asks this.
    public init(_ query: Query) { self.query = query }

    /// Sends the request, and has the answer parsed once, also when there is none.
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
