public import Foundation

/// A request that a ``FaultServer`` has received.
public struct ReceivedRequest: Sendable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The name, as the client wrote it.
        public let name: String
        /// The value, without the blanks around it.
        public let value: String
    }

    /// The method, as the client wrote it.
    public let method: String
    /// The target of the request line: the path with the query.
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
    /// The framing of the body, as the head declares it: RFC 9112, 6.3.
    enum Framing {
        case counted(Int)
        case chunked
    }

    var framing: Framing {
        if values(of: "Transfer-Encoding").joined(separator: ",").lowercased().hasSuffix("chunked") { return .chunked }
        return .counted(values(of: "Content-Length").first.flatMap { Int($0) } ?? 0)
    }

    var expectsContinue: Bool { values(of: "Expect").contains { $0.lowercased() == "100-continue" } }

    /// Parses the lines of a head, without the empty line at its end. Returns nil if they are not HTTP.
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
