internal import Baton
public import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The head of a response: its status and its header fields.
public struct HTTPHead: Sendable, Hashable {
    /// The status code, 200 for example.
    public let status: Int
    /// The URL of the response, after redirects.
    public let url: URL?
    /// The header fields.
    public let headers: HTTPHeaders
    /// The interim heads, of status 100 to 199, that preceded this head: 103 (Early Hints), for example.
    ///
    /// With ``URLSessionTransport``, it is always empty.
    public let interimHeads: [HTTPHead]
    /// The URL of the proxy, without its password. Nil if there was no proxy, or the transport does not know.
    public internal(set) var proxy: String?

    /// Creates a head, for transports and tests.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - url: The URL of the response.
    ///   - headers: The header fields.
    ///   - interimHeads: The interim heads that preceded this one.
    public init(status: Int, url: URL?, headers: HTTPHeaders = HTTPHeaders(), interimHeads: [HTTPHead] = []) {
        self.status = status
        self.url = url
        self.headers = headers
        self.interimHeads = interimHeads
    }

    /// The length of the body in bytes. Nil if `Content-Length` is missing, invalid or contradictory, or if the body
    /// has a transfer or content encoding.
    public var contentLength: Int64? {
        if isEncoded || headers["Transfer-Encoding"] != nil { return nil }
        let lengths = contentLengths
        guard let text = lengths.first, lengths.allSatisfy({ $0 == text }) else { return nil }
        return Int64(digits: text)
    }

    /// A Boolean value that indicates whether the body has a content encoding. Some servers send `identity`, which
    /// stands for none (RFC 9110, 12.5.3).
    var isEncoded: Bool {
        headers.values(of: "Content-Encoding").flatMap { $0.parts(separatedBy: ",") }.contains {
            !["", "identity"].contains($0.lowercased())
        }
    }

    /// Returns ``contentLength`` if a response to the request has a body, and nil if it has none.
    ///
    /// In a response to HEAD and in a 304 response, `Content-Length` is the length of the body that a response to GET
    /// would have (RFC 9110, 8.6).
    func bodyLength(for request: URLRequest) -> Int64? {
        let hasBody = request.httpMethod?.uppercased() != "HEAD" && ![204, 304].contains(status)
        return hasBody ? contentLength : nil
    }

    /// The values of `Content-Length`. Several equal values are valid (RFC 9110, 8.6).
    var contentLengths: [String] {
        headers.values(of: "Content-Length").flatMap { $0.parts(separatedBy: ",") }
    }

    /// The media type of the body in lower case, without parameters: "application/json". If there are several, in one
    /// header field or in more, the last one counts.
    public var contentType: String? {
        let types = headers.values(of: "Content-Type").flatMap { $0.listMembers }.compactMap(Self.mediaType(of:))
        // A parameter may contain a comma although it should not, so a member that looks like a media type is
        // preferred.
        return types.last { $0.contains("/") } ?? types.last
    }

    /// A Boolean value that indicates whether another head follows. 101 is final, because the bytes after it are not
    /// HTTP.
    var isInterim: Bool { 100...199 ~= status && status != 101 }

    /// Returns a media type in lower case, without parameters. Nil if there is nothing before the parameters.
    static func mediaType(of text: String) -> String? {
        text.parts(separatedBy: ";").first.flatMap { $0.isEmpty ? nil : $0.lowercased() }
    }
}

extension HTTPHead: CustomStringConvertible, CustomDebugStringConvertible {
    /// The status and the URL. Parts that may be secret are left out: the user, the password, the query and the header
    /// fields.
    public var description: String { "\(status) \(url?.withoutSecrets ?? "")".cleanLines }

    /// The same text as `description`.
    public var debugDescription: String { description }
}

/// Header fields. Their names are case-insensitive, and a field may have several values.
public struct HTTPHeaders: Sendable, Hashable {
    /// The values by name in lower case. No list is empty.
    private var fields: [String: [String]] = [:]

    /// Creates header fields from a dictionary.
    ///
    /// - Parameter fields: The values by name. Names that differ only in case are merged into one field, whose values
    ///   are in the order of those names.
    public init(_ fields: [String: String] = [:]) {
        // A dictionary has a random order.
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { add(name, value) }
    }

    /// The value of a field, or nil if there is none.
    ///
    /// Several values are joined with ", " (RFC 9110, 5.3). For `Set-Cookie`, whose values contain commas, use
    /// ``values(of:)``. A value that is set replaces all values of the field.
    ///
    /// - Parameter name: The name of the field, in any case.
    public subscript(name: String) -> String? {
        get { fields[name.lowercased()]?.joined(separator: ", ") }
        set { fields[name.lowercased()] = newValue.map { [$0] } }
    }

    /// Returns all values of a field, in the order in which they arrived.
    ///
    /// - Parameter name: The name of the field, in any case.
    /// - Returns: The values; an empty array if there are none.
    public func values(of name: String) -> [String] { fields[name.lowercased()] ?? [] }

    /// Adds a value to a field, and keeps the values that it has.
    ///
    /// - Parameters:
    ///   - name: The name of the field, in any case.
    ///   - value: The value.
    public mutating func add(_ name: String, _ value: String) { fields[name.lowercased(), default: []].append(value) }

    /// The names of all fields, in lower case and sorted.
    ///
    /// - Complexity: O(n log n), where n is the number of fields.
    public var names: [String] { fields.keys.sorted() }
}

extension String {
    var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }

    /// Returns the texts between separators, without whitespace at their ends. Splits by Unicode scalars and not by
    /// characters: a separator with a combining mark after it would be another `Character`.
    func parts(separatedBy separator: Unicode.Scalar) -> [String] {
        unicodeScalars.split(separator: separator, omittingEmptySubsequences: false).map { String($0).trimmed }
    }
}

extension String {
    /// The members of a comma-separated list, without whitespace at their ends. A comma in a quoted string, such as a
    /// parameter, does not separate members (RFC 9110, 5.6.1 and 5.6.4).
    fileprivate var listMembers: [String] {
        var members = [String.UnicodeScalarView()]
        var (isQuoted, isEscaped) = (false, false)
        for scalar in unicodeScalars {
            if scalar == ",", !isQuoted {
                members.append(String.UnicodeScalarView())
                continue
            }
            if scalar == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && scalar == "\\" && !isEscaped
            members[members.count - 1].append(scalar)
        }
        return members.map { String($0).trimmed }
    }
}

extension Int64 {
    /// Creates a number from ASCII digits. Unlike `Int64(_:)`, it rejects a sign.
    init?(digits: String) {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        self.init(digits)
    }
}
