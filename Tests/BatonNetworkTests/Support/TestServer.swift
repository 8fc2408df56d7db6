import Baton
import BatonNetwork
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The server of `Tests/Support/server.py`, which documents its paths.
final class TestServer: Sendable {
    /// The server that all tests share. The first access starts it, and blocks until it listens.
    static let shared = TestServer(PythonServer(blocking: "server.py"))

    private let program: PythonServer
    private let scheme: String

    var port: String { program.port }

    private init(_ program: PythonServer) { (self.program, scheme) = (program, "http") }

    /// Starts a server of its own for a test that changes or stops it, and returns when it listens.
    ///
    /// - Parameter arguments: The kind of server; `server.py` documents them.
    init(_ arguments: String...) async {
        scheme = arguments.first == "tls" ? "https" : "http"
        program = await PythonServer("server.py", arguments)
    }

    /// Ends the server, without waiting for its end.
    func stop() { program.stop() }

    /// Returns the URL of a path with a query.
    func url(_ path: String, _ query: [String: String] = [:], scheme: String? = nil, host: String = "127.0.0.1") -> URL
    {
        var parts = URLComponents()
        parts.scheme = scheme ?? self.scheme
        parts.host = host
        parts.port = Int(port)
        parts.path = path
        if !query.isEmpty {
            // Sorted, so that equal queries have equal URLs.
            parts.queryItems = query.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
        }
        guard let url = parts.url else { preconditionFailure("\(parts)") }
        return url
    }

    // MARK: The server's log

    struct Entry: Decodable {
        let method: String
        let path: String
        let headers: HeaderFields
        /// The address and port of the client, which identify the connection.
        let connection: String
    }

    struct HeaderFields: Decodable {
        private let fields: HTTPHeaders

        init(from decoder: any Decoder) throws {
            fields = HTTPHeaders(try decoder.singleValueContainer().decode([String: String].self))
        }

        subscript(name: String) -> String? { fields[name] }
    }

    /// Returns the requests that the server has received for a key.
    func log(_ key: String) async throws -> [Entry] {
        let answer = try await HTTPData(url("/log", ["key": key])).execute(in: OperationContext())
        return try JSONDecoder().decode([Entry].self, from: answer.data)
    }

    /// Returns when the server has received `count` requests for a key.
    func waitForRequests(_ key: String, count: Int = 1) async throws {
        _ = try await HTTPData(url("/await", ["key": key, "count": "\(count)"])).timeout(.seconds(600))
            .execute(in: OperationContext())
    }

    /// Releases the requests that wait for a key.
    func release(_ key: String) async throws {
        _ = try await HTTPData(url("/release", ["key": key])).execute(in: OperationContext())
    }

    // MARK: Content

    static let period = 65521

    /// Returns the bytes that `/bytes/COUNT` sends.
    static func bytes(_ count: Int, seed: Int = 0) -> Data {
        let block = (0..<min(count, period)).map {
            UInt8(truncatingIfNeeded: $0 * $0 * 31 + $0 * 7 + seed * 13 + ($0 >> 8))
        }
        var data = Data(capacity: count)
        while data.count < count { data.append(contentsOf: block.prefix(count - data.count)) }
        return data
    }
}

/// Returns a new key that no other test uses.
func freshKey() -> String { UUID().uuidString }
