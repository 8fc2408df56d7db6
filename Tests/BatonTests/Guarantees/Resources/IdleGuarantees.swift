// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// Tests of what is alive when a task learns that the queue is idle. The task continues inside the call that resumes
/// it, while the worker has not returned from its step.
@Suite(.timeLimit(.minutes(10))) struct IdleGuarantees {
    private let tokens = Tokens()

    /// Returns the number of tokens that are alive when `waitUntilIdle` returns.
    private func aliveWhenIdle(
        on executor: any TaskExecutor, width: Int = 64, _ begin: (AsyncOperationQueue) -> Gate
    ) async -> Int {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: width, executor: executor)
        let gate = begin(queue)
        let alive = EventLog<Int>()
        Task(executorPreference: ImmediateExecutor()) { [tokens] in
            await queue.waitUntilIdle()
            alive(tokens.alive)
        }
        #expect(queue.operationCount > 0)
        gate.open()
        (executor as? StepExecutor)?.runAll()
        return await alive.waitForCount(1)[0]
    }

    @Test func G31_noBodyIsAliveWhenTheQueueSaysThatItIsIdle() async {
        let steps = StepExecutor()
        let alive = await aliveWhenIdle(on: steps) { queue in
            let gate = Gate()
            let token = tokens.make()
            queue.add {
                await gate.wait()
                token.touch()
            }
            steps.runAll()
            return gate
        }
        #expect(alive == 0)
    }

    @Test func G31_noOutputIsAliveWhenTheQueueSaysThatItIsIdle() async {
        let steps = StepExecutor()
        let alive = await aliveWhenIdle(on: steps) { queue in
            let gate = Gate()
            queue.add { [tokens] in
                await gate.wait()
                return tokens.make()
            }
            steps.runAll()
            return gate
        }
        #expect(alive == 0)
    }

    /// The child's worker hands its permit to the parent, and continues to run beside it.
    @Test func G31_noParentIsAliveWhenTheQueueSaysThatItIsIdle() async {
        let alive = await aliveWhenIdle(on: ImmediateExecutor(), width: 1) { queue in
            let gate = Gate()
            queue.add(
                AsyncOperation { [tokens] context in
                    try await context.run(AsyncOperation { await gate.wait() })
                    return tokens.make()
                })
            return gate
        }
        #expect(alive == 0)
    }

    @Test func G31_noHandlerIsAliveWhenTheQueueSaysThatItIsIdle() async {
        let steps = StepExecutor()
        let alive = await aliveWhenIdle(on: steps) { queue in
            let gate = Gate()
            let token = tokens.make()
            let operation = AsyncOperation { await gate.wait() }
            operation.didFinish { _ in token.touch() }
            queue.add(operation)
            steps.runAll()
            return gate
        }
        #expect(alive == 0)
    }

    /// A ready operation that was cancelled would otherwise stay in the ready list until a worker takes it, which never
    /// happens while the queue is suspended.
    @Test func G31_aSuspendedQueueKeepsNoCancelledOperation() {
        let stage = TestQueue(isSuspended: true)
        weak var operation: AnyOperation?
        do {
            let ready = stage.noting("ready")
            operation = ready
            stage.queue.add(ready)
            ready.cancel()
        }
        #expect(stage.queue.operationCount == 0)
        #expect(operation == nil)
    }

    enum Look: CaseIterable {
        case cancelAll, explain, observe, snapshot
    }

    /// A thread that inspects a queue retains its operations meanwhile. One that explains an operation of another queue
    /// does not.
    @Test(arguments: Look.allCases) func G31_noOutputIsAliveAfterALookAtTheQueue(_ look: Look) async {
        let other = AsyncOperationQueue(isSuspended: true)
        let child = AsyncOperation("child") {}
        other.add(GroupOperation("group", child))
        let inspected = Locked<AsyncOperationQueue?>(nil)
        let thread = ThreadExecutor(name: "looks", threads: 1)
        let looking = Task.detached(executorPreference: thread) {
            while !Task.isCancelled {
                let queue = inspected.withLock { $0 }
                switch look {
                case .cancelAll: queue?.cancelAll()
                case .explain: _ = child.explain()
                case .observe: _ = queue?.events
                case .snapshot: _ = queue?.snapshot()
                }
            }
        }
        var most = 0
        for _ in 0..<300 {
            let queue = AsyncOperationQueue(isSuspended: true)
            for _ in 0..<200 { queue.add { [tokens] in tokens.make() } }
            inspected.withLock { $0 = queue }
            queue.isSuspended = false
            await queue.waitUntilIdle()
            most = max(most, tokens.alive)
        }
        looking.cancel()
        await looking.value
        #expect(most == 0)
        other.cancelAll()
    }
}
