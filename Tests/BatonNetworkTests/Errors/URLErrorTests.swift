import Foundation
import Testing

@testable import BatonNetwork

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct URLErrorTests {
    @Test("A time limit that URLSession reports names the idle limit of the request")
    func timeLimit() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.test/")))
        request.timeoutInterval = 5
        #expect(HTTPError(URLError(.timedOut), request).reason == .timedOut(after: .seconds(5)))
    }

    @Test("Only a missing error and a lost connection count as broken connections")
    func brokenConnections() throws {
        let request = URLRequest(url: try #require(URL(string: "http://a.test/")))
        #expect(HTTPError.isBrokenConnection(nil, request))
        #expect(HTTPError.isBrokenConnection(URLError(.networkConnectionLost), request))
        #expect(!HTTPError.isBrokenConnection(URLError(.timedOut), request))
        #expect(!HTTPError.isBrokenConnection(CancellationError(), request))
    }

    @Test("A response without a body has no body length, whatever its Content-Length says")
    func bodyLength() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.test/")))
        func length(_ status: Int) -> Int64? {
            HTTPHead(status: status, url: nil, headers: HTTPHeaders(["Content-Length": "5"])).bodyLength(for: request)
        }
        #expect([200, 204, 304].map(length) == [5, nil, nil])
        request.httpMethod = "HEAD"
        #expect(length(200) == nil)
    }
}
