import BatonTesting
import Testing

@testable import Baton

/// Tests of the position of a further attempt in the queue for an exclusion, and in a suspended queue.
@Suite(.timeLimit(.minutes(10))) struct FurtherAttemptOrderTests {
    /// Makes an operation that notes each attempt and fails `count` times. Each attempt waits at the gate, so that
    /// other operations can request the names of the first one.
    private func failing(_ count: Int, on stage: TestQueue, _ name: String, at gate: Gate? = nil) -> AsyncOperation<
        Void
    > {
        AsyncOperation(name) { context in
            stage.log("\(name)\(context.attempt)")
            await gate?.wait()
            if context.attempt <= count { throw Oops() }
        }
    }

    // MARK: Exclusions

    @Test("A further attempt comes before first attempts that wait for the same name")
    func furtherAttemptsComeFirstInTheLine() {
        let names = Names()
        let stage = TestQueue()
        let gate = Gate()
        let a = failing(1, on: stage, "a", at: gate).retry(.immediately, attempts: 2)
        let others = ["b", "c", "d"].map { stage.noting($0) }
        for operation in [a] + others { operation.addCondition(.mutuallyExclusive(names("x"))) }
        stage.queue.add([a] + others)
        stage.steps.runAll()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["a1", "b", "a2", "c", "d"])
    }

    @Test("A further attempt after a backoff passes the operations that have waited meanwhile")
    func soDoesOneAfterABackoff() {
        let names = Names()
        let stage = TestQueue()
        let gate = Gate()
        let a = failing(1, on: stage, "a").retry(.constant(.seconds(1)), attempts: 2)
        let b = stage.waiting("b", at: gate)
        let others = (1...120).map { stage.noting("\($0)") }
        for operation in [a, b] + others { operation.addCondition(.mutuallyExclusive(names("x"))) }
        stage.queue.add([a, b] + others)
        stage.steps.runAll()
        stage.advance(by: .seconds(1))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.prefix(3) == ["a1", "b", "a2"])
        #expect(stage.ran.count == 123)
    }

    @Test("Several further attempts get the name in the order in which they request it")
    func furtherAttemptsKeepTheirOrder() {
        let names = Names()
        let stage = TestQueue()
        let gate = Gate()
        let retried = ["a", "b", "c"].map { failing(1, on: stage, $0).retry(.constant(.seconds(1)), attempts: 2) }
        let holder = stage.waiting("holder", at: gate)
        let last = stage.noting("last")
        for operation in retried + [holder, last] { operation.addCondition(.mutuallyExclusive(names("x"))) }
        stage.queue.add(retried + [holder, last])
        stage.steps.runAll()
        stage.advance(by: .seconds(1))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["a1", "b1", "c1", "holder", "a2", "b2", "c2", "last"])
    }

    @Test("A repetition goes to the end of the queue for a name")
    func repetitionsGoToTheEnd() {
        let names = Names()
        let stage = TestQueue()
        let a = stage.noting("a").repeat(every: .zero, count: 2)
        let others = ["b", "c"].map { stage.noting($0) }
        for operation in [a] + others { operation.addCondition(.mutuallyExclusive(names("x"))) }
        stage.queue.add([a] + others)
        stage.steps.runAll()
        #expect(stage.ran == ["a", "b", "c", "a"])
    }

    @Test(
        "The first attempt of a repetition goes to the end of the queue, even after a further attempt"
    )
    func aRepetitionAfterARetryGoesToTheEnd() {
        let names = Names()
        let stage = TestQueue()
        let runs = Tally()
        let gate = Gate()
        let a = AsyncOperation {
            stage.log("a")
            await gate.wait()
            runs.add()
            if runs.count == 1 { throw Oops() }
        }
        .retry(.immediately, attempts: 2).repeat(every: .zero, count: 2)
        let others = ["b", "c", "d"].map { stage.noting($0) }
        for operation in [a] + others { operation.addCondition(.mutuallyExclusive(names("x"))) }
        stage.queue.add([a] + others)
        stage.steps.runAll()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["a", "b", "a", "c", "d", "a"])
    }

    @Test("Operations that fail repeatedly do not keep a name from other operations forever")
    func endlessAttemptsDoNotKeepOthersFromTheirName() {
        let names = Names()
        let stage = TestQueue()
        let endless = ["a", "b", "c"].map { name in
            AsyncOperation<Void>(name) { context in
                stage.log(name)
                if context.operation.isCancelled { return }
                throw Oops()
            }
            .retry(.immediately, attempts: .max)
        }
        let last = AsyncOperation {
            stage.log("last")
            for operation in endless { operation.cancel() }
        }
        for operation in endless + [last] { operation.addCondition(.mutuallyExclusive(names("x"))) }
        stage.queue.add(endless + [last])
        stage.steps.runAll()
        let before = stage.ran.prefix { $0 != "last" }.count
        #expect(before <= 3 * 17 + 3, "\(before) attempts came first")
        #expect(stage.ran.last == "last")
    }

    @Test("Two names in opposite orders, with attempts that fail at random, block no operation forever")
    func twoNamesDoNotBlockOneAnother() async throws {
        let names = Names()
        try await exploring(schedules: tries(200)) { scheduler in
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: scheduler.random(in: 1...4), executor: scheduler)
            let operations = (0..<12).map { _ in
                let failures = scheduler.random(in: 0...3)
                let operation = AsyncOperation { context in if context.attempt <= failures { throw Oops() } }
                    .retry(.immediately, attempts: 4)
                for name in ["x", "y", "z"] where scheduler.random(in: 0...1) == 0 {
                    operation.addCondition(.mutuallyExclusive(names(name)))
                }
                return operation
            }
            queue.add(operations)
            for operation in operations { try await operation.value }
        }
    }

    // MARK: Suspension

    @Test(
        "Further attempts that a suspended queue holds back wait, and then come first",
        arguments: [Duration.zero, .seconds(1)], SchedulingOrder.allCases)
    func suspensionHoldsFurtherAttempts(backoff: Duration, order: SchedulingOrder) {
        let stage = TestQueue(width: 1)
        stage.queue.suspendsFurtherAttempts = true
        stage.queue.schedulingOrder = order
        let a = AsyncOperation { context in
            stage.log("a\(context.attempt)")
            if context.attempt == 1 {
                stage.queue.isSuspended = true
                throw Oops()
            }
        }
        .retry(.constant(backoff), attempts: 2)
        stage.run(a)
        stage.run(stage.noting("b"))
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["a1"])
        #expect(a.explain().description.contains("suspended"))
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["a1", "a2", "b"])
        #expect(a.ending == "success")
    }

    @Test("A further attempt that waits for its turn when the queue is suspended keeps its place")
    func suspensionKeepsThePlace() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        stage.queue.suspendsFurtherAttempts = true
        let a = failing(1, on: stage, "a").retry(.constant(.seconds(1)), attempts: 2)
        stage.run(a)
        stage.queue.add([stage.waiting("b", at: gate), stage.noting("c")])
        stage.steps.runAll()
        stage.advance(by: .seconds(1))
        stage.queue.isSuspended = true
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["a1", "b"])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["a1", "b", "a2", "c"])
    }

    @Test("A suspended queue that is released ends an operation whose next attempt it holds back")
    func aReleasedQueueEndsWhatItHoldsBack() {
        let steps = StepExecutor()
        let clock = TestClock()
        let operation = AsyncOperation<Void> { throw Oops() }.retry(.constant(.seconds(1)), attempts: 2)
        do {
            let queue = AsyncOperationQueue(executor: steps, clock: clock)
            queue.suspendsFurtherAttempts = true
            queue.add(operation)
            steps.runAll()
            queue.isSuspended = true
        }
        clock.advance(by: .seconds(1))
        steps.runAll()
        #expect(operation.ending == "queueReleased")
    }

    @Test("A child that a body waits for is retried although its queue holds further attempts back")
    func childrenTryAgain() {
        let stage = TestQueue()
        stage.queue.suspendsFurtherAttempts = true
        let parent = AsyncOperation { context in
            stage.queue.isSuspended = true
            try await context.run(failing(1, on: stage, "child").retry(.constant(.seconds(1)), attempts: 2))
        }
        stage.run(parent)
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["child1", "child2"])
        #expect(parent.ending == "success")
    }
}
