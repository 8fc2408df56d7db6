public import Baton
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Sends bytes, a file, a form, or what a sequence makes, and has the whole body of the answer in memory.
///
/// ```swift
/// let receipt = AsyncOperation(HTTPUpload(file: picture, to: url).header("Content-Type", "image/png"))
/// ```
///
/// A file is read while it is sent, so that it takes little memory whatever its size. The method is POST, if the
/// request is none of its own. The progress counts the bytes that are sent. It throws ``HTTPError``.
public struct HTTPUpload: HTTPProcedure {
    /// How it is sent and judged.
    public var options: HTTPOptions
    /// What is sent.
    public let body: HTTPRequestBody
    /// More bytes of the answer than this are ``HTTPError/Reason/bodyTooLarge(limit:)``: 64 MB, if nothing else is
    /// said.
    public var sizeLimit = 64 * 1024 * 1024

    /// Sends bytes.
    public init(_ data: Data, to url: URL) { self.init(.data(data), with: Self.post(url)) }

    /// Sends a file.
    public init(file: URL, to url: URL) { self.init(.file(file), with: Self.post(url)) }

    /// Sends what a sequence makes.
    public init(_ stream: HTTPBodyStream, to url: URL) { self.init(.stream(stream), with: Self.post(url)) }

    /// Sends a form.
    public init(_ form: MultipartForm, to url: URL) {
        self.init(form.body, with: Self.post(url))
        options.request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
    }

    /// Sends a body with a request, in place of the request's own.
    public init(_ body: HTTPRequestBody, with request: URLRequest) {
        options = HTTPOptions(request)
        self.body = body
    }

    /// Sets how many bytes the body of the answer may have.
    public func sizeLimit(_ limit: Int) -> HTTPUpload {
        var copy = self
        copy.sizeLimit = max(0, limit)
        return copy
    }

    private static func post(_ url: URL) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        return request
    }

    /// Sends the body and collects the answer.
    public func execute(in context: OperationContext) async throws -> HTTPResponse {
        let (options, limit, progress) = (options, sizeLimit, context.progress)
        try HTTPCall(options: options).check(body)
        let total = try body.count(options.request)
        progress.report(completed: 0, of: total)
        return try await HTTPCall(options: options).run(body: body) { sent in
            progress.report(completed: Int(clamping: sent), of: total)
        } _: { answer in
            try await answer.response(options, limit)
        }
    }
}

extension HTTPRequestBody {
    /// How many bytes there are; nil if that is not known.
    fileprivate func count(_ request: URLRequest) throws -> Int? {
        switch self {
        case .data(let data): return data.count
        case .stream(let stream): return try stream.pass(for: request).length.map { Int(clamping: $0) }
        case .file(let url):
            let file = try File.openUpload(url, request)
            defer { file.close() }
            return file.size.map { Int(clamping: $0) }
        }
    }
}
