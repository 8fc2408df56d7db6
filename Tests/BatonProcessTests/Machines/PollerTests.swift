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
        #expect(throws: SystemFailure.self) { try Poller(start: { _, _ in false }) }
    }

    #if os(Linux)
        @Test func afterAPollThatFailsItPausesAndPollsAgain() async throws {
            await #expect(processExitsWith: .success) {
                let poller = try Poller(pause: { Neighbours.limitDescriptors(to: 100) })
                let ends = try PipeEnds()
                let wakeup = Wakeup()
                // The limit is below the number of descriptors that the poller watches, its own and that of the pipe,
                // so `poll` fails.
                Neighbours.limitDescriptors(to: 1)
                _ = poller.add(wakeup, for: .reading, on: ends.reading)
                ends.writing.close()
                // The wait ends only because the poller's pause raises the limit again.
                let isReady = await wakeup.wait()
                #expect(isReady)
                poller.close()
            }
        }
    #endif

    @Test func thereIsOneForAll() throws {
        #expect(try Poller.shared() === Poller.shared())
    }
}
