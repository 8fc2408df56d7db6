internal import Foundation

/// Decides what a download does next, from the head of the response. Has no side effects.
enum DownloadPlan: Hashable {
    /// The body is the rest of the file, which has this length in all.
    case append(total: Int64)
    /// The body is the whole file.
    case replace
    /// The partial file is already complete.
    case complete
    /// The partial file cannot be continued. The download sends the request again, for the whole file.
    case startOver
    /// The response is a part that the request did not ask for.
    case rejectPart
    /// The status is not in 200...299. The download fails, even if the validation accepts the status.
    case rejectStatus

    /// - Parameters:
    ///   - start: The number of bytes that the partial file has, and that the request left out; 0 if it asked for all.
    ///   - origin: The resource that those bytes come from.
    ///   - wanted: The range that the user's request asked for itself, or nil. A response with that range is stored as
    ///     if it were a whole file.
    init(_ head: HTTPHead, start: Int64, origin: PartialFile.Origin?, wanted: RequestedRange? = nil) {
        let range = ContentRange(head.headers["Content-Range"])
        switch head.status {
        case 206 where start == 0: self = wanted?.matches(range) == true ? .replace : .rejectPart
        case 206:
            // The bytes of the partial file are not encoded; see `Origin.init(_:url:)`.
            guard !head.isEncoded, let range, range.part?.lowerBound == start else {
                self = .startOver
                return
            }
            // A server may send less than the request asked for (RFC 9110, 15.3.7), so the total length has to be
            // known.
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
        default: self = .rejectStatus
        }
    }
}

extension HTTPHead {
    /// The number of bytes of the part that a response with status 206 contains. Nil if it has no single part.
    var partLength: Int64? {
        guard status == 206, !isEncoded, let part = ContentRange(headers["Content-Range"])?.part
        else { return nil }
        let (length, overflow) = (part.upperBound - part.lowerBound).addingReportingOverflow(1)
        return overflow ? nil : length
    }
}

extension PartialFile.Origin {
    /// Returns nil if the rest of the file could not be requested later.
    init?(_ head: HTTPHead, url: String) {
        if head.headers["Accept-Ranges"]?.lowercased() == "none" || head.isEncoded {
            return nil
        }
        guard let validator = head.strongValidator else { return nil }
        self.init(url: url, validator: validator, length: head.contentLength, source: head.url?.withoutSecrets)
    }

    /// Returns whether a response belongs to the same version of the same resource.
    ///
    /// A server that does not know `If-Range` may answer with a part of another version. Only a repeated validator
    /// proves that the version is the same (RFC 9110, 15.3.7.3). A validator applies to one resource only (RFC 9110,
    /// 8.8.1), so redirects have to lead to the resource that the first bytes came from.
    fileprivate func isSame(as head: HTTPHead, total: Int64?) -> Bool {
        if let length, let total, length != total { return false }
        if let source, let url = head.url, source != url.withoutSecrets { return false }
        return head.headers[validator.hasPrefix("\"") ? "ETag" : "Last-Modified"] == validator
    }

    /// Returns a text that identifies a URL across runs without its secrets: the user, the password and the query are
    /// contained only in a hash.
    ///
    /// The hash, FNV-1a, is not cryptographic: with some effort, somebody who knows the rest of the URL can find a
    /// secret that fits. The `.origin` file that contains the hash must therefore stay private (mode 0600).
    static func mark(of url: URL) -> String {
        "\(url.withoutSecrets) \(String(url.absoluteString.fnv1a, radix: 16))"
    }
}

extension String {
    /// The FNV-1a hash, which is the same in every process.
    var fnv1a: UInt64 { utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
}

extension HTTPHead {
    /// A validator that changes whenever a byte of the file does, or nil if the server has sent none.
    ///
    /// Without an ETag, the `Last-Modified` date counts as strong if the response's `Date` is at least one second
    /// later, because two changes within one second have the same date (RFC 9110, 8.8.2.2 and 13.1.5).
    fileprivate var strongValidator: String? {
        if let tag = headers["ETag"] {
            // A quotation mark inside comes from two fields: there is no way to tell which tag is meant.
            let isStrong = tag.count > 1 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            return isStrong && !tag.dropFirst().dropLast().contains("\"") ? tag : nil
        }
        guard let text = headers["Last-Modified"], let modified = HTTPDate.date(text),
            let sent = headers["Date"].flatMap({ HTTPDate.date($0) }), sent.timeIntervalSince(modified) >= 1
        else { return nil }
        return text
    }
}
