internal import Baton
public import Foundation

/// The head of an answer: status and headers.
public struct HTTPHead: Sendable, Hashable {
    /// The status code, 200 for example.
    public let status: Int
    /// Where the answer came from, after redirects.
    public let url: URL?
    /// The header fields.
    public let headers: HTTPHeaders
    /// The heads with a status of 100 to 199 that came before this one: 103 (Early Hints), for example.
    ///
    /// The transport on URLSession never has any.
    public let interimHeads: [HTTPHead]
    /// The proxy that the answer came through, without its password. Nil: none, or the transport does not know.
    public internal(set) var proxy: String?

    /// Puts a head together; for transports and tests.
    public init(status: Int, url: URL?, headers: HTTPHeaders = HTTPHeaders(), interimHeads: [HTTPHead] = []) {
        self.status = status
        self.url = url
        self.headers = headers
        self.interimHeads = interimHeads
    }

    /// How many bytes the body will have; nil if the server has not said, or has packed them.
    public var contentLength: Int64? {
        if let encoding = headers["Content-Encoding"], encoding.lowercased() != "identity" { return nil }
        if headers["Transfer-Encoding"] != nil { return nil }
        let lengths = contentLengths
        guard let text = lengths.first, lengths.allSatisfy({ $0 == text }) else { return nil }
        return Int64(digits: text)
    }

    /// What `Content-Length` says: several times the same is as good as once (RFC 9110, 8.6).
    var contentLengths: [String] {
        headers.values(of: "Content-Length").flatMap { $0.parts(separatedBy: ",") }
    }

    /// The type of the body without its parameters, in lower case: "application/json". Of several, the last one counts.
    public var contentType: String? { headers.values(of: "Content-Type").last.flatMap(Self.type) }

    /// 101 is final: what follows is no HTTP.
    var isInterim: Bool { 100...199 ~= status && status != 101 }

    /// Without parameters, in lower case.
    static func type(_ text: String) -> String? {
        text.parts(separatedBy: ";").first { !$0.isEmpty }?.lowercased()
    }
}

extension HTTPHead: CustomStringConvertible, CustomDebugStringConvertible {
    /// Status and address. User, password and query are left out, and so are the fields: they may be secret.
    public var description: String { "\(status) \(url?.withoutSecrets ?? "")".cleanLines }

    /// The same.
    public var debugDescription: String { description }
}

/// Header fields. Their names are the same in upper and lower case, and a name may have several values.
public struct HTTPHeaders: Sendable, Hashable {
    /// By names in lower case. No list is empty.
    private var fields: [String: [String]] = [:]

    /// Fields of these names and values.
    public init(_ fields: [String: String] = [:]) {
        for (name, value) in fields { add(name, value) }
    }

    /// The value of a field, nil if there is none.
    ///
    /// Several values are one text here, with ", " between them (RFC 9110, 5.3). `Set-Cookie` has commas of its own:
    /// ``values(of:)`` keeps the values apart. To set a value replaces all that are there.
    public subscript(name: String) -> String? {
        get { fields[name.lowercased()]?.joined(separator: ", ") }
        set { fields[name.lowercased()] = newValue.map { [$0] } }
    }

    /// All values of a field, in the order in which they came.
    public func values(of name: String) -> [String] { fields[name.lowercased()] ?? [] }

    /// Adds a value to those that the field has.
    public mutating func add(_ name: String, _ value: String) { fields[name.lowercased(), default: []].append(value) }

    /// The names of all fields, in lower case, sorted.
    public var names: [String] { fields.keys.sorted() }
}

extension String {
    var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }

    /// The texts between these characters, without blanks around them. A character is one even if an accent follows
    /// that would combine with it: header fields are bytes.
    func parts(separatedBy separator: Unicode.Scalar) -> [String] {
        unicodeScalars.split(separator: separator, omittingEmptySubsequences: false).map { String($0).trimmed }
    }
}

extension Int64 {
    /// A number that is written in digits alone, as those of HTTP are: `+5` is none.
    init?(digits: String) {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        self.init(digits)
    }
}
