// The names of tests that prove a guarantee begin with its number.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// Tests of how the tasks of a queue call its handlers.
@Suite(.timeLimit(.minutes(10))) struct DeliveryGuarantees {
    @Test func G28_aHandlerThatCancelsItsTaskAffectsNoOtherHandler() {
        let stage = TestQueue()
        let cancelled = EventLog<Bool>()
        let operations = (0..<20).map { number in
            let operation = AsyncOperation {}
            for _ in 0..<3 {
                operation.didFinish { _ in
                    cancelled(Task.isCancelled)
                    if number % 2 == 0 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            return operation
        }
        stage.queue.add(operations)
        stage.steps.runAll()
        #expect(cancelled.events == Array(repeating: false, count: 60))
        stage.steps.task { [queue = stage.queue, log = stage.log] in
            await queue.waitUntilIdle()
            log("idle")
        }
        stage.steps.runAll()
        #expect(stage.ran == ["idle"])
    }

    @Test func G28_aHandlerThatCancelsItsTaskAffectsNoOtherOfAnUnaddedOperation() async {
        let cancelled = EventLog<Bool>()
        let operation = AsyncOperation {}
        for _ in 0..<3 {
            operation.didFinish { _ in
                cancelled(Task.isCancelled)
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        operation.cancel()
        await cancelled.waitForCount(3)
        #expect(cancelled.events == [false, false, false])
    }

    @Test(arguments: [false, true]) func G28_idleComesAfterTenThousandHandlers(isChain: Bool) async {
        let queue = AsyncOperationQueue()
        let called = Tally()
        var operations: [AsyncOperation<Void>] = []
        for _ in 0..<10_000 {
            let operation = AsyncOperation {}.didFinish { _ in called.add() }
            if isChain, let last = operations.last { operation.addDependency(last) }
            operations.append(operation)
        }
        queue.add(operations)
        await queue.waitUntilIdle()
        #expect(called.count == 10_000)
    }

    @Test func G28_everyHandlerIsCalledOnceUnderEverySchedule() async throws {
        try await exploring(schedules: tries(200)) { scheduler in
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 3, executor: scheduler)
            let called = EventLog<Int>()
            let operations = (0..<30).map { number in
                AsyncOperation {
                    if number % 4 == 0 { await Task.yield() }
                }.didStart { called(number) }.didFinish { _ in
                    if number % 3 == 0 { await Task.yield() }
                    if number % 7 == 0 { withUnsafeCurrentTask { $0?.cancel() } }
                    called(number)
                }
            }
            queue.add(operations)
            await queue.waitUntilIdle()
            try #require(called.events.sorted() == (0..<60).map { $0 / 2 })
        }
    }

    @Test func G29_aHandlerThatNeverReturnsHoldsUpNoOther() {
        let stage = TestQueue()
        let gate = Gate()
        let operations = (0..<1_001).map { number in
            AsyncOperation {}.didFinish { [log = stage.log] _ in
                if number % 500 == 0 { await gate.wait() } else { log("\(number)") }
            }
        }
        stage.queue.add(operations)
        stage.steps.runAll()
        #expect(stage.ran.count == 998)
        gate.open()
        stage.steps.runAll()
    }

    /// The handler blocks one of two threads, so one is left.
    @Test func G29_aHandlerThatBlocksItsThreadHoldsUpNoOther() async {
        let queue = AsyncOperationQueue(executor: ThreadExecutor(threads: 2))
        let barrier = Barrier()
        let called = EventLog<Int>()
        let operations = (0..<1_001).map { number in
            AsyncOperation {}.didFinish { _ in
                if number == 500 { barrier.block() } else { called(number) }
            }
        }
        queue.add(operations)
        await called.waitForCount(1_000)
        barrier.open()
        await queue.waitUntilIdle()
    }

    /// Operations are added one by one while a handler blocks its thread.
    @Test func G29_aBlockedHandlerDelaysNoLaterOperation() async {
        let queue = AsyncOperationQueue(executor: ThreadExecutor(threads: 2))
        let barrier = Barrier()
        let called = EventLog<Int>()
        queue.add(
            AsyncOperation {}.didFinish { _ in
                called(0)
                barrier.block()
            })
        for number in 1...100 {
            await called.waitForCount(number)
            queue.add(AsyncOperation {}.didFinish { _ in called(number) })
        }
        await called.waitForCount(101)
        barrier.open()
        await queue.waitUntilIdle()
    }

    /// All handlers wait at the same gate.
    @Test func G29_handlersThatSuspendAreAllUnderWay() {
        let stage = TestQueue()
        let gate = Gate()
        stage.queue.add((0..<100).map { _ in AsyncOperation {}.didFinish { _ in await gate.wait() } })
        stage.steps.runAll()
        #expect(gate.waiterCount == 100)
        gate.open()
        stage.steps.runAll()
    }

    /// All handlers are due at once, because their operations are cancelled before they run.
    @Test func G34_aTaskThatCallsHandlersYieldsAfterEachSlice() {
        let stage = TestQueue(isSuspended: true)
        let operations = (0..<1_000).map { _ in AsyncOperation {}.didFinish { [log = stage.log] _ in log("") } }
        stage.queue.add(operations)
        for operation in operations { operation.cancel() }
        let beside = EventLog<Int>()
        stage.steps.task { [log = stage.log] in beside(log.events.count) }
        stage.steps.runAll()
        #expect(stage.ran.count == 1_000)
        #expect(beside.events[0] < 200)
    }

    /// A task for each handler would cost more than the operation and its handler.
    @Test func shortHandlersShareTheirTasks() {
        let stage = TestQueue()
        let operations = (0..<1_000).map { _ in AsyncOperation {}.didFinish { [log = stage.log] _ in log("") } }
        for number in 1..<1_000 { operations[number].addDependency(operations[number - 1]) }
        stage.queue.add(operations)
        let jobs = stage.steps.runAll()
        #expect(stage.ran.count == 1_000)
        #expect(jobs < 120)
    }

    /// The last handle of the queue was released, and only the tasks retain the queue.
    @Test func handlersOfAQueueThatWasReleasedAreCalled() {
        let steps = StepExecutor()
        let log = EventLog<Int>()
        weak var core: QueueCore?
        do {
            let queue = AsyncOperationQueue(executor: steps)
            core = queue.core
            queue.add((0..<100).map { number in AsyncOperation {}.didFinish { _ in log(number) } })
        }
        steps.runAll()
        #expect(log.events == Array(0..<100))
        #expect(core == nil)
    }
}
