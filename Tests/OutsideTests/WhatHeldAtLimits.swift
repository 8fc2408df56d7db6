import Baton
import BatonTesting
import Testing

@Suite("Extreme values and odd graphs", .timeLimit(.minutes(10)))
struct WhatHeldAtLimits {
    private struct Oops: Error {}

    private static let greatest = Duration(attoseconds: .max)
    private static let least = Duration(attoseconds: .min)

    @Test("The longest and the shortest durations neither trap nor hang", arguments: [greatest, least])
    func durations(duration: Duration) async throws {
        try await within {
            let queue = AsyncOperationQueue(onMisuse: { _ in })
            let gate = Gate()
            let delayed = AsyncOperation("delayed") { 1 }.delayed(by: duration)
            let spaced = AsyncOperation("spaced") { 2 }.delayed(untilAtLeast: duration)
            let limited = AsyncOperation("limited") { 3 }.timeout(duration)
            let waiting = AsyncOperation("waiting") { 4 }.timeout(waiting: duration)
            let retried = AsyncOperation<Int>("retried") { throw Oops() }
                .retry(.linear(from: duration, by: duration), attempts: 3, deadline: duration)
            let doubled = AsyncOperation<Int>("doubled") { throw Oops() }
                .retry(.exponential(from: .nanoseconds(1), factor: .infinity).capped(at: .zero), attempts: 3)
            let repeated = AsyncOperation("repeated") { 5 }.repeat(every: duration, count: 2)
            let all: [AnyOperation] = [delayed, spaced, limited, waiting, retried, doubled, repeated]
            queue.onStall(after: duration) { _ in }
            for operation in all { operation.add(to: queue) }
            let sentinel = queue.add { await gate.wait() }
            gate.open()
            try await sentinel.value
            _ = try? await doubled.value
            for operation in all { _ = operation.explain().description }
            _ = queue.snapshot()
            queue.cancelAll()
            await queue.waitUntilIdle()
            #expect(all.allSatisfy { $0.state == .finished })
        }
    }

    @Test("Extreme counts, widths and weights neither trap nor hang", arguments: [Int.min, -1, 0, 1, Int.max])
    func counts(count: Int) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: count, onMisuse: { _ in })
            queue.maxConcurrentOperationCount = count
            queue.maxWaitingOperationCount = count
            let name = "counted \(UInt64.random(in: 0...(.max)))"
            let parent = AsyncOperation<Int> { context in
                context.progress.totalUnitCount = count
                context.progress.completedUnitCount = count
                context.progress.advance(by: count)
                context.progress.report(completed: count, of: count)
                return try await context.run(AsyncOperation { 1 }, weight: count)
            }
            let limited = AsyncOperation { 2 }.addCondition(.limited(name, to: count, weight: count))
            let retried = AsyncOperation { 3 }.retry(.immediately, attempts: count)
            let repeated = AsyncOperation { 4 }.repeat(every: .zero, count: count) { _ in true }
            let group = GroupOperation([AsyncOperation {}, AsyncOperation {}], maxConcurrentOperationCount: count)
            let events = queue.events(buffering: .newest(count))
            queue.add([parent, limited, retried, repeated, group])
            await queue.waitUntilIdle()
            withExtendedLifetime(events) {}
            #expect(parent.error == nil && repeated.error == nil && retried.error == nil)
        }
    }

    @Test("A group that is its own child fails, as does an operation whose condition depends on that operation")
    func ownChild() async throws {
        struct Own: OperationCondition {
            func dependency(for operation: AnyOperation) -> AnyOperation? { operation }
            func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
        }
        try await within {
            let queue = AsyncOperationQueue(onMisuse: { _ in })
            let group = GroupOperation("group")
            try group.add(group)
            let own = AsyncOperation("own") {}.addCondition(Own())
            queue.add(group, own)
            await queue.waitUntilIdle()
            for error in [group.error, own.error] {
                guard let error else {
                    Issue.record("no error")
                    continue
                }
                #expect("\(error)".contains("waits for itself"))
            }
        }
    }

    @Test("A condition that never answers is ended by the limit for waiting")
    func endlessCondition() async throws {
        try await within {
            let queue = AsyncOperationQueue()
            let operation = AsyncOperation {}
                .addCondition("never") { _ in
                    try await Gate().waitUnlessCancelled()
                    return .satisfied
                }
                .timeout(waiting: .milliseconds(5))
            queue.add(operation)
            await queue.waitUntilIdle()
            guard case .timedOut = operation.error else {
                Issue.record("\(String(describing: operation.error))")
                return
            }
        }
    }

    @Test("A CancellationError that a body throws without a cancellation is a failure")
    func ownCancellationError() async throws {
        try await within {
            let queue = AsyncOperationQueue()
            let operation = AsyncOperation<Void> { throw CancellationError() }
            queue.add(operation)
            await queue.waitUntilIdle()
            guard case .failed(let error) = operation.error, error is CancellationError else {
                Issue.record("\(String(describing: operation.error))")
                return
            }
            #expect(!operation.isCancelled)
        }
    }

    @Test("Operations run each other to a great depth")
    func deepNesting() async throws {
        @Sendable func nested(_ depth: Int) -> AsyncOperation<Int> {
            AsyncOperation<Int> { context in depth == 0 ? 0 : try await context.run(nested(depth - 1)) + 1 }
        }
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let depth = try await queue.run(nested(reduced(5_000)))
            #expect(depth == reduced(5_000))
        }
    }
}
