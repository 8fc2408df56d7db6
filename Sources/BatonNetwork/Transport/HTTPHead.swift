public import Foundation

/// The head of an answer: status and headers.
public struct HTTPHead: Sendable, Hashable {
    /// The status code, 200 for example.
    public let status: Int
    /// Where the answer came from, after redirects.
    public let url: URL?
    /// The header fields.
    public let headers: HTTPHeaders

    /// Puts a head together; for transports and tests.
    public init(status: Int, url: URL?, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.url = url
        self.headers = headers
    }

    /// How many bytes the body will have; nil if the server has not said, or has packed them.
    public var contentLength: Int64? {
        if let encoding = headers["Content-Encoding"], encoding.lowercased() != "identity" { return nil }
        if headers["Transfer-Encoding"] != nil { return nil }
        guard let text = headers["Content-Length"], let count = Int64(text), count >= 0 else { return nil }
        return count
    }

    /// The type of the body without its parameters, in lower case: "application/json".
    public var contentType: String? { headers["Content-Type"].flatMap(Self.type) }

    /// Without parameters, in lower case.
    static func type(_ text: String) -> String? {
        text.split(separator: ";").first.map { String($0).trimmed.lowercased() }
    }
}

/// Header fields. Their names are the same in upper and lower case.
public struct HTTPHeaders: Sendable, Hashable {
    /// By names in lower case.
    private var fields: [String: String] = [:]

    /// Fields of these names and values.
    public init(_ fields: [String: String] = [:]) {
        for (name, value) in fields { self.fields[name.lowercased()] = value }
    }

    /// The value of a field, nil if there is none.
    public subscript(name: String) -> String? {
        get { fields[name.lowercased()] }
        set { fields[name.lowercased()] = newValue }
    }

    /// The names of all fields, in lower case, sorted.
    public var names: [String] { fields.keys.sorted() }
}

extension String {
    var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
