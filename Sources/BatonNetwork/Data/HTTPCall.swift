internal import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One request, which is sent and validated according to its options.
struct HTTPCall: Sendable {
    let options: HTTPOptions
    /// The clock that measures the deadline, and the idle limit of the transport.
    let time: TimeSource

    /// Sends the request within the deadline, and passes the response to a closure that reads it.
    func run<Value: Sendable>(
        body: HTTPRequestBody? = nil, sent: @escaping @Sendable (Int64) -> Void = { _ in },
        _ read: @escaping @Sendable (HTTPAnswer) async throws -> Value
    ) async throws -> Value {
        try check(body)
        return try await withinDeadline { try await send(body, sent: sent, read) }
    }

    /// Sends the request, whatever the deadline, and passes the response to a closure that reads it.
    func send<Value: Sendable>(
        _ body: HTTPRequestBody? = nil, sent: @escaping @Sendable (Int64) -> Void = { _ in },
        _ read: @Sendable (HTTPAnswer) async throws -> Value
    ) async throws -> Value {
        guard body?.stream != nil else { return try await sendInScope(body, sent: sent, read) }
        return try await UploadScope.open { try await sendInScope(body, sent: sent, read) }
    }

    private func sendInScope<Value: Sendable>(
        _ body: HTTPRequestBody?, sent: @escaping @Sendable (Int64) -> Void,
        _ read: @Sendable (HTTPAnswer) async throws -> Value
    ) async throws -> Value {
        var target: URL?
        do {
            let answer = try await TransferTime.measured(by: time) {
                try await options.send(body, redirectedTo: &target, sent: sent)
            }
            return try await read(answer)
        } catch let error as HTTPError where !error.isOfStream {
            throw target.map { error.redirected(to: $0, from: options.request) } ?? error
        }
    }

    /// Calls a closure that sends all requests of one run, which have one deadline together.
    func withinDeadline<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await withDeadline(body)
        } catch let error as HTTPError where error.isRefusal {
            // A cancellation ends the wait for the beginning of the refused body, and comes before the refusal.
            try Task.checkCancellation()
            throw error
        }
    }

    /// Calls a closure of the user's without the task-locals with which a call tells the transport its limits and its
    /// scope. Requests that the closure sends are not part of the call.
    static func withoutTaskLocals<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await TransferDeadline.$current.withValue(nil) {
            try await TransferTime.$current.withValue(nil) {
                try await UploadScope.$current.withValue(nil) { try await body() }
            }
        }
    }

    /// Throws if the request cannot be sent. URLSession traps on some such requests.
    func check(_ body: HTTPRequestBody? = nil) throws {
        let request = options.request
        if let address = options.invalidAddress { throw HTTPError(invalidAddress: address, request) }
        guard let url = request.url, url.isHTTP else {
            throw HTTPError(invalidAddress: options.givenURL, request)
        }
        if let problem = options.invalidFields.values.min() ?? request.problem(hasBody: body != nil) {
            throw HTTPError(.invalidRequest(problem), request)
        }
        if let limit = options.deadline, limit < .zero {
            throw HTTPError(.invalidRequest("a deadline of \(limit) is negative"), request)
        }
        if case .file(let file)? = body { try File.openUpload(file, request).close() }
    }

    // MARK: The deadline

    private enum Event<Value: Sendable>: Sendable {
        case value(Value)
        case failure(any Error)
        case late
        case sleeperEnded
    }

    private func withDeadline<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit = options.deadline else { return try await body() }
        let end = time.now + limit.bounded
        let deadline = TransferDeadline(limit)
        return try await withThrowingTaskGroup(of: Event<Value>.self) { group in
            group.addTask {
                await TransferDeadline.$current.withValue(deadline) {
                    do { return .value(try await body()) } catch { return .failure(error) }
                }
            }
            group.addTask {
                do { try await time.sleep(until: end) } catch { return .sleeperEnded }
                return .late
            }
            while let event = try await group.next() {
                switch event {
                case .value(let value):
                    group.cancelAll()
                    return value
                case .failure(let error):
                    group.cancelAll()
                    // The status of a refused response says more than a deadline that ended while its body was read.
                    let isRefusal = (error as? HTTPError)?.isRefusal ?? false
                    if deadline.isOver, !isRefusal { throw HTTPError(late: error, limit, options.request) }
                    throw error
                case .late:
                    deadline.end()
                    group.cancelAll()
                case .sleeperEnded: break
                }
            }
            throw CancellationError()
        }
    }
}

