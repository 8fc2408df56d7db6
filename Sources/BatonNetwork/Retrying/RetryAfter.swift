internal import Foundation

/// The `Retry-After` of an answer: seconds, or a date.
enum RetryAfter {
    /// Nil if there is none that makes sense. A date in the past is no wait.
    ///
    /// A date is compared with the server's own, if it says what time it is: our clocks may differ.
    static func delay(_ head: HTTPHead, now: Date) -> Duration? {
        guard let text = head.headers["Retry-After"]?.trimmed else { return nil }
        if !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }) {
            // A number that is too large for us is a long time.
            return .seconds(min(Int64(text) ?? longest, longest))
        }
        guard let date = HTTPDate.date(text) else { return nil }
        let here = head.headers["Date"].flatMap(HTTPDate.date) ?? now
        let seconds = date.timeIntervalSince(here)
        return .seconds(min(max(0, seconds), Double(longest)))
    }

    /// A year.
    private static let longest: Int64 = 365 * 24 * 60 * 60
}
