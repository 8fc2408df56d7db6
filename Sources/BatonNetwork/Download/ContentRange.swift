/// A parsed `Content-Range`: "bytes 100-199/200", or "bytes */200" if the file has no such part.
struct ContentRange: Hashable {
    /// The part of the file, or nil if the file has no such part.
    let part: ClosedRange<Int64>?
    /// The length of the whole file, or nil if the server does not know it.
    let total: Int64?

    init?(_ text: String?) {
        guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
        let halves = String(text.dropFirst("bytes ".count)).parts(separatedBy: "/")
        guard halves.count == 2 else { return nil }
        if halves[1] == "*" {
            total = nil
        } else {
            guard let total = Int64(digits: halves[1]) else { return nil }
            self.total = total
        }
        if halves[0] == "*" {
            part = nil
        } else {
            let ends = halves[0].parts(separatedBy: "-").map { Int64(digits: $0) }
            guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last else {
                return nil
            }
            if let total, last >= total { return nil }
            part = first...last
        }
    }
}

/// The range that the user's own request asks for: "bytes=100-199", "bytes=100-" or "bytes=-100".
enum RequestedRange: Hashable {
    case from(Int64, to: Int64?)
    case last(Int64)
    /// Several ranges, or a unit other than bytes. Any response is accepted, and the user has to interpret it.
    case other

    init(_ text: String) {
        let halves = text.parts(separatedBy: "=")
        let ends = halves.count == 2 ? halves[1].parts(separatedBy: "-") : []
        guard ends.count == 2, halves[0].lowercased() == "bytes" else {
            self = .other
            return
        }
        switch (Int64(digits: ends[0]), Int64(digits: ends[1])) {
        case (let first?, let last?) where first <= last: self = .from(first, to: last)
        case (let first?, nil) where ends[1].isEmpty: self = .from(first, to: nil)
        case (nil, let count?) where ends[0].isEmpty: self = .last(count)
        default: self = .other
        }
    }

    /// Returns whether a response with status 206 has this range. It may be shorter than requested (RFC 9110, 15.3.7).
    func matches(_ range: ContentRange?) -> Bool {
        switch self {
        case .other: return true
        case .from(let first, let last):
            guard let part = range?.part else { return false }
            return part.lowerBound == first && part.upperBound <= last ?? .max
        case .last(let count):
            // The difference cannot overflow, but the number of bytes, which is one more, could.
            guard let part = range?.part, part.upperBound - part.lowerBound < count else { return false }
            return range?.total.map { part.upperBound == $0 - 1 } ?? true
        }
    }
}
