public import Baton

/// Which failed requests are worth another attempt.
///
/// ```swift
/// page.retryHTTP(attempts: 4)
/// page.retry(.http, attempts: 4) { HTTPRetry.idempotent.allows($0) }      // the same
/// ```
public struct HTTPRetry: Sendable {
    /// The methods that may be sent twice; nil for all.
    private let methods: Set<String>?
    /// A server that wants us to wait longer has its will: the operation fails.
    private var longestWait = Duration.seconds(120)

    /// Requests that may be sent twice without harm: GET, HEAD, OPTIONS, TRACE, PUT and DELETE.
    ///
    /// Other requests are sent again only if nothing of them has been sent: the host was not found, or refused the
    /// connection; with ``CurlTransport`` also if a proxy refused the tunnel, or time was up, before there was a
    /// connection. If the connection of a POST breaks, nobody knows whether the server has done its work.
    public static let idempotent = HTTPRetry(methods: ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"])

    /// All requests: for servers that notice when they are told something twice.
    public static let anyMethod = HTTPRetry(methods: nil)

    private init(methods: Set<String>?) { self.methods = methods }

    /// Gives up when the server wants us to wait longer than this: two minutes, if nothing else is said.
    public func waitingAtMost(_ longest: Duration) -> HTTPRetry {
        var copy = self
        copy.longestWait = longest
        return copy
    }

    /// Whether an operation that failed with this error should try again: see ``HTTPError/isTransient``.
    public func allows(_ error: OperationError) -> Bool {
        guard let error = error.underlyingError as? HTTPError, error.isTransient else { return false }
        if let wait = error.retryAfter, wait > longestWait { return false }
        return error.isBeforeTheRequest || methods?.contains(error.method.uppercased()) ?? true
    }
}

extension HTTPError {
    /// How long the server wants us to wait; nil if it has not said.
    public var retryAfter: Duration? {
        if case .refused(let refusal) = reason { return refusal.retryAfter }
        return nil
    }
}

extension Backoff {
    /// From a fifth of a second, twice as long each time, up to 20 s, a random part of it; and as long as a server says
    /// by `Retry-After`.
    public static let http = exponential(from: .milliseconds(200)).capped(at: .seconds(20)).jittered()
        .honoringRetryAfter()

    /// Waits as long as a server says by `Retry-After`, if it does. One that says "at once" does not shorten the wait.
    public func honoringRetryAfter() -> Backoff {
        honoring { ($0.underlyingError as? HTTPError)?.retryAfter.flatMap { $0 > .zero ? $0 : nil } }
    }
}

extension AnyOperation {
    /// Sends a request again that has failed for the moment, up to `attempts` times in all.
    ///
    /// ```swift
    /// let page = AsyncOperation(HTTPData(url)).retryHTTP(attempts: 4)
    /// ```
    ///
    /// This is ``AnyOperation/retry(_:attempts:deadline:file:line:if:)`` with what is usual for HTTP; a download goes
    /// on where it stopped.
    ///
    /// An attempt that the operation's own time limit has ended, `operation.timeout(_:)`, is not followed by another
    /// one: that error does not say which request it was, and whether it may be sent twice. Give the limit to the
    /// request, `HTTPData(url).deadline(_:clock:)`.
    ///
    /// - Parameters:
    ///   - attempts: How often it may be sent, the first time included.
    ///   - backoff: How long to wait in between, where the server does not say.
    ///   - deadline: How long all of this may take.
    ///   - rule: Which failures are worth another attempt.
    @discardableResult
    public func retryHTTP(
        attempts: Int, _ backoff: Backoff = .http, deadline: Duration? = nil, if rule: HTTPRetry = .idempotent,
        file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        retry(backoff.honoringRetryAfter(), attempts: attempts, deadline: deadline, file: file, line: line) {
            rule.allows($0)
        }
    }
}
