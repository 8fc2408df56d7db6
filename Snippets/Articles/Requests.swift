import Baton
import BatonFoundation
import BatonNetwork
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server for a test, or any other HTTP stack.
struct CannedServer: HTTPTransport {
    func send(
        _ request: URLRequest, body: HTTPRequestBody?, sent: @escaping @Sendable (Int64) -> Void
    ) async throws -> HTTPAnswer {
        let head = HTTPHead(status: 200, url: request.url, headers: HTTPHeaders(["Content-Type": "application/json"]))
        let pieces = AsyncStream { stream in
            stream.yield(Data(#"["red", "wheel", "barrow"]"#.utf8))
            stream.finish()
        }
        return HTTPAnswer(head: head, body: HTTPBody { await pieces.first { _ in true } })
    }
}

let url = URL(string: "https://example.org/words")!
let request = HTTPData(url)
    .header("Accept", "application/json")
    .validation(.success.contentType("application/json"))
    .deadline(.seconds(10))  // of each attempt
    .transport(CannedServer())
let words = AsyncOperation(request)
    .retryHTTP(attempts: 4)  // after transient failures, no sooner than `Retry-After` says
    .addCondition(.perHost(url, to: 2))  // on all queues of the process
    .then { answer in answer.data }
    .then(JSONDecoding<[String]>())
print(try await AsyncOperationQueue.shared.run(words))  // ["red", "wheel", "barrow"]
