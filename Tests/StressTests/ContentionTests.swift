import Baton
import Synchronization
import Testing

/// Lets two threads execute the same few instructions many times, for races that are too narrow for random graphs.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ContentionTests {
    private static let rounds = Seeds.rounds(400)
    private let pool = ThreadPool.racing

    /// G3, G25: Two sources that finish at once count down the same dependents. Each dependent runs once, after both.
    @Test func sourcesThatFinishAtOnce() async throws {
        let queue = AsyncOperationQueue(executor: pool)
        for _ in 0..<Self.rounds {
            let meeting = SpinBarrier(2)
            let starts = Counter()
            let sources = (0..<2).map { _ in AsyncOperation { meeting.meet() } }
            let dependents = (0..<40).map { _ in
                let dependent = AsyncOperation {
                    starts.add()
                    return sources.allSatisfy { $0.state == .finished }
                }
                for source in sources { dependent.addDependency(source) }
                return dependent
            }
            queue.add(sources + dependents)
            try await finish(dependents) { #expect($0, "G3: it ran before both had finished") }
            #expect(starts.value == 40, "G2: each runs once")
        }
    }

    /// G25: A caller that begins to wait while the outcome is published does not wait forever.
    @Test func waitersThatComeWithTheOutcome() async throws {
        let queue = AsyncOperationQueue(executor: pool)
        for _ in 0..<Self.rounds {
            let meeting = SpinBarrier(2)
            let operations = (0..<10).map { AsyncOperation("\($0)") { true } }
            let waiter = Task.detached(executorPreference: pool) {
                meeting.meet()
                for operation in operations { _ = try await operation.value }
            }
            let adder = Task.detached(executorPreference: pool) {
                meeting.meet()
                for operation in operations { queue.add(operation) }
            }
            await adder.value
            try await finish(operations) { _ in }
            try await watched(seed: 0, explaining: { ["a waiter was not woken"] }) { _ = await waiter.result }
        }
    }

    /// G15, G25: A cancellation during the add ends an operation once, whether it has been linked to its sources or
    /// not.
    @Test func cancelsInTheMiddleOfTheAdd() async throws {
        let queue = AsyncOperationQueue(executor: pool)
        for _ in 0..<Self.rounds {
            let meeting = SpinBarrier(2)
            let sources = (0..<6).map { _ in AsyncOperation { true } }
            let readers = (0..<10).map { number in
                let reader = sources[number % 6].then { $0 }
                for source in sources { reader.addDependency(source) }
                return reader
            }
            queue.add(Array(sources[..<3]))
            let canceller = Task.detached(executorPreference: pool) {
                meeting.meet()
                for reader in readers { reader.cancel() }
            }
            let adder = Task.detached(executorPreference: pool) {
                meeting.meet()
                queue.add(readers)
                queue.add(Array(sources[3...]))
            }
            await adder.value
            try await finish(sources + readers) { _ in }
            await canceller.value
            await queue.waitUntilIdle()
        }
        #expect(queue.operationCount == 0)
    }

    /// G16: A cancellation reaches a body that has just begun, even if its worker does not know its own task yet.
    @Test func cancelsOfABodyThatHasJustBegun() async throws {
        let queue = AsyncOperationQueue(executor: pool)
        for _ in 0..<Self.rounds {
            let endless = AsyncOperation {
                while !Task.isCancelled { await Task.yield() }
                return true
            }
            let canceller = Task.detached(executorPreference: pool) {
                while endless.state != .executing { await Task.yield() }
                endless.cancel()
            }
            queue.add(endless)
            try await finish([endless]) { _ in }
            await canceller.value
        }
    }

    /// G28: A cancellation that coincides with the end of the body also calls the handlers, and an idle queue has
    /// called all of them.
    @Test func handlersOfWhatIsCancelledAtItsEnd() async throws {
        for _ in 0..<Self.rounds {
            let queue = AsyncOperationQueue(executor: pool)
            let meeting = SpinBarrier(2)
            let (calls, cancels) = (Counter(), Counter())
            let operation = AsyncOperation {
                meeting.meet()
                return true
            }
            operation.didCancel { _ in cancels.add() }
            operation.didFinish { _ in calls.add() }
            queue.add(operation)
            let canceller = Task.detached(executorPreference: pool) {
                meeting.meet()
                operation.cancel()
            }
            await queue.waitUntilIdle()
            #expect(calls.value == 1, "G28: the queue is idle, and a handler has not been called")
            await canceller.value
            await queue.waitUntilIdle()
            #expect(cancels.value == (operation.isCancelled ? 1 : 0))
        }
    }

    // MARK: Waiting

    private func finish(
        _ operations: [AsyncOperation<Bool>], _ check: @escaping @Sendable (Bool) -> Void
    ) async throws {
        try await watched(seed: 0, explaining: { operations.map { $0.explain().description } }) {
            for operation in operations { if let output = try? await operation.value { check(output) } }
        }
    }
}

/// A spinning barrier: threads that meet leave at the same moment. It blocks threads, so only threads of the pool may
/// use it.
private final class SpinBarrier: Sendable {
    private let missing: Atomic<Int>

    init(_ count: Int) { missing = Atomic(count) }

    func meet() {
        missing.subtract(1, ordering: .acquiringAndReleasing)
        while missing.load(ordering: .acquiring) > 0 {}
    }
}

private final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    func add() { count.add(1, ordering: .relaxed) }

    var value: Int { count.load(ordering: .relaxed) }
}
