public import Baton
internal import Foundation

/// A rule that says which failed requests are worth another attempt.
///
/// ```swift
/// page.retryHTTP(attempts: 4)
/// page.retry(.http, attempts: 4) { HTTPRetry.idempotent.allows($0) }      // the same
/// ```
public struct HTTPRetry: Sendable {
    /// The methods whose requests may be sent twice; nil for all methods.
    private let methods: Set<String>?
    /// The longest `Retry-After` that is honoured. If the server asks for more, the operation fails.
    private var longestWait = Duration.seconds(120)

    /// Retries requests that may be sent twice without harm: GET, HEAD, OPTIONS, TRACE, PUT and DELETE.
    ///
    /// Requests with other methods are sent again only if no part of them has reached a server: the host was not found,
    /// or it refused the connection. With ``CurlTransport``, the same holds if a proxy refused the tunnel, or if the
    /// idle limit or the deadline ended before a connection existed. If the connection of a POST breaks, the client
    /// cannot know whether the server has processed the request. That includes a POST that an HTTP/2 server has refused
    /// without processing it, because libcurl 7.88 does not tell this from a lost connection.
    public static let idempotent = HTTPRetry(methods: idempotentMethods)

    /// Retries requests with any method, for servers that recognise a request that they receive twice.
    public static let anyMethod = HTTPRetry(methods: nil)

    /// The methods that are idempotent (RFC 9110, 9.2.2).
    static let idempotentMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    private init(methods: Set<String>?) { self.methods = methods }

    /// Sets the longest time to wait for a server: two minutes by default. If a server asks for more, the request is
    /// not retried.
    ///
    /// - Parameter longest: The longest `Retry-After` that is honoured.
    /// - Returns: A changed copy.
    public func waitingAtMost(_ longest: Duration) -> HTTPRetry {
        var copy = self
        copy.longestWait = longest
        return copy
    }

    /// Returns whether an operation that failed with an error should be tried again.
    ///
    /// If an ``HTTPBodyStream`` fails with the ``HTTPError`` of another request, the method of the request that sends
    /// the stream counts, a part of which may have reached a server.
    ///
    /// - Parameter error: The error of the operation. Its underlying error has to be an ``HTTPError`` whose
    ///   ``HTTPError/isTransient`` is true.
    /// - Returns: True if the error is transient, the server does not ask for too long a wait, and the request may be
    ///   sent again.
    public func allows(_ error: OperationError) -> Bool {
        guard let error = error.underlyingError as? HTTPError, error.isTransient else { return false }
        if let wait = error.retryAfter, wait > longestWait { return false }
        return error.failedBeforeSending || methods?.contains(error.methodToRepeat.uppercased()) ?? true
    }
}

extension HTTPError {
    /// The time that the server, or a proxy that has refused the request, asks the client to wait; nil if it has not
    /// said.
    public var retryAfter: Duration? {
        switch reason {
        case .refused(let refusal): refusal.retryAfter
        case .proxyRefused: retryAfterOfProxy
        default: nil
        }
    }
}

extension Backoff {
    /// Waits 200 ms, doubles the wait each time up to 20 s, and randomises it; honours `Retry-After`.
    public static let http = exponential(from: .milliseconds(200)).capped(at: .seconds(20)).jittered()
        .honoringRetryAfter()

    /// Waits as long as the server asks for with `Retry-After`. A wait of zero does not shorten the backoff's own wait.
    ///
    /// - Returns: A changed copy.
    public func honoringRetryAfter() -> Backoff {
        honoring { ($0.underlyingError as? HTTPError)?.retryAfter.flatMap { $0 > .zero ? $0 : nil } }
    }
}

extension AnyOperation {
    /// Retries a request that fails with a transient error, up to `attempts` attempts in all.
    ///
    /// ```swift
    /// let page = AsyncOperation(HTTPData(url)).retryHTTP(attempts: 4)
    /// ```
    ///
    /// This calls ``AnyOperation/retry(_:attempts:deadline:file:line:if:)`` with defaults for HTTP. In that method the
    /// backoff comes before the attempts, here after them: `retryHTTP(attempts: 4, .http)`. A download continues where
    /// the previous attempt stopped.
    ///
    /// If the operation's own time limit, `operation.timeout(_:)`, ends an attempt, there is no further attempt,
    /// because that error does not say whether the request may be sent twice. Set the limit on the request instead,
    /// with `HTTPData(url).deadline(_:clock:)`.
    ///
    /// - Parameters:
    ///   - attempts: The largest number of attempts, including the first one.
    ///   - backoff: The wait between two attempts, where the server does not ask for one.
    ///   - deadline: The time limit for all attempts and waits together; nil for none.
    ///   - rule: The failures that are worth another attempt.
    /// - Returns: This operation.
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

// MARK: - The header field Retry-After

/// Reads the header field `Retry-After`, which holds a number of seconds or a date.
enum RetryAfter {
    /// Returns the wait that a response asks for, or nil if the field is missing or malformed. A date in the past is a
    /// wait of zero.
    ///
    /// A date is compared with the server's own `Date`, if the response has one, because the client's clock may differ.
    ///
    /// - Parameter now: The time of the client's clock.
    static func delay(_ head: HTTPHead, now: Date) -> Duration? {
        guard let text = head.headers["Retry-After"]?.trimmed else { return nil }
        if !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }) {
            // A number that does not fit into 64 bits counts as the longest wait.
            return .seconds(min(Int64(text) ?? longest, longest))
        }
        guard let date = HTTPDate.date(text, now: now) else { return nil }
        let here = head.headers["Date"].flatMap { HTTPDate.date($0, now: now) } ?? now
        let seconds = date.timeIntervalSince(here)
        return .seconds(min(max(0, seconds), Double(longest)))
    }

    /// The longest wait, one year, in seconds.
    private static let longest: Int64 = 365 * 24 * 60 * 60
}

// MARK: - Dates of header fields

/// Parses the dates of header fields.
enum HTTPDate {
    /// The three formats of RFC 9110, 5.6.7: the present one, and two obsolete ones.
    private static let formats = [
        "EEE',' dd MMM yyyy HH':'mm':'ss 'GMT'", "EEEE',' dd'-'MMM'-'yy HH':'mm':'ss 'GMT'",
        "EEE MMM d HH':'mm':'ss yyyy",
    ]

    /// Parses a date.
    ///
    /// - Parameter now: The present time. A date with a year of two digits is at most 50 years after it (RFC 9110,
    ///   5.6.7).
    static func date(_ text: String, now: Date = Date()) -> Date? {
        // A leap second, which a formatter does not accept, is the second after 23:59:59.
        let isLeapSecond = text.contains("23:59:60 ")
        let text = text.trimmed.replacingOccurrences(of: "23:59:60 ", with: "23:59:59 ")
        for format in formats {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "GMT")
            formatter.dateFormat = format
            formatter.twoDigitStartDate = startOfTwoDigitYears(now: now)
            if let date = formatter.date(from: text) { return isLeapSecond ? date + 1 : date }
        }
        return nil
    }

    /// Returns the first second of the hundred years that years of two digits belong to.
    private static func startOfTwoDigitYears(now: Date) -> Date? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: "GMT") ?? calendar.timeZone
        return calendar.date(byAdding: DateComponents(year: -50, second: 1), to: now)
    }
}
