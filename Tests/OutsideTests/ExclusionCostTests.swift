import Baton
import Testing

/// Tests the costs of exclusions that many operations hold or wait for, while holders run children that need other
/// exclusions.
@Suite(.timeLimit(.minutes(10)), .serialized) struct ExclusionCostTests {
    /// Makes a child that holds a name briefly.
    private func child(_ exclusion: Exclusion) -> AsyncOperation<Void> {
        AsyncOperation { await Task.yield() }.addCondition(exclusion)
    }

    private func parent(running exclusion: Exclusion) -> AsyncOperation<Void> {
        AsyncOperation { context in try await context.run(child(exclusion)) }
    }

    private func pages(_ count: Int) async {
        let (pages, database) = ("pages \(count)", "database \(count)")
        let queue = AsyncOperationQueue()
        let operations = (0..<count).map { _ in
            parent(running: .limited(database, to: 2)).addCondition(.limited(pages, to: 8))
        }
        queue.add(operations)
        await queue.waitUntilIdle()
        #expect(operations.allSatisfy { $0.error == nil })
    }

    @Test("Holders of one name whose children need another take time in proportion")
    func nestedNames() async throws {
        try await within { await expectNearlyLinear(500, pages) }
    }

    @Test("Parents in a narrow queue whose children need a name take time in proportion")
    func nestedNamesInNarrowQueue() async throws {
        try await within {
            await expectNearlyLinear(500) { count in
                let queue = AsyncOperationQueue(maxConcurrentOperationCount: 8)
                queue.add((0..<count).map { _ in parent(running: .limited("narrow database", to: 2)) })
                await queue.waitUntilIdle()
            }
        }
    }

    @Test("A long queue for a name whose holders run children takes time in proportion")
    func limitedParents() async throws {
        try await within {
            await expectNearlyLinear(500) { count in
                let queue = AsyncOperationQueue()
                queue.add(
                    (0..<count).map { _ in
                        AsyncOperation { context in
                            try await context.run(AsyncOperation { await Task.yield() })
                        }.addCondition(.limited("limited parents", to: 8))
                    })
                await queue.waitUntilIdle()
            }
        }
    }

    /// Runs operations of which half hold name a and need b, and half hold b and need a.
    private func crossNames(_ count: Int, of exclusion: (String) -> Exclusion) async -> Int {
        let (a, b) = (exclusion("cross a"), exclusion("cross b"))
        let queue = AsyncOperationQueue()
        let operations = (0..<count).map { number in
            let isEven = number.isMultiple(of: 2)
            return parent(running: isEven ? b : a).addCondition(isEven ? a : b)
        }
        queue.add(operations)
        await queue.waitUntilIdle()
        return operations.count { $0.error != nil }
    }

    @Test("Deadlocks of very many operations over two exclusive names are broken in time in proportion")
    func crossExclusiveNames() async throws {
        try await within {
            await expectNearlyLinear(250) { count in
                let failed = await crossNames(count) { .mutuallyExclusive($0) }
                #expect(failed <= count / 2)
            }
        }
    }

    @Test("Deadlocks of very many operations over two limited names are broken in time in proportion")
    func crossLimitedNames() async throws {
        try await within {
            await expectNearlyLinear(250) { count in
                let failed = await crossNames(count) { .limited($0, to: 3) }
                #expect(failed <= count / 2)
            }
        }
    }

    @Test("Holders of two names whose children need a third take time in proportion")
    func severalNames() async throws {
        try await within {
            await expectNearlyLinear(500) { count in
                let queue = AsyncOperationQueue()
                queue.add(
                    (0..<count).map { _ in
                        parent(running: .limited("third", to: 2))
                            .addCondition(.limited("first", to: 8)).addCondition(.limited("second", to: 8))
                    })
                await queue.waitUntilIdle()
            }
        }
    }

    @Test("Children of a narrow group whose bodies run children take time in proportion")
    func narrowGroup() async throws {
        try await within {
            await expectNearlyLinear(500) { count in
                let queue = AsyncOperationQueue()
                let children = (0..<count).map { _ in parent(running: .limited("needed in a group", to: 2)) }
                queue.add(GroupOperation(children, maxConcurrentOperationCount: 4))
                await queue.waitUntilIdle()
            }
        }
    }

    @Test("Nested holders of names take time in proportion, by children or by groups")
    func nestedHolders() async throws {
        @Sendable func holder(_ number: Int, of count: Int) -> AsyncOperation<Void> {
            AsyncOperation { context in
                if number < count { try await context.run(holder(number + 1, of: count)) }
            }.addCondition(.mutuallyExclusive("nested \(number)"))
        }
        try await within {
            try await expectNearlyLinear(1_000) { count in try await AsyncOperationQueue().run(holder(1, of: count)) }
            await expectNearlyLinear(1_000) { count in
                let group = (0..<count).reduce(AsyncOperation {} as AnyOperation) { child, number in
                    GroupOperation(child).addCondition(.mutuallyExclusive("nested \(number)"))
                }
                let queue = AsyncOperationQueue()
                queue.add(group)
                await queue.waitUntilIdle()
            }
        }
    }

    @Test("A holder that waits elsewhere makes claims on other names no slower")
    func bystander() async throws {
        try await within {
            let (elsewhere, signal) = (AsyncOperationQueue(), Signal())
            func measure() async -> Duration {
                var best = Duration.seconds(1_000)
                for _ in 0..<5 {
                    best = min(best, await ContinuousClock().measure { await pages(500) })
                }
                return best
            }
            var ratios: [Double] = []
            for _ in 0..<5 {
                let alone = await measure()
                let waits = AsyncOperation { context in
                    try await context.run(AsyncOperation { await signal.wait() })
                }.addCondition(.mutuallyExclusive("elsewhere"))
                elsewhere.add(waits)
                elsewhere.add((0..<2_000).map { _ in AsyncOperation {}.addCondition(.mutuallyExclusive("elsewhere")) })
                let beside = await measure()
                ratios.append(beside / alone)
                if beside / alone < 2 { break }
            }
            signal.send()
            await elsewhere.waitUntilIdle()
            #expect(ratios.contains { $0 < 2 }, "\(ratios)")
        }
    }

    @Test("Cancelling very many operations that hold a name or wait for it takes time in proportion")
    func cancellingAll() async throws {
        try await within {
            await expectNearlyLinear(2_000) { count in
                let (queue, signal) = (AsyncOperationQueue(), Signal())
                queue.add((0..<8).map { _ in parent(waitingFor: signal).addCondition(.limited("cancelled", to: 8)) })
                await signal.waitForWaiters(8)
                queue.add((0..<count).map { _ in parent(running: .limited("cancelled", to: 8)) })
                queue.add((0..<count).map { _ in AsyncOperation {}.addCondition(.limited("cancelled", to: 8)) })
                queue.cancelAll()
                signal.send()
                await queue.waitUntilIdle()
            }
        }
    }

    private func parent(waitingFor signal: Signal) -> AsyncOperation<Void> {
        AsyncOperation { context in try await context.run(AsyncOperation { await signal.wait() }) }
    }

    @Test("A snapshot of very many operations that wait for the holders of a name takes time in proportion")
    func snapshotWithManyHolders() async throws {
        try await within {
            await expectNearlyLinear(1_000) { count in
                let (queue, signal) = (AsyncOperationQueue(maxConcurrentOperationCount: 2 * count), Signal())
                func operations(_ mode: Exclusion.Mode) -> [AsyncOperation<Void>] {
                    (0..<count / 2).map { _ in
                        AsyncOperation { await signal.wait() }.addCondition(
                            .mutuallyExclusive("held by many", mode: mode))
                    }
                }
                queue.add(operations(.shared))
                await signal.waitForWaiters(count / 2)
                let waiting = operations(.exclusive)
                queue.add(waiting)
                while queue.snapshot().operations.count(where: { !$0.waitsFor.isEmpty }) < count / 2 {
                    await Task.yield()
                }
                for _ in 0..<3 {
                    let snapshot = queue.snapshot()
                    #expect(snapshot.operations.count { $0.waitsFor.first?.exclusion != nil } == count / 2)
                }
                for operation in waiting { #expect(operation.explain().waits.first?.exclusion != nil) }
                signal.send()
                await queue.waitUntilIdle()
            }
        }
    }
}

/// A gate that is opened once, for all waiters.
private final class Signal: Sendable {
    private struct State {
        var isSent = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())

    func wait() async {
        await withCheckedContinuation { continuation in
            let isSent = state.withLock { state in
                if !state.isSent { state.waiters.append(continuation) }
                return state.isSent
            }
            if isSent { continuation.resume() }
        }
    }

    func waitForWaiters(_ count: Int) async {
        while state.withLock({ $0.waiters.count }) < count { await Task.yield() }
    }

    func send() {
        let waiters = state.withLock { state in
            state.isSent = true
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
