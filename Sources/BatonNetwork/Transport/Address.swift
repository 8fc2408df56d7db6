internal import Foundation

extension URL {
    /// Creates a URL from a text, relative to another URL (RFC 3986, 5.3).
    ///
    /// Characters that a URL cannot contain are percent-encoded, and existing escapes stay as they are. Foundation
    /// would encode both: from `/My%20File[1].pdf` it makes `/My%2520File%5B1%5D.pdf`.
    init?(address text: String, relativeTo base: URL? = nil) {
        guard let url = URL(string: text.escapedAsAddress, relativeTo: base)?.absoluteURL else { return nil }
        self = url
    }
}

extension String {
    /// The text with each byte percent-encoded that a URL cannot contain (RFC 3986, 2 and 3). The host is left to
    /// Foundation, which handles names that are not ASCII.
    fileprivate var escapedAsAddress: String {
        let host = hostRange
        let beforeHost = utf8[..<host.lowerBound]
        return beforeHost.escaped() + self[host] + utf8[host.upperBound...].escaped()
    }

    /// The range of the host and the port. It is empty and at the start if the text has no host.
    private var hostRange: Range<Index> {
        guard let start = authorityStart else { return startIndex..<startIndex }
        let end = utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? endIndex
        let user = utf8[start..<end].lastIndex(of: UInt8(ascii: "@"))
        return (user.map { utf8.index(after: $0) } ?? start)..<end
    }

    /// The index after `//`, which has to be at the start or to follow a scheme.
    private var authorityStart: Index? {
        let scheme = utf8.prefix { !":/?#".utf8.contains($0) }
        var rest = utf8[scheme.endIndex...]
        if rest.first == UInt8(ascii: ":") { rest = rest.dropFirst() } else if !scheme.isEmpty { return nil }
        return rest.starts(with: "//".utf8) ? rest.index(rest.startIndex, offsetBy: 2) : nil
    }

    /// An invalid URL for display, without the text before an `@` or after a `?`, which may be secret.
    var withoutSecretsOfAddress: String {
        let start = range(of: "://")?.upperBound ?? startIndex
        var rest = self[start...]
        let at = rest.lastIndex(of: "@")
        if let at { rest = rest[at...] }
        let visible = rest.prefix { $0 != "?" && $0 != "#" }
        return self[..<start] + (at == nil ? "" : "…") + visible + (visible.endIndex == endIndex ? "" : "…")
    }
}

extension Substring.UTF8View {
    fileprivate func escaped() -> String {
        var text = ""
        var hasFragment = false
        for index in indices {
            let byte = self[index]
            let isPlain =
                switch byte {
                case UInt8(ascii: "%"): isEscape(at: index)
                case UInt8(ascii: "#"): !hasFragment
                default: byte.isPlainInAddresses
                }
            if byte == UInt8(ascii: "#") { hasFragment = true }
            text += isPlain ? String(Unicode.Scalar(byte)) : byte.escaped
        }
        return text
    }

    private func isEscape(at index: Index) -> Bool {
        let digits = self[index...].dropFirst().prefix(2)
        return digits.count == 2 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }
}

extension UInt8 {
    /// The characters other than letters and digits that RFC 3986 calls reserved or unreserved, without brackets, which
    /// only a host may contain.
    private static let plain = Set("-._~:/?@!$&'()*+,;=".utf8)

    fileprivate var isPlainInAddresses: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: Self.plain.contains(self)
        }
    }

    /// The percent-encoded byte, `%E9` for example.
    var escaped: String {
        let digits = String(self, radix: 16, uppercase: true)
        return "%" + (digits.count == 1 ? "0" : "") + digits
    }
}
