internal import Foundation

/// What a download makes of the head of an answer. Pure.
enum DownloadPlan: Hashable {
    /// What follows is the rest, of a whole of so many bytes.
    case append(total: Int64)
    /// What follows is all of it.
    case replace
    /// All of it is there already.
    case complete
    /// What is there belongs to nothing: ask again, for all of it.
    case startOver
    /// No part that was asked for.
    case refuse
    /// A status like any other.
    case judge

    /// - Parameters:
    ///   - start: How many bytes are there and were left out of the request; 0 if all was asked for.
    ///   - origin: What those bytes are the beginning of.
    ///   - wanted: The part that the request asks for itself, which is then the whole of the file.
    init(_ head: HTTPHead, start: Int64, origin: PartialFile.Origin?, wanted: RequestedRange? = nil) {
        let range = ContentRange(head.headers["Content-Range"])
        switch head.status {
        case 206 where start == 0: self = wanted?.matches(range) ?? false ? .replace : .refuse
        case 206:
            guard let range, range.part?.lowerBound == start else {
                self = .startOver
                return
            }
            // A server may send less than it was asked for (RFC 9110, 15.3.7), so the end has to be known.
            guard let origin, let total = range.total ?? origin.length, origin.isSame(as: head, total: range.total)
            else {
                self = .startOver
                return
            }
            self = .append(total: total)
        case 416 where start > 0:
            let isSame = origin?.isSame(as: head, total: range?.total) ?? false
            self = isSame && range?.total == start && origin?.length == start ? .complete : .startOver
        case 200...299: self = .replace
        default: self = .judge
        }
    }
}

extension HTTPHead {
    /// How many bytes a part has that was asked for; nil if this is none, or has several.
    var partLength: Int64? {
        guard status == 206, headers["Content-Encoding"] == nil, let part = ContentRange(headers["Content-Range"])?.part
        else { return nil }
        let (length, overflow) = (part.upperBound - part.lowerBound).addingReportingOverflow(1)
        return overflow ? nil : length
    }
}

extension PartialFile.Origin {
    /// Nil: the rest of it could not be asked for later.
    init?(_ head: HTTPHead, url: String) {
        if head.headers["Accept-Ranges"]?.lowercased() == "none" || head.headers["Content-Encoding"] != nil {
            return nil
        }
        guard let validator = head.strongValidator else { return nil }
        self.init(url: url, validator: validator, length: head.contentLength, source: head.url?.withoutSecrets)
    }

    /// A server that does not know `If-Range` may answer with a part of another file: only a validator that it repeats
    /// says that it is the same one (RFC 9110, 15.3.7.3). A validator speaks of one resource alone (RFC 9110, 8.8.1),
    /// so a redirect must lead to the one that the beginning came from.
    fileprivate func isSame(as head: HTTPHead, total: Int64?) -> Bool {
        if let length, let total, length != total { return false }
        if let source, let url = head.url, source != url.withoutSecrets { return false }
        return head.headers[validator.hasPrefix("\"") ? "ETag" : "Last-Modified"] == validator
    }

    /// Tells an address from others, the next time, too, without the secrets that may be in it: user, password and
    /// query are in a hash alone. That one, FNV-1a, hides a long token, but not a short password from who tries many:
    /// the note is not for others.
    static func mark(of url: URL) -> String {
        "\(url.withoutSecrets) \(String(url.absoluteString.fnv1a, radix: 16))"
    }
}

extension String {
    /// FNV-1a, which is the same in every process.
    var fnv1a: UInt64 { utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
}

extension HTTPHead {
    /// The validator that changes whenever a byte of the file does. Nil if the server has sent none.
    ///
    /// A date is one if there is no tag, and if the answer was sent a second later at least: two changes within one
    /// second have the same date (RFC 9110, 8.8.2.2 and 13.1.5).
    fileprivate var strongValidator: String? {
        if let tag = headers["ETag"] { return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 1 ? tag : nil }
        guard let text = headers["Last-Modified"], let modified = HTTPDate.date(text),
            let sent = headers["Date"].flatMap(HTTPDate.date), sent.timeIntervalSince(modified) >= 1
        else { return nil }
        return text
    }
}
