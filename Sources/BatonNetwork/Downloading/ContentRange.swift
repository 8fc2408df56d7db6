/// What `Content-Range` says: "bytes 100-199/200", or "bytes */200" when there is no such part.
struct ContentRange: Hashable {
    /// Nil: there is no such part.
    let part: ClosedRange<Int64>?
    /// Of the whole; nil if the server does not know.
    let total: Int64?

    init?(_ text: String?) {
        guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
        let halves = text.dropFirst("bytes ".count).split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        if halves[1] == "*" {
            total = nil
        } else {
            guard let total = Int64(halves[1]), total >= 0 else { return nil }
            self.total = total
        }
        if halves[0] == "*" {
            part = nil
        } else {
            let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
            guard ends.count == 2, let first = ends[0], let last = ends[1], first >= 0, first <= last else {
                return nil
            }
            if let total, last >= total { return nil }
            part = first...last
        }
    }
}
