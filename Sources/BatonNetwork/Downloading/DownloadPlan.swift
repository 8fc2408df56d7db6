internal import Foundation

/// What a download makes of the head of an answer. Pure.
enum DownloadPlan: Hashable {
    /// What follows is the rest, of a whole of so many bytes.
    case append(total: Int64?)
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
    ///   - wantsPart: The request asks for a part itself, which is then the whole of the file.
    init(_ head: HTTPHead, start: Int64, origin: PartialFile.Origin?, wantsPart: Bool = false) {
        let range = ContentRange(head.headers["Content-Range"])
        switch head.status {
        case 206 where start == 0: self = wantsPart ? .replace : .refuse
        case 206:
            guard let range, range.part?.lowerBound == start else {
                self = .startOver
                return
            }
            let isSame = origin.map { Self.mayBeSame($0, head, total: range.total) } ?? false
            self = isSame ? .append(total: range.total ?? origin?.length) : .startOver
        case 416 where start > 0:
            let isSame = origin.map { Self.mayBeSame($0, head, total: range?.total) } ?? false
            self = isSame && range?.total == start && origin?.length == start ? .complete : .startOver
        case 200...299: self = .replace
        default: self = .judge
        }
    }

    /// A server that does not know `If-Range` may send a part of another file.
    private static func mayBeSame(_ origin: PartialFile.Origin, _ head: HTTPHead, total: Int64?) -> Bool {
        if let length = origin.length, let total, length != total { return false }
        if let tag = head.headers["ETag"] {
            if origin.validator.hasPrefix("\"") { return tag == origin.validator }
        } else if let date = head.headers["Last-Modified"], !origin.validator.hasPrefix("\"") {
            return date == origin.validator
        }
        return true
    }
}

extension PartialFile.Origin {
    /// Nil: the rest of it could not be asked for later.
    init?(_ head: HTTPHead, url: String) {
        if head.headers["Accept-Ranges"]?.lowercased() == "none" || head.headers["Content-Encoding"] != nil {
            return nil
        }
        let tag = head.headers["ETag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
        guard let validator = tag ?? head.headers["Last-Modified"] else { return nil }
        self.init(url: url, validator: validator, length: head.contentLength)
    }

    /// Tells an address from others, the next time, too, without the secrets that may be in it: user, password and query are in a
    /// hash alone. That one, FNV-1a, hides a long token, but not a short password from who tries many: the note is not for others.
    static func mark(of url: URL) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in url.absoluteString.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "\(url.withoutSecrets) \(String(hash, radix: 16))"
    }
}
