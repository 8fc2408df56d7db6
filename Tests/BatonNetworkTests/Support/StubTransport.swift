import BatonNetwork
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport without a network, for situations that a server cannot produce at the right moment.
struct StubTransport: HTTPTransport {
    let answer: @Sendable (URLRequest) async throws -> HTTPAnswer

    func send(
        _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (Int64) -> Void
    ) async throws -> HTTPAnswer {
        try await answer(request)
    }
}

extension HTTPAnswer {
    /// Answers with `data` in one piece, and then calls `atEnd`.
    init(
        status: Int = 200, headers: [String: String] = [:], _ data: Data = Data(),
        atEnd: @escaping @Sendable () async throws -> Void = {}
    ) {
        let pieces = Pieces(data)
        self.init(
            head: HTTPHead(status: status, url: nil, headers: HTTPHeaders(headers)),
            body: HTTPBody {
                if let piece = await pieces.take() { return piece }
                try await atEnd()
                return nil
            })
    }

    private actor Pieces {
        private var data: Data?

        init(_ data: Data) { self.data = data.isEmpty ? nil : data }

        func take() -> Data? {
            defer { data = nil }
            return data
        }
    }
}
