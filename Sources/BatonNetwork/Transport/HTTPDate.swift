internal import Foundation

/// Parses the dates of header fields.
enum HTTPDate {
    /// The three formats of RFC 9110, 5.6.7: the present one, and two obsolete ones.
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
            if let date = formatter.date(from: text.trimmed) { return date }
        }
        return nil
    }
}
