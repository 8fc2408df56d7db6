import Testing

@testable import BatonProcess

@Suite(.timeLimit(.minutes(10))) struct PollerTests {
    @Test func aWaitEndsWhenThereIsSomethingToRead() async throws {
        let poller = try Poller()
        let ends = try PipeEnds()
        let wakeup = Wakeup()
        _ = poller.add(wakeup, for: .reading, on: ends.reading)
        #expect(poller.waiterCount == 1)
        ends.writing.close()
        #expect(await wakeup.wait())
        #expect(poller.waiterCount == 0)
        poller.close()
    }

    @Test func aWaitEndsWhenItsScopeIsClosed() async throws {
        let poller = try Poller()
        let ends = try PipeEnds()
        let scope = WaitScope(poller)
        async let isReady = scope.untilReady(ends.reading, for: .reading)
        while poller.waiterCount == 0 { await Task.yield() }
        scope.close()
        #expect(await !isReady)
        #expect(poller.waiterCount == 0)
        #expect(await !scope.untilReady(ends.reading, for: .reading))
        poller.close()
    }

    @Test func withoutAThreadItIsAnError() {
        #expect(throws: SystemFailure.self) { try Poller { _, _ in false } }
    }

    @Test func thereIsOneForAll() throws {
        #expect(try Poller.shared() === Poller.shared())
    }
}
