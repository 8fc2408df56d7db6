import Baton
import BatonTesting
import Testing

@Suite("Costs of barriers", .timeLimit(.minutes(5)))
struct BarrierCostTests {
    /// Makes a suspended queue with `count` pairs of an operation and a barrier.
    private func pairs(_ count: Int) -> (queue: AsyncOperationQueue, barriers: [AsyncOperation<Void>]) {
        let queue = AsyncOperationQueue()
        queue.isSuspended = true
        let barriers = (0..<count).map { _ in
            queue.add {}
            return queue.addBarrier {}
        }
        return (queue, barriers)
    }

    @Test("Many barriers are added to a suspended queue, and then run")
    func run() async {
        await expectNearlyLinear(2_000) { count in
            let (queue, barriers) = pairs(count)
            queue.isSuspended = false
            await queue.waitUntilIdle()
            #expect(barriers.allSatisfy { $0.error == nil })
        }
    }

    @Test("Operations wait behind many barriers")
    func readers() async {
        await expectNearlyLinear(4_000) { count in
            let (queue, _) = pairs(count / 8)
            for _ in 0..<count { queue.add {} }
            queue.isSuspended = false
            await queue.waitUntilIdle()
        }
    }

    enum Order: CaseIterable, Sendable {
        case firstToLast, lastToFirst, random
    }

    @Test("Barriers are cancelled in any order while the first operation runs", arguments: Order.allCases)
    func cancelled(order: Order) async throws {
        try await within {
            let gate = Gate()
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let first = queue.add { await gate.wait() }
            await gate.waitForWaiters(count: 1)
            let count = reduced(50_000)
            let barriers = (0..<count).map { _ in queue.addBarrier {} }
            let last = queue.addBarrier("last") { first.state == .finished }
            let behind = queue.add { last.state == .finished }
            let cancelled: [AsyncOperation<Void>] =
                switch order {
                case .firstToLast: barriers
                case .lastToFirst: barriers.reversed()
                case .random: barriers.shuffled()
                }
            for barrier in cancelled { barrier.cancel() }
            #expect(barriers.allSatisfy { $0.state == .finished })
            gate.open()
            let (lastCame, behindCame) = try await (last.value, behind.value)
            #expect(lastCame && behindCame)
        }
    }

    @Test("A queue full of barriers is inspected")
    func looking() async {
        await expectNearlyLinear(500) { count in
            let (queue, barriers) = pairs(count)
            #expect(queue.snapshot().operations.count == 2 * count)
            #expect(barriers[count - 1].explain().roots.count == 1)
            queue.cancelAll()
            await queue.waitUntilIdle()
        }
    }

    @Test("A priority is raised behind many barriers")
    func raising() async {
        await expectNearlyLinear(2_000) { count in
            let (queue, barriers) = pairs(count)
            barriers[count - 1].priority = .high
            #expect(barriers[0].priority == .high)
            queue.cancelAll()
            await queue.waitUntilIdle()
        }
    }

    @Test("Barriers are added and cancelled behind a waiting barrier, in a full queue")
    func cancelledAgainAndAgain() async {
        await expectNearlyLinear(500) { count in
            let queue = AsyncOperationQueue(isSuspended: true)
            let events = queue.events
            for _ in 0..<count { queue.add {} }
            queue.addBarrier("first") {}
            for _ in 0..<count { queue.addBarrier {}.cancel() }
            let later = (0..<count).map { _ in queue.add {} }
            #expect(later.allSatisfy { $0.dependencies.count == 1 })
            #expect(queue.snapshot().operations.count == 2 * count + 1)
            queue.cancelAll()
            await queue.waitUntilIdle()
            withExtendedLifetime(events) {}
        }
    }

    @Test("A cancelled barrier is released while an earlier one waits")
    func G31_aCancelledBarrierIsGoneBehindAnother() async throws {
        try await within {
            let gate = Gate()
            let queue = AsyncOperationQueue()
            queue.add { await gate.wait() }
            let first = queue.addBarrier {}
            weak var cancelled: AnyOperation?
            do {
                let barrier = queue.addBarrier {}
                let behind = queue.add {}
                cancelled = barrier
                barrier.cancel()
                behind.cancel()
            }
            #expect(cancelled == nil)
            gate.open()
            try await first.value
            await queue.waitUntilIdle()
        }
    }

    @Test("Cancelled barriers retain nothing while an earlier operation runs")
    func keeping() async throws {
        try await within {
            let tokens = Tokens()
            let gate = Gate()
            let queue = AsyncOperationQueue()
            queue.add { await gate.wait() }
            for _ in 0..<50 {
                let output = queue.add { tokens.make() }
                let barriers = (0..<3).map { _ in queue.addBarrier {} }
                for barrier in barriers { barrier.cancel() }
                _ = try await output.value
            }
            await eventually { tokens.alive == 0 }
            gate.open()
            await queue.waitUntilIdle()
        }
    }
}
