internal import BatonNetwork
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The resources of a case: a server of its own, and the transport to try.
struct Trial: Sendable {
    let server: FaultServer
    let transport: any HTTPTransport
    /// A second, independent transport of the same type, for cases that compare two. Nil if the caller supplied only
    /// one.
    let other: (any HTTPTransport)?

    /// The outcome of a request.
    enum Outcome: CustomStringConvertible {
        case answer(HTTPHead, Data)
        case error(HTTPError.Reason)
        case cancelled
        case other(any Error)

        init(_ error: any Error) {
            switch error {
            case let error as HTTPError: self = .error(error.reason)
            case is CancellationError: self = .cancelled
            default: self = .other(error)
            }
        }

        var description: String {
            switch self {
            case .answer(let head, let body):
                "the answer \(head.status) with a body of \(body.count) \(body.count == 1 ? "byte" : "bytes")"
            case .error(let reason): "the error ‘\(reason)’"
            case .cancelled: "a CancellationError"
            case .other(let error): "an error that is not an HTTPError: \(error)"
            }
        }
    }

    // MARK: Sending

    /// Returns a request for `target` on the server of the case.
    ///
    /// The request neither sends nor stores cookies, because cookies are scoped to a host and not to a port, so they
    /// would leak from one case into the next.
    func request(_ target: String = "/", _ method: String = "GET", _ fields: [String: String] = [:]) -> URLRequest {
        var request = URLRequest(url: server.url(target))
        request.httpMethod = method
        request.httpShouldHandleCookies = false
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    /// Sends a request, and reads the whole body.
    ///
    /// - Parameter eachPiece: A closure that is called after each piece that was read.
    func send(
        _ request: URLRequest, _ body: HTTPRequestBody? = nil, by transport: (any HTTPTransport)? = nil,
        eachPiece: () -> Void = {}
    ) async -> Outcome {
        do {
            let answer = try await (transport ?? self.transport).send(request, body: body) { _ in }
            var data = Data()
            for try await piece in answer.body {
                data.append(piece)
                eachPiece()
            }
            return .answer(answer.head, data)
        } catch {
            return Outcome(error)
        }
    }

    /// Sends a GET to a target, and reads the whole body.
    func get(_ target: String = "/") async -> Outcome { await send(request(target)) }

    /// Sends a GET that the server answers with these bytes, after which it closes or resets the connection.
    func reply(_ bytes: String, then end: FaultStep = .close) async -> Outcome {
        await reply(Data(bytes.utf8), then: end)
    }

    /// Sends a GET that the server answers with these bytes, after which it closes or resets the connection.
    func reply(_ bytes: Data, then end: FaultStep = .close) async -> Outcome {
        server.on("/", .send(bytes), end)
        return await get()
    }

    // MARK: Checking

    /// The error of a case when the transport does not meet the requirement.
    struct RequirementFailure: Error, CustomStringConvertible {
        let description: String
    }

    func failure(_ text: String) -> RequirementFailure { RequirementFailure(description: text) }

    func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw RequirementFailure(description: text()) }
    }

    func requireEqual<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
        if found != expected {
            throw RequirementFailure(description: "\(what) should be \(expected), but was \(found)")
        }
    }

    /// Requires that the outcome is an answer with this status and body, and returns its head.
    @discardableResult
    func requireAnswer(
        _ outcome: Outcome, _ status: Int = 200, body: String? = nil, to what: String? = nil
    ) throws -> HTTPHead {
        let prefix = what.map { "\($0): " } ?? ""
        guard case .answer(let head, let data) = outcome else {
            throw failure("\(prefix)expected the answer \(status), but got \(outcome)")
        }
        try require(head.status == status, "\(prefix)the status should be \(status), but was \(head.status)")
        if let body, data != Data(body.utf8) {
            let text = String(decoding: data.prefix(100), as: UTF8.self)
            let unit = data.count == 1 ? "byte" : "bytes"
            throw failure("\(prefix)the body should be ‘\(body)’, but was ‘\(text)’ (\(data.count) \(unit))")
        }
        return head
    }

    /// Returns the first request that the server has received, and requires that there is one.
    func requireRequest() throws -> ReceivedRequest {
        guard let request = server.requests.first else { throw failure("the server received no request") }
        return request
    }

    /// Requires that the body of a request is complete and consists of the first `count` bytes of the pattern.
    func requirePattern(_ request: ReceivedRequest, _ count: Int) throws {
        try require(request.isBodyComplete, "the body is not complete")
        try requireEqual(request.bodyCount, count, "the number of bytes")
        try require(PatternBytes.matches(request.body, from: 0), "the bytes are not those that were sent")
    }

    /// The kinds of errors that cases require.
    enum Kind: String {
        case broken = "connectionBroken"
        case tooShort = "bodyTooShort"
        case invalid = "invalidAnswer"
        case refused = "connectionRefused"
        case noHost = "hostNotFound"
        case timedOut

        init?(_ reason: HTTPError.Reason) {
            switch reason {
            case .connectionBroken: self = .broken
            case .bodyTooShort: self = .tooShort
            case .invalidAnswer: self = .invalid
            case .connectionRefused: self = .refused
            case .hostNotFound: self = .noHost
            case .timedOut: self = .timedOut
            default: return nil
            }
        }
    }

    func requireError(_ outcome: Outcome, _ kinds: Kind..., for what: String? = nil) throws {
        if case .error(let reason) = outcome, let kind = Kind(reason), kinds.contains(kind) { return }
        let expected = kinds.map { ".\($0.rawValue)" }.joined(separator: " or ")
        throw failure((what.map { "\($0): " } ?? "") + "expected \(expected), but got \(outcome)")
    }

    /// Requires an error that says that the answer was cut short.
    func requireBroken(_ outcome: Outcome, for what: String? = nil) throws {
        try requireError(outcome, .broken, .tooShort, for: what)
    }
}

// MARK: - Files

/// A temporary file with a unique name. It is removed when the object is released.
final class TemporaryFile: Sendable {
    let url: URL

    init(_ content: Data) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        try content.write(to: url)
    }

    /// Makes a sparse file of zeros, which takes no space on the disk.
    init(zeros count: Int) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        try Data().write(to: url)
        try truncate(to: count)
    }

    func truncate(to count: Int) throws {
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: UInt64(count))
        try handle.close()
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
