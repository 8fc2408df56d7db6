internal import Foundation

/// The `Retry-After` of an answer: seconds, or a date.
enum RetryAfter {
    /// Nil if there is none that makes sense. A date in the past is no wait.
    ///
    /// A date is compared with the server's own, if it says what time it is: our clocks may differ.
    static func delay(_ head: HTTPHead, now: Date) -> Duration? {
        guard let text = head.headers["Retry-After"]?.trimmed else { return nil }
        if text.allSatisfy({ $0.isASCII && $0.isNumber }), let seconds = Int64(text) {
            return .seconds(min(seconds, longest))
        }
        guard let date = date(text) else { return nil }
        let here = head.headers["Date"].flatMap { self.date($0.trimmed) } ?? now
        let seconds = date.timeIntervalSince(here)
        return .seconds(min(max(0, seconds), Double(longest)))
    }

    /// A year.
    private static let longest: Int64 = 365 * 24 * 60 * 60

    /// The three forms of RFC 9110, 5.6.7: that of today, and two old ones.
    private static let formats = [
        "EEE',' dd MMM yyyy HH':'mm':'ss 'GMT'", "EEEE',' dd'-'MMM'-'yy HH':'mm':'ss 'GMT'",
        "EEE MMM d HH':'mm':'ss yyyy",
    ]

    static func date(_ text: String) -> Date? {
        for format in formats {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "GMT")
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }
}
