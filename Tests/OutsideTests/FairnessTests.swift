import Baton
import BatonTesting
import Synchronization
import Testing

@Suite("Operations that lead to further operations do not starve the rest of a queue")
struct FairnessTests {
    /// Runs `greedy`, which continues until it is cancelled, and expects that other operations run meanwhile.
    private func othersRun(
        width: Int, beside greedy: @escaping @Sendable (AsyncOperationQueue) -> [AnyOperation]
    ) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let endless = greedy(queue)
            for round in 0..<3 {
                let others = (0..<10).map { number in AsyncOperation("other \(round) \(number)") {} }
                queue.add(others)
                for other in others { try await other.value }
            }
            for operation in endless { operation.cancel() }
            await queue.waitUntilIdle()
        }
    }

    @Test("An operation that repeats without a pause", arguments: [1, 2, 5])
    func G25_besideARepetition(width: Int) async throws {
        try await othersRun(width: width) { queue in
            (0..<width).map { number in
                let poller = AsyncOperation("poller \(number)") { 1 }.repeat(every: .zero)
                queue.add(poller)
                return poller
            }
        }
    }

    @Test("An operation that always fails and tries again at once", arguments: [1, 2, 5])
    func G25_besideARetry(width: Int) async throws {
        try await othersRun(width: width) { queue in
            (0..<width).map { number in
                let failing = AsyncOperation("failing \(number)") { throw CancellationError() }
                queue.add(failing.retry(.immediately, attempts: .max))
                return failing
            }
        }
    }

    @Test("An operation that always fails, tries again at once and holds an exclusion", arguments: [1, 2])
    func retryWithExclusion(width: Int) async throws {
        try await othersRun(width: width) { queue in
            (0..<4).map { number in
                let failing = AsyncOperation("failing \(number)") { throw CancellationError() }
                queue.add(
                    failing.retry(.immediately, attempts: .max)
                        .addCondition(.mutuallyExclusive("FairnessTests \(width)")))
                return failing
            }
        }
    }

    @Test("A body that runs one child after another", arguments: [1, 2, 5])
    func G25_besideChildrenWithoutEnd(width: Int) async throws {
        try await othersRun(width: width) { queue in
            (0..<width).map { number in
                let parent = AsyncOperation("parent \(number)") { context in
                    while !Task.isCancelled { _ = try await context.run(AsyncOperation { 1 }) }
                }
                queue.add(parent)
                return parent
            }
        }
    }

    @Test("A body whose child tasks run one operation after another", arguments: [1, 2])
    func childTasks(width: Int) async throws {
        try await othersRun(width: width) { queue in
            let parent = AsyncOperation("parent") {
                while !Task.isCancelled {
                    async let child = queue.run(AsyncOperation { 1 })
                    _ = try await child
                }
            }
            queue.add(parent)
            return [parent]
        }
    }

    @Test("Each operation produces the next one", arguments: [1, 2])
    func products(width: Int) async throws {
        try await othersRun(width: width) { queue in
            let stop = AsyncOperation("stop") {}
            @Sendable func next() -> AsyncOperation<Void> {
                AsyncOperation("link") { context in
                    if !stop.isCancelled { try context.produce(next()) }
                }
            }
            queue.add(next())
            return [stop]
        }
    }

    @Test("A repetition begins behind the operations that wait")
    func G23_aRepetitionBeginsBehindWhatWaits() async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true)
            let log = EventLog<String>()
            let poller = AsyncOperation { log("poller") }.repeat(every: .zero, count: 3)
            queue.add(poller)
            for name in ["a", "b"] { queue.add { log(name) } }
            queue.isSuspended = false
            await queue.waitUntilIdle()
            #expect(log.events == ["poller", "a", "b", "poller", "poller"])
        }
    }

    @Test("A suspended queue repeats nothing, and continues when it is resumed")
    func G24_aSuspendedQueueRepeatsNothing() async throws {
        try await within {
            let clock = TestClock()
            let queue = AsyncOperationQueue(clock: clock)
            let runs = Atomic<Int>(0)
            let firstRun = Gate()
            let poller = AsyncOperation { () -> Int in
                firstRun.open()
                return runs.add(1, ordering: .relaxed).newValue
            }.repeat(every: .seconds(1)) { $0 == 2 }
            queue.add(poller)
            await firstRun.wait()
            queue.isSuspended = true
            while poller.state != .waiting { await Task.yield() }
            clock.advance(by: .seconds(5))
            while poller.state != .ready { await Task.yield() }
            guard case .queueSuspended = poller.explain().roots.first?.cause else {
                Issue.record("\(poller.explain())")
                return
            }
            #expect(runs.load(ordering: .relaxed) == 1)
            queue.isSuspended = false
            await queue.waitUntilIdle()
            #expect(runs.load(ordering: .relaxed) == 2)
        }
    }

    @Test("A suspended queue that is released ends its repetitions", arguments: [Duration.zero, .seconds(3600)])
    func releasedRepetition(interval: Duration) async throws {
        try await within {
            var queue: AsyncOperationQueue? = AsyncOperationQueue()
            let runs = Gate()
            let mayEnd = Gate()
            let poller = AsyncOperation { () -> Int in
                runs.open()
                await mayEnd.wait()
                return 1
            }.repeat(every: interval)
            queue?.add(poller)
            await runs.wait()
            queue?.isSuspended = true
            queue = nil
            mayEnd.open()
            let error = await #expect(throws: OperationError.self) { try await poller.value }
            guard case .queueReleased = error else {
                Issue.record("\(error as Any)")
                return
            }
        }
    }
}
