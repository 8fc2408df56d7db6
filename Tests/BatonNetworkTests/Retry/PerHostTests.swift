import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct PerHostTests {
    @Test func noMoreThanTheLimitTalkToAHostAtOnce() async throws {
        let (running, most) = (EventLog<Int>(), LockedCount())
        let host = "http://\(freshKey()).example"
        let stub = StubTransport { _ in
            running(most.enter())
            await Task.yield()
            most.leave()
            return HTTPAnswer()
        }
        let queue = AsyncOperationQueue()
        let pages = (0..<50).map { number in
            let url = URL(string: "\(host)/\(number)") ?? URL(fileURLWithPath: "/")
            return AsyncOperation(HTTPData(url).transport(stub)).addCondition(.perHost(url, to: 3))
        }
        queue.add(pages)
        for page in pages { _ = try await page.value }
        #expect(running.count == 50)
        #expect((running.events.max() ?? 0) <= 3)
    }

    /// Other requests run meanwhile, so that a third request would have enough time to arrive.
    @Test func theServerSeesNoMoreThanTheLimit() async throws {
        let key = freshKey()
        let url = server.url("/bytes/10", ["key": key, "hold": "5"])
        let queue = AsyncOperationQueue()
        let pages = (0..<6).map { _ in AsyncOperation(HTTPData(url)).addCondition(.perHost(url, to: 2)) }
        queue.add(pages)
        try await server.waitForRequests(key, count: 2)
        for _ in 0..<5 { #expect(try await server.log(key).count == 2) }
        try await server.release(key)
        await queue.waitUntilIdle()
        #expect(try await server.log(key).count == 6)
    }

    @Test func sameHostIsSameSchemeHostAndPort() throws {
        func name(_ address: String) -> String {
            URL(string: address).map { Exclusion.perHost($0, to: 2).name } ?? ""
        }
        #expect(name("http://Example.org/a") == name("http://example.org:80/b?c"))
        #expect(name("https://example.org") == name("https://example.org:443/"))
        #expect(name("http://example.org") != name("https://example.org"))
        #expect(name("http://example.org") != name("http://example.org:8080"))
        #expect(name("http://example.org") != name("http://www.example.org"))
    }

    /// Counts how many calls are inside, and how many there were at most.
    private final class LockedCount: @unchecked Sendable {
        // @unchecked: the lock.
        private let lock = NSLock()
        private var count = 0

        func enter() -> Int {
            lock.withLock {
                count += 1
                return count
            }
        }

        func leave() { lock.withLock { count -= 1 } }
    }
}
