public import Foundation

/// A request that a ``FaultServer`` has received.
public struct ReceivedRequest: Sendable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The name, as the client wrote it.
        public let name: String
        /// The value, without the blanks around it. Bytes that are not UTF-8 are replaced by U+FFFD.
        public let value: String
    }

    /// The method, as the client wrote it.
    public let method: String
    /// The target of the request line: the path with the query. Bytes that are not UTF-8 are replaced by U+FFFD.
    public let target: String
    /// The version of the request line, such as `HTTP/1.1`.
    public let version: String
    /// The header fields, in the order of their arrival. A name may occur several times.
    public let fields: [Field]
    /// The number of the connection, counted from 0 in the order in which the server accepted them.
    public let connection: Int
    /// The number of bytes of the body that have been read so far.
    public internal(set) var bodyCount = 0
    /// True if the body has been read to its end.
    public internal(set) var isBodyComplete = false
    /// The part of the body that has been read so far, limited to the first 16 MiB.
    public internal(set) var body = Data()
    /// The framing of the body, as the head declares it.
    let framing: Framing

    static let maxKeptBytes = 16 << 20

    /// The path of the target, without the query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// Returns all values of a header field.
    ///
    /// - Parameter name: The name of the field. Its case is ignored.
    /// - Returns: The values, in the order of their arrival. Empty if there is no such field.
    /// - Complexity: O(*n*), where *n* is the number of fields.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

extension ReceivedRequest {
    /// The framing of a body: RFC 9112, 6.3.
    enum Framing: Hashable {
        case counted(Int)
        case chunked

        /// Returns nil if the fields of the head declare no valid framing.
        init?(_ fields: [Field]) {
            func values(of name: String) -> [String] {
                fields.filter { $0.name.lowercased() == name }.map { $0.value.lowercased() }
            }
            let codings = values(of: "transfer-encoding")
            let lengths = values(of: "content-length")
            if let last = codings.last {
                let coding = last.components(separatedBy: ",").last?.trimmingCharacters(in: .whitespaces)
                guard coding == "chunked" else { return nil }
                self = .chunked
            } else if lengths.isEmpty {
                self = .counted(0)
            } else {
                // `Int` alone would accept a sign.
                guard lengths.count == 1, lengths[0].utf8.allSatisfy(isDigit), let count = Int(lengths[0]) else {
                    return nil
                }
                self = .counted(count)
            }
        }
    }

    var expectsContinue: Bool { values(of: "Expect").contains { $0.lowercased() == "100-continue" } }

    /// Parses the lines of a head, without the empty line at its end: RFC 9112, 3 to 6.
    ///
    /// The lines are parsed as bytes, because a `Character` may consist of a delimiter and what follows it. Returns nil
    /// if the request line, a field or the framing is malformed.
    init?(head: Data, connection: Int) {
        var rest = head
        var lines: [Data] = []
        while let end = rest.range(of: Data("\r\n".utf8)) {
            lines.append(rest[..<end.lowerBound])
            rest = rest[end.upperBound...]
        }
        lines.append(rest)
        let words = lines.removeFirst().split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, isToken(words[0]), !words[1].isEmpty, words[2].starts(with: "HTTP/".utf8) else {
            return nil
        }
        var fields: [Field] = []
        for line in lines {
            guard let field = Field(line) else { return nil }
            fields.append(field)
        }
        guard let framing = Framing(fields) else { return nil }
        method = String(decoding: words[0], as: UTF8.self)
        target = String(decoding: words[1], as: UTF8.self)
        version = String(decoding: words[2], as: UTF8.self)
        self.fields = fields
        self.framing = framing
        self.connection = connection
    }
}

extension ReceivedRequest.Field {
    /// Returns nil if the line is not a field: RFC 9110, 5.
    fileprivate init?(_ line: Data) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), isToken(line[..<colon]) else { return nil }
        let value = line[line.index(after: colon)...]
        // These control characters can make another recipient see further fields.
        if value.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) { return nil }
        let isBlank = { (byte: UInt8) in byte == 32 || byte == 9 }
        var text = value.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        self.init(name: String(decoding: line[..<colon], as: UTF8.self), value: String(decoding: text, as: UTF8.self))
    }
}

private func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

/// Returns whether the bytes are a token: RFC 9110, 5.6.2.
private func isToken(_ bytes: Data) -> Bool {
    !bytes.isEmpty
        && bytes.allSatisfy { byte in
            isDigit(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
}
