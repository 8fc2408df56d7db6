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
        var target: URL?
        do {
            let answer = try await TransferTime.measured(by: time) {
                try await options.send(body, redirectedTo: &target, sent: sent)
            }
            return try await read(answer)
        } catch let error as HTTPError {
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

    /// Throws if the request cannot be sent. URLSession traps on some such requests.
    func check(_ body: HTTPRequestBody? = nil) throws {
        let request = options.request
        if let address = options.invalidAddress { throw HTTPError(invalidAddress: address, request) }
        guard let url = request.url, url.isHTTP else {
            throw HTTPError(invalidAddress: request.url?.absoluteString ?? "", request)
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
        return try await withThrowingTaskGroup(of: Event<Value>.self) { group in
            group.addTask {
                do { return .value(try await body()) } catch { return .failure(error) }
            }
            group.addTask {
                do { try await time.sleep(until: end) } catch { return .sleeperEnded }
                return .late
            }
            var isLate = false
            while let event = try await group.next() {
                switch event {
                case .value(let value):
                    group.cancelAll()
                    return value
                case .failure(let error):
                    group.cancelAll()
                    // The status of a refused response says more than a deadline that ended while its body was read.
                    let isRefusal = (error as? HTTPError)?.isRefusal ?? false
                    if isLate, !isRefusal { throw HTTPError(.deadlineExceeded(after: limit), options.request) }
                    throw error
                case .late:
                    isLate = true
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
    /// Creates the error of a request whose text is not a URL.
    fileprivate init(invalidAddress text: String, _ request: URLRequest) {
        var request = request
        request.url = nil
        self.init(.invalidURL(text.withoutSecretsOfAddress), request)
    }

    fileprivate var isRefusal: Bool {
        if case .refused = reason { return true }
        return false
    }
}
