#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends requests with URLSession.
///
/// What has come and was not read takes little memory: a quarter of a megabyte for each request, and beyond that a file
/// without a name in the folder for temporary ones, which no other HTTP stack has to do; but URLSession cannot pause a
/// transfer on Linux (its `suspend()` there begins the request again). Connections are kept for later requests, and
/// closed with the transport.
///
/// An ``HTTPBodyStream`` is written to a temporary file before it is sent.
///
/// It is the default on Apple's platforms. On Linux, ``CurlTransport`` is, because Foundation's URLSession has faults
/// there that nothing around it can mend:
///
/// - A connection that the server closes inside the head of an answer, and trailers after a chunked body, end the
///   process.
/// - A cancel in the middle of an upload, or an idle limit that ends inside a head, may end the process.
/// - An answer of 401 with `WWW-Authenticate: Basic realm=…` does not end before the time limit.
/// - A request with a body on a kept connection that the server closes at that moment hangs until its time limit, or is
///   sent twice.
/// - While an answer is awaited, a whole core is busy.
/// - Legal heads (`Content-Length:2`, values of blanks, bytes that are not ASCII) count as broken connections, as do a
///   head of more than 300 KB and an unknown `Content-Encoding`; several values of one field are one; an answer after
///   two interim ones is lost.
/// - Addresses with an IPv6 literal cannot be asked. Proxies are not named in errors.
/// - While a head arrives slowly, the idle limit counts.
/// - A file that gets shorter while it is sent is noticed at the idle limit; a cancel can take 0.6 s.
public struct URLSessionTransport: HTTPTransport {
    /// One for all, with the usual configuration.
    public static let shared = URLSessionTransport()

    private let session: Session

    /// A transport with a session of its own, and so with its own connections.
    ///
    /// Without a configuration it is URLSession's default, but without a limit for connections to one host (see
    /// ``OperationCondition/perHost(_:to:)``), without its cache, which on Linux answers from memory what the server
    /// never said to keep, and with cookies of its own, in memory: on Linux all programs of one folder share a file of
    /// them that everybody can read.
    ///
    /// - Parameter configuration: Its `timeoutIntervalForRequest` and `timeoutIntervalForResource` do not count: the
    ///   request's own `timeoutInterval` does, and ``HTTPProcedure/deadline(_:clock:)``.
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
        try Task.checkCancellation()
        let (body, file) = try await withStreamInFile(body, request)
        let exchange = HTTPTransaction(request, sent: sent)
        var request = request
        // ‘HTTP://’ is no address for URLSession on Linux.
        request.url = request.url?.withLowercaseScheme
        // Longer than anything: an exchange has its own limit, which URLSession's would cross.
        request.timeoutInterval = 7 * 24 * 60 * 60
        session.start(exchange, request, body)
        let reader = ExchangeReader(exchange, in: session, sending: file)
        let head = try await reader.head()
        return HTTPAnswer(head: head, body: HTTPBody { try await reader.next() })
    }

    /// URLSession can be given a stream, but cannot tell it to begin again, which Foundation on Linux does.
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
            return (.file(URL(fileURLWithPath: file.file.path)), file)
        } catch let error as FileError {
            throw HTTPError(error, request, isSent: false)
        }
    }
}

/// A file that goes with its last reference.
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

/// Gives the transfer up when nobody reads it any more, and keeps the session until then.
private final class ExchangeReader: Sendable {
    private let exchange: HTTPTransaction
    private let session: Session
    private let file: TemporaryFile?

    init(_ exchange: HTTPTransaction, in session: Session, sending file: TemporaryFile?) {
        self.exchange = exchange
        self.session = session
        self.file = file
    }

    func head() async throws -> HTTPHead { try await exchange.head() }

    func next() async throws -> Data? { try await exchange.next() }

    deinit { exchange.cancel() }
}
