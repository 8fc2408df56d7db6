import Baton
import BatonTesting
import Testing

@Suite("Costs of stall handlers", .timeLimit(.minutes(5)), .serialized)
struct StallCostTests {
    enum Limits: CaseIterable, Sendable {
        case equal, growing, falling

        func limit(_ number: Int, of count: Int) -> Duration {
            switch self {
            case .equal: .seconds(60)
            case .growing: .seconds(60 + number)
            case .falling: .seconds(60 + count - number)
            }
        }
    }

    @Test("Very many stall handlers are added and cancelled while operations are added", arguments: Limits.allCases)
    func addingAndCancelling(limits: Limits) async throws {
        try await within {
            let (queue, gate) = (AsyncOperationQueue(), Gate())
            queue.add { await gate.wait() }
            await gate.waitForWaiters(count: 1)
            await expectNearlyLinear(1_000) { count in
                let observations = (0..<count).map { number in
                    queue.add {}
                    return queue.onStall(after: limits.limit(number, of: count)) { _ in }
                }
                for observation in observations { observation.cancel() }
            }
            gate.open()
            await queue.waitUntilIdle()
        }
    }

    @Test("A queue with very many stall handlers becomes empty repeatedly")
    func oneOperationAtATime() async throws {
        try await within {
            await expectNearlyLinear(1_000) { count in
                let queue = AsyncOperationQueue()
                for _ in 0..<count { queue.onStall(after: .seconds(60)) { _ in } }
                for _ in 0..<count {
                    queue.add {}
                    await queue.waitUntilIdle()
                }
            }
        }
    }

    @Test("Very many handlers receive the report of a stall of very many operations")
    func telling() async throws {
        try await within {
            await expectNearlyLinear(250) { count in
                let clock = TestClock()
                let (queue, gate, reportCount) = (AsyncOperationQueue(clock: clock), Gate(), Guarded(0))
                queue.add((0..<count).map { _ in AsyncOperation { await gate.wait() } })
                for _ in 0..<count { queue.onStall(after: .seconds(4)) { _ in reportCount.withLock { $0 += 1 } } }
                while reportCount.withLock({ $0 }) < count {
                    await clock.waitForSleepers(count: 1)
                    clock.advance(by: .seconds(1))
                }
                gate.open()
                await queue.waitUntilIdle()
            }
        }
    }

    @Test("A handler that is added while the queue is stalled is called after its own limit")
    func comingLater() async throws {
        let clock = TestClock()
        let (queue, gate, log) = (AsyncOperationQueue(clock: clock), Gate(), EventLog<String>())
        queue.onStall(after: .seconds(100)) { _ in log.append("long") }
        queue.add { await gate.wait() }
        await gate.waitForWaiters(count: 1)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(10))
        queue.onStall(after: .seconds(4)) { report in log.append("short after \(report.duration)") }
        queue.onStall(after: .seconds(40)) { _ in log.append("never") }.cancel()
        for _ in 0..<4 {
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))
        }
        #expect(try await within { await log.waitForCount(1) } == ["short after 4.0 seconds"])
        gate.open()
        await queue.waitUntilIdle()
    }
}
