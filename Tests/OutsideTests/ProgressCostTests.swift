import Baton
import Testing

@Suite("Costs of progress", .timeLimit(.minutes(5)))
struct ProgressCostTests {
    @Test("A finished child counts for many parents, which are released", arguments: [false, true])
    func sharedChild(areKept: Bool) async throws {
        try await expectNearlyLinear(1_500) { count in
            let queue = AsyncOperationQueue()
            let shared = AsyncOperation { 1 }
            _ = try await queue.run(shared)
            var kept: [AnyOperation] = []
            for _ in 0..<count {
                let parent = AsyncOperation<Int> { try await $0.run(shared, weight: 1) }
                if areKept { kept.append(parent) }
                queue.add(parent)
            }
            try await within { await queue.waitUntilIdle() }
            for parent in kept { #expect(parent.progress.completedUnitCount == 1) }
        }
    }

    @Test("A running child counts for many parents at once")
    func runningChild() async throws {
        try await expectNearlyLinear(1_500) { count in
            let queue = AsyncOperationQueue()
            let (gate, opener) = AsyncStream<Void>.makeStream()
            let shared = AsyncOperation {
                for await _ in gate {}
                return 1
            }
            shared.add(to: queue)
            let parents = (0..<count).map { _ in AsyncOperation<Int> { try await $0.run(shared, weight: 1) } }
            queue.add(parents)
            opener.finish()
            try await within { await queue.waitUntilIdle() }
            for parent in parents { #expect(parent.progress.completedUnitCount == 1) }
        }
    }

    @Test("A parent has many children, finished and unfinished")
    func manyChildren() async throws {
        try await expectNearlyLinear(1_500) { count in
            let queue = AsyncOperationQueue()
            let parent = AsyncOperation<Void> { context in
                for _ in 0..<count { _ = try await context.run(AsyncOperation { 1 }, weight: 1) }
            }
            try await within { try await queue.run(parent) }
            #expect(parent.progress.completedUnitCount == count)
        }
    }

    @Test("Groups in groups count their children")
    func nestedGroups() async throws {
        try await expectNearlyLinear(3_000) { count in
            var group = GroupOperation(AsyncOperation {})
            for _ in 0..<count { group = GroupOperation(group) }
            #expect(group.progress.fractionCompleted == 0)
            let queue = AsyncOperationQueue()
            let outermost = group
            try await within { try await queue.run(outermost) }
            #expect(outermost.progress.fractionCompleted == 1)
        }
    }

    @Test("A child counts once in a run of a body, also when it has finished")
    func countsOnce() async throws {
        let queue = AsyncOperationQueue()
        let shared = AsyncOperation { 1 }
        _ = try await queue.run(shared)
        let parent = AsyncOperation<Void> { context in
            context.progress.totalUnitCount = 10
            for _ in 0..<3 { _ = try await context.run(shared, weight: 2) }
        }
        let before = Guarded(0)
        let watching = AsyncOperation<Void> { context in
            context.progress.totalUnitCount = 10
            context.progress.addChild(shared, weight: 3)
            context.progress.addChild(shared, weight: 3)
            before.withLock { $0 = context.operation.progress.completedUnitCount }
        }
        try await queue.run(parent)
        try await queue.run(watching)
        #expect(before.withLock { $0 } == 3)
        let second = AsyncOperation<Void> { context in
            context.progress.addChild(shared, weight: 4)
            throw CancellationError()
        }
        _ = try? await queue.run(second.retry(.immediately, attempts: 3))
        #expect(second.progress.completedUnitCount == 4)
    }
}