extension URLRequest {
    /// Returns the reason why a request cannot be sent, or would not mean what it seems to mean; nil if it can be sent.
    fileprivate func problem(hasBody: Bool) -> String? {
        let method = httpMethod ?? "GET"
        if hasBody || httpBody != nil || httpBodyStream != nil,
            ["GET", "HEAD", "TRACE"].contains(method.uppercased())
        {
            return "a \(method) has no body. Use POST or PUT"
        }
        if method.uppercased() == "CONNECT" {
            return "CONNECT asks a proxy for a tunnel. The transport does so by itself: give it a proxy"
        }
        if method.isEmpty || !method.utf8.allSatisfy(\.isTokenCharacter) { return "‘\(method)’ is not a method" }
        for (name, value) in allHTTPHeaderFields ?? [:] {
            if let problem = HTTPHeaders.problem(name, value) { return problem }
        }
        return nil
    }
}

extension HTTPHeaders {
    /// Returns the reason why a field cannot be sent, or nil if it can. Text after a line end would become another
    /// field, or another request.
    static func problem(_ name: String, _ value: String) -> String? {
        if name.isEmpty || !name.utf8.allSatisfy(\.isTokenCharacter) { return "‘\(name)’ is not a header field name" }
        if value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) {
            return "the header field \(name) has a line end or another control character in it"
        }
        return nil
    }
}

extension UInt8 {
    /// A Boolean value that indicates whether the byte may be part of a token (RFC 9110, 5.6.2).
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}

extension HTTPError {
    /// Creates the error of a request whose deadline has ended.
    ///
    /// - Parameter error: The error of the transport, which may say that no connection existed.
    fileprivate init(late error: any Error, _ limit: Duration, _ request: URLRequest) {
        self.init(.deadlineExceeded(after: limit), request)
        isBeforeTheConnection = (error as? HTTPError)?.failedBeforeSending ?? false
    }

    /// Creates the error of a request whose text is not a URL.
    fileprivate init(invalidAddress text: String, _ request: URLRequest) {
        var request = request
        request.url = nil
        self.init(.invalidURL(text.withoutSecretsOfAddress), request)
    }

    /// A Boolean value that indicates whether the server has refused the request itself, and not one on which the
    /// stream of its body has failed.
    fileprivate var isRefusal: Bool {
        if case .refused = reason { return !isOfStream }
        return false
    }
}

/// The deadline of the requests that a task sends. When it is over, their task is cancelled.
///
/// It is a task-local, so that it also reaches a transport that wraps another one.
final class TransferDeadline: Sendable {
    @TaskLocal static var current: TransferDeadline?

    private struct State {
        var isOver = false
        /// A Boolean value that indicates whether a part of one of the requests may have reached a server.
        var hasBegunRequest = false
    }

    let limit: Duration
    private let state = Locked(State())

    init(_ limit: Duration) { self.limit = limit }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// A Boolean value that indicates whether the deadline is over and, as far as the transports have noted requests,
    /// no part of one has reached a server.
    var isOverBeforeRequest: Bool { state.withLock { $0.isOver && !$0.hasBegunRequest } }

    /// Notes that the deadline is over. Called before the task is cancelled.
    func end() { state.withLock { $0.isOver = true } }

    /// Notes that a part of a request may reach a server from now on. Called by transports.
    func requestBegins() { state.withLock { $0.hasBegunRequest = true } }
}

/// The clock that measures the idle limit of the requests that a task sends.
///
/// It is a task-local, so that it also reaches a transport that wraps another one.
enum TransferTime {
    /// Nil stands for the system's continuous clock.
    @TaskLocal static var current: TimeSource?

    /// Calls a closure whose requests are measured by a clock.
    static func measured<Value: Sendable>(
        by time: TimeSource, _ body: () async throws -> Value
    ) async throws -> Value {
        let time = time.isContinuous ? nil : time
        if time == nil, current == nil { return try await body() }
        return try await $current.withValue(time) { try await body() }
    }
}
