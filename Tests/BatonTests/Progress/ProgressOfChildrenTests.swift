import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ProgressOfChildrenTests {
    private let stage = TestQueue()

    @Test func aChildCountsInPartWhileItRunsAndThenInFull() {
        let half = Gate()
        let all = Gate()
        let after = EventLog<String>()
        let parent = AsyncOperation { context in
            context.progress.totalUnitCount = 10
            context.progress.advance()
            try await context.run(
                AsyncOperation { context in
                    context.progress.report(completed: 1, of: 2)
                    await half.wait()
                }, weight: 4)
            after("\(context.operation.progress)")
            await all.wait()
        }
        stage.run(parent)
        #expect("\(parent.progress)" == "1 of 10 (30 %)")
        half.open()
        stage.steps.runAll()
        #expect("\(parent.progress)" == "5 of 10 (50 %)")
        #expect(after.events == ["5 of 10 (50 %)"], "Already when the run returns.")
        all.open()
        stage.steps.runAll()
        #expect("\(parent.progress)" == "10 of 10 (100 %)")
    }

    /// The probe is called after the child's outcome is decided and before its readers continue.
    @Test func whenARunReturnsTheChildHasCounted() {
        let counts = EventLog<Int>()
        let children = EventLog<AsyncOperation<Void>>()
        let parent = OperationContext()
        let stage = TestQueue { event in
            guard case .finished = event.kind else { return }
            Task(executorPreference: ImmediateExecutor()) {
                try await parent.run(children.events[0], weight: 3)
                counts(parent.progress.completedUnitCount)
            }
        }
        let child = AsyncOperation {}
        children(child)
        parent.progress.addChild(child, weight: 3)
        stage.run(child)
        #expect(counts.events == [3])
    }

    @Test func withoutATotalItIsTheSumOfTheWeights() {
        let gate = Gate()
        let parent = AsyncOperation { context in
            try await context.run(AsyncOperation {}, weight: 1)
            try await context.run(AsyncOperation {}, weight: 2)
            await gate.wait()
        }
        stage.run(parent)
        #expect("\(parent.progress)" == "3 of 3 (100 %)")
        gate.open()
        stage.steps.runAll()
    }

    @Test func aChildThatFailsCountsForWhatItHadReached() {
        let gate = Gate()
        let parent = AsyncOperation { context in
            context.progress.totalUnitCount = 8
            try? await context.run(
                AsyncOperation { context in
                    context.progress.report(completed: 1, of: 2)
                    throw Oops()
                }, weight: 4)
            context.progress.advance()
            await gate.wait()
        }
        stage.run(parent)
        #expect("\(parent.progress)" == "1 of 8 (37 %)")
        gate.open()
        stage.steps.runAll()
    }

    @Test func theDeepestReachesTheTop() {
        let gate = Gate()
        let top = AsyncOperation { context in
            context.progress.totalUnitCount = 2
            try await context.run(
                AsyncOperation { context in
                    context.progress.totalUnitCount = 2
                    try await context.run(
                        AsyncOperation { context in
                            context.progress.report(completed: 1, of: 2)
                            await gate.wait()
                        }, weight: 1)
                }, weight: 1)
        }
        stage.run(top)
        #expect(top.progress.fractionCompleted == 0.125)
        gate.open()
        stage.steps.runAll()
        #expect(top.progress.fractionCompleted == 1)
    }

    /// Operations that the body does not run itself: one was added before, one is added later, and two have finished.
    @Test func operationsThatAreRunOtherwiseCount() {
        let parent = OperationContext(queue: stage.queue)
        let (early, late, done) = (stage.noting("early"), stage.noting("late"), stage.noting("done"))
        let failed = AsyncOperation { throw Oops() }
        stage.run(done, failed)
        parent.progress.addChild(done, weight: 1)
        parent.progress.addChild(failed, weight: 1)
        parent.progress.addChild(early, weight: 1)
        stage.queue.isSuspended = true
        stage.queue.add(late)
        parent.progress.addChild(late, weight: 1)
        #expect("\(parent.operation.progress)" == "1 of 4 (25 %)")
        stage.queue.isSuspended = false
        stage.run(early)
        #expect("\(parent.operation.progress)" == "3 of 4 (75 %)")
    }

    @Test func aChildThatIsCancelledOrReleasedUnfinishedStaysWhereItWas() {
        let parent = OperationContext(queue: stage.queue)
        do {
            let released = OperationContext(queue: stage.queue)
            parent.progress.addChild(released.operation, weight: 2)
            released.progress.report(completed: 1, of: 2)
        }
        let cancelled = OperationContext(queue: stage.queue)
        parent.progress.addChild(cancelled.operation, weight: 2)
        cancelled.operation.cancel()
        #expect("\(parent.operation.progress)" == "0 of 4 (25 %)")
    }

    @Test func aChildMayCountForSeveral() {
        let (child, one, two) = (stage.noting("child"), OperationContext(), OperationContext())
        one.progress.addChild(child, weight: 1)
        two.progress.addChild(child, weight: 7)
        stage.run(child)
        #expect("\(one.operation.progress)" == "1 of 1 (100 %)")
        #expect("\(two.operation.progress)" == "7 of 7 (100 %)")
    }

    // MARK: Bad input

    @Test func aChildCountsOnce() {
        let counts = EventLog<Int>()
        let parent = AsyncOperation { context in
            let child = AsyncOperation {}
            context.progress.totalUnitCount = 10
            try await context.run(child, weight: 2)
            try await context.run(child, weight: 2)
            context.progress.addChild(child, weight: 2)
            counts(context.progress.completedUnitCount)
        }
        stage.run(parent)
        #expect(counts.events == [2])
    }

    @Test(arguments: [0, -1, Int.min]) func aWeightOfNothingCountsNothing(_ weight: Int) {
        let gate = Gate()
        let parent = AsyncOperation { context in
            try await context.run(AsyncOperation {}, weight: weight)
            await gate.wait()
        }
        stage.run(parent)
        #expect("\(parent.progress)" == "0 %")
        gate.open()
        stage.steps.runAll()
        #expect(parent.ending == "success")
    }

    @Test func aChildThatWouldCloseACycleChangesNothing() {
        let contexts = (0..<3).map { _ in OperationContext(queue: stage.queue) }
        contexts[0].progress.addChild(contexts[0].operation, weight: 1)
        #expect("\(contexts[0].operation.progress)" == "0 %", "Itself.")
        contexts[0].progress.addChild(contexts[1].operation, weight: 1)
        contexts[1].progress.addChild(contexts[2].operation, weight: 1)
        contexts[2].progress.addChild(contexts[0].operation, weight: 1)
        #expect(contexts[2].operation.progress.totalUnitCount == nil)
        contexts[2].progress.report(completed: 1, of: 2)
        #expect(contexts.map { $0.operation.progress.fractionCompleted } == [0.5, 0.5, 0.5])
    }

    @Test func aCycleThatIsClosedFromAllSidesAtOnceDoesNotGoRound() async {
        for _ in 0..<100 {
            let contexts = (0..<3).map { _ in OperationContext() }
            await withTaskGroup { group in
                for index in contexts.indices {
                    group.addTask {
                        contexts[index].progress.addChild(contexts[(index + 1) % 3].operation, weight: 1)
                        contexts[index].progress.advance()
                    }
                }
            }
            let totals = contexts.map { $0.operation.progress.totalUnitCount }
            #expect(totals.contains(nil), "\(totals)")
        }
    }

    // MARK: Late and deep

    /// While the first parent is notified, its reader makes the child report again on the same thread. The second
    /// parent is then notified of the first report, which is outdated.
    @Test func anOldFractionDoesNotReplaceANewerOne() async {
        let (child, first, second) = (OperationContext(), OperationContext(), OperationContext())
        for parent in [first, second] { parent.progress.addChild(child.operation, weight: 1) }
        let received = EventLog<Double>()
        let reader = Task(executorPreference: ImmediateExecutor()) {
            for await progress in first.operation.progressUpdates {
                received(progress.fractionCompleted)
                if progress.fractionCompleted == 0.25 { child.progress.report(completed: 3, of: 4) }
            }
        }
        #expect(received.events == [0])
        child.progress.report(completed: 1, of: 4)
        #expect(received.events == [0, 0.25, 0.75])
        #expect(second.operation.progress.fractionCompleted == 0.75)
        reader.cancel()
        await reader.value
    }

    @Test func childrenThatReportAtOnceAddUp() async {
        let parent = OperationContext()
        parent.progress.totalUnitCount = 800
        let children = (0..<8).map { _ in OperationContext() }
        await withTaskGroup { group in
            for child in children {
                group.addTask {
                    parent.progress.addChild(child.operation, weight: 100)
                    child.progress.totalUnitCount = 2000
                    await withTaskGroup { group in
                        for _ in 0..<2 {
                            group.addTask { for _ in 0..<500 { child.progress.advance() } }
                        }
                    }
                }
            }
        }
        #expect("\(parent.operation.progress)" == "0 of 800 (50 %)")
        #expect(parent.operation.progress.fractionCompleted == 0.5)
    }

    @Test func childrenOfARunThatSucceedAtOnceAddUp() async throws {
        let queue = AsyncOperationQueue()
        let counts = EventLog<Int>()
        let parent = AsyncOperation { context in
            context.progress.totalUnitCount = 2000
            try await withThrowingTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask {
                        let child = AsyncOperation { context in context.progress.report(completed: 1, of: 3) }
                        try await context.run(child, weight: 10)
                        counts(context.progress.completedUnitCount)
                    }
                }
                try await group.waitForAll()
            }
            counts(context.progress.completedUnitCount)
        }
        _ = try await queue.run(parent)
        #expect(counts.events.last == 1000)
        #expect(counts.events.allSatisfy { $0 >= 10 })
        await queue.waitUntilIdle()
    }

    @Test func veryManyLevelsArePassedInALoop() {
        var levels = [OperationContext()]
        for _ in 0..<veryMany {
            let child = OperationContext()
            levels.last!.progress.addChild(child.operation, weight: 1)
            levels.append(child)
        }
        levels.last!.progress.report(completed: 1, of: 2)
        #expect(levels[0].operation.progress.fractionCompleted == 0.5)
        levels.last!.operation.cancel()
        #expect(levels[0].operation.progress.fractionCompleted == 0.5)
        levels.removeLast(veryMany / 2)
        levels = []
    }

    @Test func runsNestedDeepReachTheTop() async throws {
        let gate = Gate()
        @Sendable func nest(_ depth: Int) -> AsyncOperation<Void> {
            AsyncOperation { context in
                if depth == 0 {
                    context.progress.report(completed: 1, of: 2)
                    await gate.wait()
                } else {
                    try await context.run(nest(depth - 1), weight: 1)
                }
            }
        }
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let top = nest(10_000)
        queue.add(top)
        await gate.waitForWaiters(count: 1)
        #expect("\(top.progress)" == "0 of 1 (50 %)")
        gate.open()
        try await top.value
        #expect("\(top.progress)" == "1 of 1 (100 %)")
        await queue.waitUntilIdle()
    }

    /// Each child counts in all later ones, so there are 2⁵⁸ paths from the first to the last. The links are added in
    /// the worst order.
    @Test func manyWaysToTheTopAreNotEachGone() {
        let all = (0..<60).map { _ in OperationContext() }
        for (index, child) in all.enumerated() {
            for parent in all[(index + 1)...].reversed() { parent.progress.addChild(child.operation, weight: 1) }
        }
        all[0].progress.report(completed: 1, of: 2)
        #expect(all[1].operation.progress.fractionCompleted == 0.5)
        #expect(abs(all[59].operation.progress.fractionCompleted - 0.5) < 1e-9)
    }

    // MARK: Lifetimes

    @Test func neitherKeepsTheOtherAlive() {
        let tokens = Tokens()
        let child = AsyncOperation {}
        do {
            let token = tokens.make()
            let parent = AsyncOperation { token.touch() }
            ProgressReporter(state: parent.progressState).addChild(child, weight: 1)
            #expect(tokens.alive == 1)
        }
        #expect(tokens.alive == 0)
        let parent = AsyncOperation {}
        do {
            let token = tokens.make()
            let child = AsyncOperation { token.touch() }
            ProgressReporter(state: parent.progressState).addChild(child, weight: 1)
            #expect(tokens.alive == 1)
        }
        #expect(tokens.alive == 0)
        stage.run(child, parent)
    }

    @Test func nothingIsLeftOfParentAndChildStates() {
        weak var parentState: ProgressState?
        weak var childState: ProgressState?
        do {
            let child = stage.noting("child")
            let parent = AsyncOperation { context in try await context.run(child, weight: 1) }
            (parentState, childState) = (parent.progressState, child.progressState)
            stage.run(parent)
            #expect(parent.ending == "success")
        }
        #expect(parentState == nil)
        #expect(childState == nil)
    }

    /// A child that counted in the previous run counts again if the new run adds it, with its current progress.
    @Test(arguments: [false, true]) func aChildCanBeAddedInEachAttempt(hasEnded: Bool) {
        let gate = Gate()
        let child = AsyncOperation { context in
            context.progress.report(completed: 1, of: 2)
            await gate.wait()
        }
        let parent = AsyncOperation { context in
            context.progress.totalUnitCount = 10
            context.progress.addChild(child, weight: 10)
            stage.log("\(context.operation.progress)")
            if context.attempt == 1 { throw Oops() }
        }
        .retry(.constant(.seconds(1)), attempts: 2)
        stage.run(child, parent)
        if hasEnded {
            gate.open()
            stage.steps.runAll()
        }
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["0 of 10 (50 %)", hasEnded ? "10 of 10 (100 %)" : "0 of 10 (50 %)"])
        gate.open()
        stage.steps.runAll()
    }

    @Test("Links to parents that were released or have ended are removed")
    func linksAreDropped() {
        let child = ProgressState(outcome: .succeeded)
        var kept: [ProgressState] = []
        for number in 0..<10_000 {
            let parent = ProgressState()
            parent.addChild(child, weight: 1)
            #expect(parent.value.completedUnitCount == 1)
            if number % 1_000 == 0 { kept.append(parent) }
            if number % 3 == 0 { parent.end(.succeeded) }
        }
        #expect(child.linkCount < 50)
        for parent in kept where !parent.value.isFinished {
            parent.addChild(child, weight: 1)
            #expect(parent.value.completedUnitCount == 1)
        }
    }
}
