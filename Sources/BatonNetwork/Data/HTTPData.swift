public import Baton
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Sends a request, and reads the whole body of the response into memory.
///
/// ```swift
/// let page = AsyncOperation(HTTPData("https://example.org")).retryHTTP(attempts: 4)
/// let text = page.then { String(decoding: $0.data, as: UTF8.self) }
/// ```
///
/// The progress counts the bytes of the body, out of the number that the server has promised.
public struct HTTPData: HTTPProcedure {
    /// Options that say how the request is sent and how its response is validated.
    public var options: HTTPOptions
    /// The largest body of a response, in bytes: 64 MB by default. A larger one is an error,
    /// ``HTTPError/Reason/bodyTooLarge(limit:)``. A negative number counts as 0.
    public var sizeLimit = 64 * 1024 * 1024 {
        didSet { sizeLimit = max(0, sizeLimit) }
    }

    /// Sends a GET to a URL.
    ///
    /// - Parameter url: The URL, with the scheme http or https.
    public init(_ url: URL) { self.init(URLRequest(url: url)) }

    /// Sends a request, with its `httpBody` if it has one.
    ///
    /// - Parameter request: The request to send.
    public init(_ request: URLRequest) { options = HTTPOptions(request) }

    /// Sends a GET to the URL that a string contains. An invalid string is an error of the run.
    ///
    /// - Parameter address: The text of a URL with the scheme http or https.
    public init(_ address: String) { options = HTTPOptions(address) }

    /// Sets the largest body of a response.
    ///
    /// - Parameter limit: The largest number of bytes. A negative number counts as 0.
    /// - Returns: A changed copy.
    public func sizeLimit(_ limit: Int) -> HTTPData {
        var copy = self
        copy.sizeLimit = max(0, limit)
        return copy
    }

    /// Sends the request and reads the response.
    ///
    /// - Parameter context: The context of the running operation.
    /// - Returns: The head and the body of the response.
    /// - Throws: ``HTTPError``; `CancellationError` after a cancellation.
    public func execute(in context: OperationContext) async throws -> HTTPResponse {
        let (options, limit, progress) = (options, sizeLimit, context.progress)
        return try await HTTPCall(options: options, time: options.time(in: context)).run { answer in
            try await answer.response(options, limit) { progress.report(completed: $0, of: $1) }
        }
    }
}

/// A response whose whole body is in memory.
public struct HTTPResponse: Sendable, Hashable {
    /// The body of the response.
    public let data: Data
    /// The status and the header fields of the response.
    public let head: HTTPHead

    /// Creates a response, for tests.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - head: The head.
    public init(data: Data, head: HTTPHead) {
        self.data = data
        self.head = head
    }

    /// The status code of the response.
    public var status: Int { head.status }

    /// The header fields of the response.
    public var headers: HTTPHeaders { head.headers }
}

extension HTTPAnswer {
    /// Validates the response, and returns it with its whole body.
    func response(
        _ options: HTTPOptions, _ limit: Int, _ progress: (_ count: Int, _ total: Int?) -> Void = { _, _ in }
    ) async throws -> HTTPResponse {
        try await options.validation.check(self, of: options.request)
        let total = head.bodyLength(for: options.request)
        if let total, total > limit { throw HTTPError(.bodyTooLarge(limit: limit), options.request, after: head) }
        let data = try await body.collect(upTo: limit) { progress($0, total.map(Int.init(clamping:))) }
        if data.count > limit { throw HTTPError(.bodyTooLarge(limit: limit), options.request, after: head) }
        return HTTPResponse(data: data, head: head)
    }
}
