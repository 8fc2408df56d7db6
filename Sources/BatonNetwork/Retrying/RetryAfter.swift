internal import Foundation

/// Reads the header field `Retry-After`, which holds a number of seconds or a date.
enum RetryAfter {
    /// Returns the wait that a response asks for, or nil if the field is missing or malformed. A date in the past is a
    /// wait of zero.
    ///
    /// A date is compared with the server's own `Date`, if the response has one, because the client's clock may differ.
    static func delay(_ head: HTTPHead, now: Date) -> Duration? {
        guard let text = head.headers["Retry-After"]?.trimmed else { return nil }
        if !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }) {
            // A number that does not fit into 64 bits counts as the longest wait.
            return .seconds(min(Int64(text) ?? longest, longest))
        }
        guard let date = HTTPDate.date(text) else { return nil }
        let here = head.headers["Date"].flatMap(HTTPDate.date) ?? now
        let seconds = date.timeIntervalSince(here)
        return .seconds(min(max(0, seconds), Double(longest)))
    }

    /// The longest wait, one year, in seconds.
    private static let longest: Int64 = 365 * 24 * 60 * 60
}
