public import Foundation

/// A request that a ``FaultServer`` has received.
public struct ReceivedRequest: Sendable {
    /// One line of the head.
    public struct Field: Sendable, Hashable {
        /// The name, as the client has written it.
        public let name: String
        /// The value, without the blanks around it.
        public let value: String
    }

    /// The method, as the client has written it.
    public let method: String
    /// The target of the request line: the path with the query.
    public let target: String
    /// The version of the request line, such as `HTTP/1.1`.
    public let version: String
    /// The header fields in the order in which they came; a name may occur several times.
    public let fields: [Field]
    /// The number of the connection on which it came, from 0 in the order in which the server accepted them.
    public let connection: Int
    /// How many bytes of the body have been read so far.
    public internal(set) var bodyCount = 0
    /// Whether the body has been read to its end.
    public internal(set) var isBodyComplete = false
    /// The body, as far as it has been read; no more than its first 16 MB.
    public internal(set) var body = Data()

    static let mostKept = 16 << 20

    /// The path of the target, without the query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// All values of a field.
    ///
    /// - Parameter name: The name, in upper or lower case.
    /// - Returns: The values, in the order in which they came; none if there is no such field.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

extension ReceivedRequest {
    /// How long the body is, by the head: RFC 9112, 6.3.
    enum Framing {
        case counted(Int)
        case chunked
    }

    var framing: Framing {
        if values(of: "Transfer-Encoding").joined(separator: ",").lowercased().hasSuffix("chunked") { return .chunked }
        return .counted(values(of: "Content-Length").first.flatMap { Int($0) } ?? 0)
    }

    var expectsContinue: Bool { values(of: "Expect").contains { $0.lowercased() == "100-continue" } }

    /// From the lines of a head, without the empty one at its end. Nil if this is no HTTP.
    init?(head: Data, connection: Int) {
        var lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines.removeFirst().components(separatedBy: " ")
        guard words.count == 3, words[2].hasPrefix("HTTP/") else { return nil }
        (method, target, version) = (words[0], words[1], words[2])
        var fields: [Field] = []
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            fields.append(Field(name: String(line[..<colon]), value: value))
        }
        self.fields = fields
        self.connection = connection
    }
}
