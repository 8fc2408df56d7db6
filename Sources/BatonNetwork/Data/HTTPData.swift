public import Baton
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Sends a request, and has the whole body of the answer in memory.
///
/// ```swift
/// let page = AsyncOperation(HTTPData("https://example.org")).retryHTTP(attempts: 4)
/// let text = page.then { String(decoding: $0.data, as: UTF8.self) }
/// ```
///
/// It throws ``HTTPError``. Its progress counts bytes of the body, as many as the server has promised in all.
public struct HTTPData: HTTPProcedure {
    /// How it is sent and judged.
    public var options: HTTPOptions
    /// More bytes than this are ``HTTPError/Reason/bodyTooLarge(limit:)``: 64 MB, if nothing else is said.
    public var sizeLimit = 64 * 1024 * 1024

    /// Gets what is at an address.
    public init(_ url: URL) { self.init(URLRequest(url: url)) }

    /// Sends a request, with its `httpBody` if it has one.
    public init(_ request: URLRequest) { options = HTTPOptions(request) }

    /// Gets what is at an address; a bad one is found when this is run.
    public init(_ address: String) { options = HTTPOptions(address) }

    /// Sets how many bytes the body may have.
    public func sizeLimit(_ limit: Int) -> HTTPData {
        var copy = self
        copy.sizeLimit = max(0, limit)
        return copy
    }

    /// Sends the request and collects the answer.
    public func execute(in context: OperationContext) async throws -> HTTPResponse {
        let (options, limit, progress) = (options, sizeLimit, context.progress)
        return try await HTTPCall(options: options).run { answer in
            try await answer.response(options, limit) { progress.report(completed: $0, of: $1) }
        }
    }
}

/// A whole answer.
public struct HTTPResponse: Sendable, Hashable {
    /// The body.
    public let data: Data
    /// Status and headers.
    public let head: HTTPHead

    /// Puts an answer together; for tests.
    public init(data: Data, head: HTTPHead) {
        self.data = data
        self.head = head
    }

    /// The status code.
    public var status: Int { head.status }

    /// The header fields.
    public var headers: HTTPHeaders { head.headers }
}

extension HTTPAnswer {
    /// A good answer with all of its body.
    func response(
        _ options: HTTPOptions, _ limit: Int, _ progress: (_ count: Int, _ total: Int?) -> Void = { _, _ in }
    ) async throws -> HTTPResponse {
        try await options.validation.check(self, of: options.request)
        // The length in the head of an answer without a body is that of another one (RFC 9110, 8.6).
        let hasBody = options.request.httpMethod?.uppercased() != "HEAD" && ![204, 304].contains(head.status)
        let total = hasBody ? head.contentLength : nil
        if let total, total > limit { throw HTTPError(.bodyTooLarge(limit: limit), options.request, after: head) }
        let data = try await body.collect(upTo: limit) { progress($0, total.map(Int.init(clamping:))) }
        if data.count > limit { throw HTTPError(.bodyTooLarge(limit: limit), options.request, after: head) }
        return HTTPResponse(data: data, head: head)
    }
}
