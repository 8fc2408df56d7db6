import Baton
import BatonTesting
import Synchronization
import Testing

/// Tests executors and isolations other than the defaults.
@Suite("Bodies on executors and isolations of every kind", .timeLimit(.minutes(10)))
struct WhatHeldOnExecutors {
    /// Runs a job on the thread that enqueues it, inside that call.
    private final class InlineExecutor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private actor Counter {
        private(set) var count = 0
        func add() { count += 1 }
        func body() -> AsyncOperation<Void> { AsyncOperation { await self.add() } }
    }

    @MainActor private final class MainCounter {
        var count = 0
        nonisolated init() {}
    }

    @Test("Bodies run on an inline executor, at every width", arguments: [1, 2, 64, AsyncOperationQueue.unlimited])
    func inline(width: Int) async throws {
        let count = reduced(1_000)
        let ran = Atomic<Int>(0)
        let handled = Atomic<Int>(0)
        try await within {
            let name = "inline \(UInt64.random(in: 0...(.max)))"
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width, executor: InlineExecutor())
            for number in 0..<count {
                let operation = AsyncOperation<Void> { context in
                    ran.add(1, ordering: .relaxed)
                    if number % 3 == 0 { try await context.run(AsyncOperation { await Task.yield() }) }
                    if number % 5 == 0 { try context.produce(AsyncOperation {}) }
                }
                operation.didFinish { _ in _ = handled.add(1, ordering: .relaxed) }
                if number % 4 == 0 { operation.addCondition(.mutuallyExclusive(name)) }
                queue.add(operation)
            }
            await queue.waitUntilIdle()
        }
        #expect(ran.load(ordering: .relaxed) == count)
        #expect(handled.load(ordering: .relaxed) == count)
    }

    @Test("Bodies run on an actor")
    func onActor() async throws {
        let counter = Counter()
        try await within {
            let queue = AsyncOperationQueue()
            for _ in 0..<reduced(2_000) { queue.add(await counter.body()) }
            await queue.waitUntilIdle()
        }
        #expect(await counter.count == reduced(2_000))
    }

    @Test("Bodies run on the main actor")
    func onMainActor() async throws {
        let counter = MainCounter()
        try await within {
            let queue = AsyncOperationQueue()
            queue.add((0..<reduced(2_000)).map { _ in AsyncOperation { @MainActor in counter.count += 1 } })
            await queue.waitUntilIdle()
        }
        #expect(await counter.count == reduced(2_000))
    }

    @Test("Immediate tasks run inside and outside of bodies")
    func immediate() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let sum = Atomic<Int>(0)
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
            let inside = (0..<reduced(200)).map { number in
                AsyncOperation {
                    let task = Task.immediate {
                        await Task.yield()
                        return 1
                    }
                    _ = sum.add(await task.value, ordering: .relaxed)
                }
            }
            let outside = (0..<reduced(200)).map { _ in
                Task.immediate { @Sendable in _ = sum.add(try await queue.run(AsyncOperation { 1 }), ordering: .relaxed)
                }
            }
            queue.add(inside)
            for task in outside { try await task.value }
            await queue.waitUntilIdle()
        }
        #expect(sum.load(ordering: .relaxed) == 2 * reduced(200))
    }
}
