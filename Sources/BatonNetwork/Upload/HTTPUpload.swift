public import Baton
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Sends bytes, a file, a form or a stream, and reads the whole body of the response into memory.
///
/// ```swift
/// let receipt = AsyncOperation(HTTPUpload(file: picture, to: url).header("Content-Type", "image/png"))
/// ```
///
/// A file is read while it is sent, so it takes little memory whatever its size. The method is POST unless you pass a
/// `URLRequest`. The progress counts the bytes that have been sent.
public struct HTTPUpload: HTTPProcedure {
    /// Options that say how the request is sent and how its response is validated.
    public var options: HTTPOptions
    /// The body of the request.
    public let body: HTTPRequestBody
    /// The largest body of a response, in bytes: 64 MB by default. A larger one is an error,
    /// ``HTTPError/Reason/bodyTooLarge(limit:)``. A negative number counts as 0.
    public var sizeLimit = 64 * 1024 * 1024 {
        didSet { sizeLimit = max(0, sizeLimit) }
    }

    /// Sends bytes with POST.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - url: The URL that the body is sent to.
    public init(_ data: Data, to url: URL) { self.init(.data(data), with: Self.post(url)) }

    /// Sends the content of a file with POST.
    ///
    /// - Parameters:
    ///   - file: The file to send.
    ///   - url: The URL that the file is sent to.
    public init(file: URL, to url: URL) { self.init(.file(file), with: Self.post(url)) }

    /// Sends a stream with POST.
    ///
    /// - Parameters:
    ///   - stream: The stream of the body.
    ///   - url: The URL that the body is sent to.
    public init(_ stream: HTTPBodyStream, to url: URL) { self.init(.stream(stream), with: Self.post(url)) }

    /// Sends a form with POST, and sets the header field `Content-Type` accordingly.
    ///
    /// - Parameters:
    ///   - form: The form to send.
    ///   - url: The URL that the form is sent to.
    public init(_ form: MultipartForm, to url: URL) {
        self.init(form.body, with: Self.post(url))
        options.request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
    }

    /// Sends a body with a request, in place of the request's own body.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - request: The request, with its method and header fields.
    public init(_ body: HTTPRequestBody, with request: URLRequest) {
        options = HTTPOptions(request)
        self.body = body
    }

    /// Sets the largest body of a response.
    ///
    /// - Parameter limit: The largest number of bytes. A negative number counts as 0.
    /// - Returns: A changed copy.
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

    /// Sends the body and reads the response.
    ///
    /// - Parameter context: The context of the running operation.
    /// - Returns: The head and the body of the response.
    /// - Throws: ``HTTPError``, or any error that an ``HTTPBodyStream`` throws; `CancellationError` after a
    ///   cancellation.
    public func execute(in context: OperationContext) async throws -> HTTPResponse {
        let (options, limit, progress) = (options, sizeLimit, context.progress)
        let call = HTTPCall(options: options, time: options.time(in: context))
        try call.check(body)
        let total = try body.count(options.request)
        progress.report(completed: 0, of: total)
        return try await call.run(body: body) { sent in
            progress.report(completed: Int(clamping: sent), of: total)
        } _: { answer in
            try await answer.response(options, limit)
        }
    }
}

extension HTTPRequestBody {
    /// Returns the number of bytes, or nil if it is unknown.
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
