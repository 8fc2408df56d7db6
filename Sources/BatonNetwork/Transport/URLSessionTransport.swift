#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A transport that sends requests with URLSession. It is the default on Apple platforms.
///
/// Bytes that have arrived and not been read take little memory: up to 256 KB for each request are kept in memory, and
/// the rest in an unnamed temporary file. The file is needed because URLSession cannot pause a transfer on Linux, where
/// `suspend()` starts the request again. Connections are kept for later requests, and closed with the transport.
///
/// An ``HTTPBodyStream`` is written to a temporary file before it is sent.
///
/// On Linux, ``CurlTransport`` is the default, because Foundation's URLSession has defects there that a transport
/// cannot work around:
///
/// - If the server closes a connection inside the head of a response, or sends trailers after a chunked body, the
///   process crashes.
/// - A cancellation in the middle of an upload, or an idle limit that ends inside a head, may crash the process.
/// - A 401 response with `WWW-Authenticate: Basic realm=…` does not end before the time limit.
/// - If the server closes or resets a kept connection when a request with a body begins, or before it answers one, the
///   request hangs until its time limit, or is sent twice.
/// - While a response is awaited, one core is busy.
/// - Valid heads (`Content-Length:2`, empty values and values of blanks, bytes that are not ASCII, a status without a
///   reason) count as broken connections, as do a head of more than 300 KB and an unknown `Content-Encoding`. Several
///   values of a field are merged into one. A response that follows two interim responses is lost.
/// - Malformed heads and chunks, and content of several gzip members, count as broken connections. A length that does
///   not fit into 64 bits is ignored.
/// - Gzip content that is cut short counts as complete.
/// - The body of a redirect without a usable `Location` is lost.
/// - Cookies are not replaced or sent by the rules of RFC 6265, and a request without `httpShouldHandleCookies` still
///   takes part in them.
/// - URLs with an IPv6 literal do not work. Errors do not name the proxy.
/// - While a head arrives slowly, the idle limit still counts.
/// - If a file becomes shorter while it is sent, the request fails only at the idle limit. A cancellation can take more
///   than half a second.
public struct URLSessionTransport: HTTPTransport {
    /// The transport that all requests share by default on Apple platforms, with the default configuration.
    public static let shared = URLSessionTransport()

    private let session: Session

    /// Creates a transport with its own session, and so with its own connections.
    ///
    /// Without a configuration, it uses an ephemeral one, which differs from URLSession's default: The number of
    /// connections to one host is not limited (see ``OperationCondition/perHost(_:to:)``). There is no cache, because
    /// on Linux it returns stored responses that the server never said could be stored. Cookies are kept in memory,
    /// because on Linux all programs in one folder share a file of cookies that every user can read.
    ///
    /// - Parameter configuration: The configuration of the session. Its `timeoutIntervalForRequest` and
    ///   `timeoutIntervalForResource` are ignored: the request's own `timeoutInterval` and
    ///   ``HTTPProcedure/deadline(_:clock:)`` count.
    public init(configuration: URLSessionConfiguration? = nil) { session = Session(configuration ?? Self.usual) }

    private static var usual: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 10_000
        return configuration
    }

    /// Sends a request; see ``HTTPTransport/send(_:body:sent:)``.
    ///
    /// - Parameters:
    ///   - request: The URL, the method and the header fields.
    ///   - body: The body to send, or nil for the `httpBody` of the request.
    ///   - sent: A closure that is called, from any thread, with the number of bytes of the body that have been sent so
    ///     far.
    /// - Returns: The head of the response, with a body that arrives while it is read.
    /// - Throws: ``HTTPError``, or `CancellationError` after a cancellation.
    public func send(
        _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (Int64) -> Void
    ) async throws -> HTTPAnswer {
        try Task.checkCancellation()
        let (body, file) = try await withStreamInFile(body, request)
        let transaction = HTTPTransaction(request, sent: sent)
        var request = request
        // URLSession on Linux does not accept a scheme in upper case.
        request.url = request.url?.withLowercaseScheme
        // A week. The transaction enforces the request's own limit, and that of URLSession must not end before it.
        request.timeoutInterval = 7 * 24 * 60 * 60
        session.start(transaction, request, body)
        let reader = TransactionReader(transaction, in: session, sending: file)
        let head = try await reader.head()
        return HTTPAnswer(head: head, body: HTTPBody { try await reader.next() })
    }

    /// Writes a stream to a file. URLSession accepts a stream, but cannot rewind it, which Foundation on Linux needs to
    /// do.
    private func withStreamInFile(
        _ body: HTTPRequestBody?, _ request: URLRequest
    ) async throws -> (HTTPRequestBody?, TemporaryFile?) {
        guard let stream = body?.stream else { return (body, nil) }
        do {
            let file = try TemporaryFile()
            try await stream.pass(for: request).send { piece in
                try file.file.write(piece)
                return true
            }
            // A sequence may end because its task is cancelled. What it has produced is not the whole body then.
            try Task.checkCancellation()
            return (.file(URL(fileURLWithPath: file.file.path)), file)
        } catch let error as FileError {
            throw HTTPError(error, request, isSent: false)
        }
    }
}

/// A temporary file, which is removed when this object is released.
private final class TemporaryFile: Sendable {
    let file: File

    init() throws(FileError) {
        file = try .new(in: FileManager.default.temporaryDirectory.path)
    }

    deinit {
        file.close()
        File.remove(file.path)
    }
}

/// Cancels the transfer when the response and its body have been released, and keeps the session until then.
private final class TransactionReader: Sendable {
    private let transaction: HTTPTransaction
    private let session: Session
    private let file: TemporaryFile?

    init(_ transaction: HTTPTransaction, in session: Session, sending file: TemporaryFile?) {
        self.transaction = transaction
        self.session = session
        self.file = file
    }

    func head() async throws -> HTTPHead { try await transaction.head() }

    func next() async throws -> Data? { try await transaction.next() }

    deinit { transaction.cancel() }
}
