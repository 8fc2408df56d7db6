import BatonTesting
import Testing

@testable import Baton

/// The cancels that can end an original that others have joined.
@Suite(.timeLimit(.minutes(10))) struct InterestTests {
    private struct Shared {
        let stage = TestQueue()
        let gate = Gate()
        let original: AsyncOperation<Void>
        let joiners: [AsyncOperation<Void>]

        init(_ key: String, joiners count: Int = 2) {
            original = stage.waiting("original", at: gate).unique(by: key, policy: .join)
            joiners = (0..<count).map { [stage] in stage.noting("joiner \($0)").unique(by: key, policy: .join) }
            stage.queue.add([original] + joiners)
            stage.steps.runAll()
        }

        func finish() {
            gate.open()
            stage.steps.runAll()
            #expect(stage.ran == ["original"])
            #expect(stage.queue.operationCount == 0)
        }
    }

    @Test func theOwnersCancelOnlyEndsItsInterest() {
        let shared = Shared(#function)
        shared.original.cancel()
        shared.original.cancel()
        #expect(!shared.original.isCancelled)
        shared.finish()
        #expect(shared.original.ending == "success")
        #expect(shared.joiners.allSatisfy { $0.ending == "success" })
    }

    @Test func aJoinersCancelEndsItAtOnce() {
        let shared = Shared(#function)
        shared.joiners[0].cancel(reason: .because("of rain"))
        #expect(shared.joiners[0].ending == "cancelled because of rain")
        #expect(!shared.original.isCancelled)
        shared.finish()
        #expect(shared.joiners[1].ending == "success")
    }

    @Test func allJoinersCancelsAreNotTheOwners() {
        let shared = Shared(#function)
        for joiner in shared.joiners { joiner.cancel() }
        #expect(!shared.original.isCancelled)
        shared.finish()
        #expect(shared.original.ending == "success")
    }

    /// Why an original that nobody but a joiner needed is needed again.
    enum LaterNeed: CaseIterable {
        case none, dependent, task
    }

    @Test(
        "An original that lost its dependents is cancelled with its last joiner, unless somebody has come to need it",
        arguments: LaterNeed.allCases)
    func aDependentsCancel(need: LaterNeed) async {
        let shared = Shared("\(#function) \(need)", joiners: 1)
        let reader = shared.stage.noting("reader", after: shared.original)
        shared.stage.run(reader)
        reader.cancel(includingDependencies: true)
        #expect(!shared.original.isCancelled)
        let later = shared.stage.noting("later", after: shared.original)
        var awaiting: Task<Void, any Error>?
        switch need {
        case .none: break
        case .dependent: shared.stage.run(later)
        case .task:
            awaiting = Task { try await shared.original.value }
            while shared.original.withLifecycle({ $0.optionalState?.waiters.isEmpty != false }) { await Task.yield() }
        }
        shared.joiners[0].cancel()
        #expect(shared.original.isCancelled == (need == .none))
        shared.gate.open()
        shared.stage.steps.runAll()
        #expect(shared.stage.ran == (need == .dependent ? ["original", "later"] : ["original"]))
        if let awaiting { await #expect(throws: Never.self) { try await awaiting.value } }
        #expect(shared.stage.queue.operationCount == 0)
    }

    @Test func theOriginalIsCancelledWhenTheLastOneGoes() {
        let shared = Shared(#function)
        shared.original.cancel(reason: .because("of rain"))
        for joiner in shared.joiners {
            #expect(!shared.original.isCancelled)
            joiner.cancel()
        }
        #expect(shared.original.isCancelled)
        #expect(
            shared.original.withLifecycle { $0.optionalState?.cancellationReason }?.description == "because of rain")
        shared.finish()
    }

    @Test func theOwnerCanBeTheLastOne() {
        let shared = Shared(#function)
        for joiner in shared.joiners { joiner.cancel() }
        shared.original.cancel()
        #expect(shared.original.isCancelled)
        shared.finish()
    }

    @Test func aLateJoinerIsOneMoreWhoIsInterested() {
        let shared = Shared(#function, joiners: 1)
        shared.original.cancel()
        let late = shared.stage.noting("late").unique(by: #function, policy: .join)
        shared.stage.run(late)
        shared.joiners[0].cancel()
        #expect(!shared.original.isCancelled)
        late.cancel()
        #expect(shared.original.isCancelled)
        shared.finish()
    }

    @Test("An original that has not begun is cancelled when the last interested operation is")
    func oneThatHasNotBegunIsCancelledByTheLastToo() {
        let stage = TestQueue(isSuspended: true)
        let all = (0..<3).map { stage.noting("\($0)").unique(by: #function, policy: .join) }
        stage.queue.add(all)
        for operation in all {
            #expect(!all[0].hasFinished)
            operation.cancel()
        }
        #expect(all.allSatisfy { $0.ending == "cancelled on request" })
        #expect(stage.queue.operationCount == 0)
    }

    @Test func theRunOfACancelledTaskIsNotInterested() {
        let shared = Shared(#function, joiners: 0)
        let joiner = shared.stage.noting("joiner").unique(by: #function, policy: .join)
        let upstream = shared.stage.noting("upstream")
        joiner.addDependency(upstream)
        let last = shared.stage.noting("last", after: joiner)
        let task = shared.stage.steps.task { [queue = shared.stage.queue] in _ = try? await queue.run(last) }
        shared.stage.steps.runAll()
        #expect(joiner.state == .waiting)
        shared.original.cancel()
        #expect(!shared.original.isCancelled)
        task.cancel()
        #expect(joiner.ending == "cancelled with the task that awaited it")
        #expect(shared.original.isCancelled)
        shared.finish()
    }

    @Test func aRunThatIsTakenBackLeavesTheOriginalToThoseWhoHaveJoinedIt() {
        let stage = TestQueue()
        let gate = Gate()
        let original = stage.waiting("original", at: gate).unique(by: #function, policy: .join)
        let last = stage.noting("last", after: original)
        let task = stage.steps.task { [queue = stage.queue] in _ = try? await queue.run(last) }
        stage.steps.runAll()
        let joiner = stage.noting("joiner").unique(by: #function, policy: .join)
        stage.run(joiner)
        task.cancel()
        stage.steps.runAll()
        #expect(last.hasFinished)
        #expect(!original.isCancelled)
        joiner.cancel()
        #expect(original.isCancelled)
        gate.open()
        stage.steps.runAll()
    }

    @Test func theParentOfAnOriginalOnlyEndsItsInterest() {
        let stage = TestQueue()
        let gate = Gate()
        let original = stage.waiting("original", at: gate).unique(by: #function, policy: .join)
        let parent = AsyncOperation("parent") { context in try await context.run(original) }
        stage.run(parent)
        let joiner = stage.noting("joiner").unique(by: #function, policy: .join)
        stage.run(joiner)
        parent.cancel()
        #expect(!original.isCancelled)
        gate.open()
        stage.steps.runAll()
        #expect(joiner.ending == "success")
        #expect(parent.ending == "success")
    }

    @Test func aShutDownCancelsItWhoeverElseIsInterested() {
        let clock = TestClock()
        let (here, there) = (TestQueue(), TestQueue())
        let gate = Gate()
        let original = AsyncOperation("original") { try await gate.waitUnlessCancelled() }
        let joiner = there.noting("joiner").unique(by: #function, policy: .join)
        here.run(original.unique(by: #function, policy: .join))
        there.run(joiner)
        here.steps.task { [queue = here.queue] in await queue.shutdown(within: .zero, clock: clock) }
        here.steps.runAll()
        #expect(original.ending == "cancelled with everything in its queue")
        #expect(joiner.ending == "cancelled with everything in its queue")
    }

    @Test func aJoinerThatItsQueueRefusesIsNotInterested() {
        let stage = TestQueue()
        let gate = Gate()
        let original = stage.waiting("original", at: gate).unique(by: #function, policy: .join)
        stage.run(original)
        let queue = AsyncOperationQueue(isSuspended: true, executor: stage.steps)
        let joiner = stage.noting("joiner").unique(by: #function, policy: .join)
        queue.add(joiner)
        original.cancel()
        #expect(!original.isCancelled)
        _ = joiner.endBeforeRun(with: .queueReleased)?.complete()
        #expect(original.isCancelled)
        gate.open()
        stage.steps.runAll()
    }
}
