internal import Foundation

/// Parses the head of a response from its lines. It is pure.
///
/// libcurl has split the lines, and accepts some malformed ones; so does this parser (RFC 9112, 2.2 and 5).
struct HeadParser {
    enum Step: Hashable {
        /// The head has more lines.
        case more
        /// The head is complete.
        case head(HTTPHead)
        /// The response is malformed. The text says why.
        case invalid(String)
    }

    /// The largest number of bytes of a head, including its interim heads. A longer head is treated as malformed.
    static let maxBytes = 1 << 20

    /// The reason for refusing a status that no response can have. Those from 600 to 999 are accepted (RFC 9110, 15).
    static let invalidStatus = "its status is not a number from 100 to 999"

    private let url: URL?
    private var status: Int?
    private var headers = HTTPHeaders()
    /// The last field, which a line that begins with a blank continues.
    private var last: (name: String, value: String)?
    private var interimHeads: [HTTPHead] = []
    private var byteCount = 0
    private var problem: String?
    /// A Boolean value that indicates whether the final head is complete. The lines that follow are trailers.
    private(set) var isComplete = false

    init(url: URL?) { self.url = url }

    /// A Boolean value that indicates whether the first line was a status line.
    var hasStatus: Bool { isComplete || status != nil || !interimHeads.isEmpty }

    mutating func line(_ bytes: UnsafeRawBufferPointer) -> Step {
        byteCount += bytes.count
        if isComplete {
            // libcurl keeps trailers in memory as well, so their size is limited, too.
            return byteCount > Self.maxBytes ? .invalid("its trailers are too long") : .more
        }
        if byteCount > Self.maxBytes { return .invalid("its head is longer than \(Self.maxBytes) bytes") }
        let text = Self.text(bytes)
        if status == nil { return begin(text) }
        if text.isEmpty { return end() }
        add(text)
        return .more
    }

    private mutating func begin(_ text: String) -> Step {
        let parts = text.utf8.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count > 1, Self.isVersion(parts[0]), parts[1].count == 3,
            let status = Int64(digits: String(Substring(parts[1])))
        else {
            return .invalid("its first line is ‘\(text.prefix(100))’")
        }
        if status < 100 { return .invalid(Self.invalidStatus) }
        self.status = Int(status)
        return .more
    }

    /// Returns whether a text is "HTTP/1.1", or "HTTP/2" as libcurl writes it, or another version of this form.
    private static func isVersion(_ text: Substring.UTF8View) -> Bool {
        guard text.starts(with: "HTTP/".utf8) else { return false }
        let digits = Array(text.dropFirst(5))
        let isDigit = { (byte: UInt8) in 0x30...0x39 ~= byte }
        return switch digits.count {
        case 1: isDigit(digits[0])
        case 3: isDigit(digits[0]) && digits[1] == UInt8(ascii: ".") && isDigit(digits[2])
        default: false
        }
    }

    private mutating func add(_ text: String) {
        // The line is compared by bytes: a combining accent after a blank or the colon would form one character with
        // it.
        if let first = text.utf8.first, first.isBlank {
            guard let (name, value) = last else { return }
            noteIfMisread(name, "goes on in another line")
            last?.value = (value + " " + text[...].withoutBlanks)[...].withoutBlanks
            return
        }
        keepLast()
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = text[..<colon].withoutBlanks
        if text[..<colon].utf8.last?.isBlank == true { noteIfMisread(name, "has a blank before the colon") }
        last = (name, text[text.utf8.index(after: colon)...].withoutBlanks)
    }

    /// Notes a malformed field that says where the body ends or how it is encoded. libcurl ignores such a field, and so
    /// reads another body than this parser's head describes (RFC 9112, 5.1 and 5.2).
    private mutating func noteIfMisread(_ name: String, _ why: String) {
        if ["content-length", "transfer-encoding", "content-encoding"].contains(name.lowercased()) {
            problem = "its field \(name) \(why)"
        }
    }

    private mutating func keepLast() {
        if let last { headers.add(last.name, last.value) }
        last = nil
    }

    private mutating func end() -> Step {
        keepLast()
        let ended = HTTPHead(status: status ?? 0, url: url, headers: headers)
        (status, headers) = (nil, HTTPHeaders())
        if ended.isInterim {
            interimHeads.append(ended)
            return .more
        }
        isComplete = true
        let head = HTTPHead(status: ended.status, url: url, headers: ended.headers, interimHeads: interimHeads)
        if let problem = problem ?? head.lengthProblem { return .invalid(problem) }
        return .head(head)
    }

    /// Decodes a line as Latin-1. In a `Location`, a byte that is not ASCII is percent-encoded instead, because a URL
    /// contains bytes, not characters.
    private static func latin1(_ line: Slice<UnsafeRawBufferPointer>) -> String {
        let name = String(decoding: line.prefix("location:".utf8.count), as: UTF8.self)
        if name.lowercased() == "location:" {
            return line.map { $0 < 0x80 ? String(Unicode.Scalar($0)) : $0.escaped }.joined()
        }
        return String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) }))
    }

    /// Decodes a line, without its end. Bytes that are not valid UTF-8 are taken for Latin-1 (RFC 9110, 5.5).
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        var line = bytes[...]
        if line.last == UInt8(ascii: "\n") { line = line.dropLast() }
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        let text = String(validating: line, as: UTF8.self) ?? latin1(line)
        guard text.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") }) else { return text }
        // Inside a line, these characters could end the line for a less careful reader.
        let blank = { (scalar: Unicode.Scalar) in scalar == "\0" || scalar == "\r" ? " " : scalar }
        return String(String.UnicodeScalarView(text.unicodeScalars.map(blank)))
    }
}

extension HTTPHead {
    /// The reason why the end of the body is unknown: a length that is not a number, or several different lengths (RFC
    /// 9112, 6.3). Nil if the length is valid.
    fileprivate var lengthProblem: String? {
        if headers["Transfer-Encoding"] != nil { return nil }
        let lengths = contentLengths
        guard let first = lengths.first else { return nil }
        if lengths.contains(where: { $0 != first }) { return "its Content-Lengths differ" }
        return Int64(digits: first) != nil ? nil : "its Content-Length is ‘\(first.prefix(100))’"
    }
}

extension Substring {
    /// The text without blanks and tabs at both ends (RFC 9110, 5.6.3).
    fileprivate var withoutBlanks: String {
        guard let first = utf8.firstIndex(where: { !$0.isBlank }), let last = utf8.lastIndex(where: { !$0.isBlank })
        else { return "" }
        return String(self[first...last])
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
