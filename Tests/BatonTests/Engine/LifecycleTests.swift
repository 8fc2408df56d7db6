import Testing

@testable import Baton

@Suite struct LifecycleTests {
    /// Returns a lifecycle that has reached `phase`.
    private func life(in phase: Lifecycle.Phase, on worker: Worker? = nil) -> Lifecycle {
        var life = Lifecycle()
        if phase == .created { return life }
        _ = life.adopt()
        if phase == .added { return life }
        if let worker { _ = life.begin(on: worker) }
        if phase == .finishing {
            life.ensureOptionalState().handlers.addBeforeFinish { _ in }
            let isHeldBack = life.beginFinishing()
            #expect(isHeldBack)
        }
        if phase == .finished { _ = life.finish() }
        return life
    }

    private let worker = Worker()

    @Test func goesThroughItsPhasesInOrder() {
        var life = Lifecycle()
        #expect(life.phase == .created)
        _ = life.adopt()
        #expect(life.phase == .added)
        #expect(life.begin(on: worker).isPlain)
        #expect(life.phase == .executing)
        #expect(life.worker === worker)
        _ = life.finish()
        #expect(life.phase == .finished)
        #expect(life.worker == nil)
    }

    @Test func isClaimedOnce() {
        for (phase, expected) in [
            (Lifecycle.Phase.created, "adopted"), (.added, "addedBefore"), (.executing, "addedBefore"),
            (.finishing, "finishedBefore"), (.finished, "finishedBefore"),
        ] {
            var life = life(in: phase, on: worker)
            let result =
                switch life.adopt() {
                case .adopted: "adopted"
                case .addedBefore: "addedBefore"
                case .finishedBefore: "finishedBefore"
                }
            #expect(result == expected, "\(phase)")
        }
    }

    @Test func aClaimTellsWhetherSomebodyWaits() {
        let dependent = AsyncOperation {}
        var life = Lifecycle()
        _ = life.register(DependentList.Place(Unretained(dependent)))
        guard case .adopted(let isAwaited, _) = life.adopt() else {
            Issue.record()
            return
        }
        #expect(isAwaited)
        var other = Lifecycle()
        guard case .adopted(let isAwaited, _) = other.adopt() else {
            Issue.record()
            return
        }
        #expect(!isAwaited)
    }

    @Test("An operation whose only waiter was removed has nothing to wake at its finish")
    func removedWaiter() {
        let optionalState = OptionalState()
        optionalState.waiters.append(Waiter(receiver: .listener(SilentListener(), 0), body: nil))
        #expect(optionalState.hasFinishWork)
        optionalState.waiters.removeLast()
        #expect(!optionalState.hasFinishWork)
    }

    @Test func beginsOnlyFromAdded() {
        for (phase, begins) in [
            (Lifecycle.Phase.created, false), (.added, true), (.executing, false), (.finishing, false),
            (.finished, false),
        ] {
            var life = life(in: phase, on: worker)
            let beginning = life.begin(on: worker)
            #expect(beginning.hasBegun == begins, "\(phase)")
        }
    }

    @Test("The answer to a cancellation depends on the phase, and a second one only cancels the task again")
    func aCancelAnswersByPhase() {
        for (phase, expected) in [
            (Lifecycle.Phase.created, "beforeRun"), (.added, "beforeRun"), (.executing, "inRun"), (.finishing, "none"),
            (.finished, "none"),
        ] {
            var life = life(in: phase, on: worker)
            #expect(life.cancel().name == expected, "\(phase)")
            #expect(life.isCancelled == (expected != "none"), "\(phase)")
            #expect(life.cancel().name == (expected == "inRun" ? "again" : "none"), "again, \(phase)")
        }
    }

    @Test func registersDependentsUntilItHasFinished() {
        let dependent = AsyncOperation {}
        let place = DependentList.Place(Unretained(dependent))
        for (phase, wasAdded) in [
            (Lifecycle.Phase.created, false), (.added, true), (.executing, true), (.finishing, true),
        ] {
            var life = life(in: phase, on: worker)
            guard case .registered(let answer) = life.register(place) else {
                Issue.record("\(phase)")
                return
            }
            #expect(answer == wasAdded, "\(phase)")
            #expect(life.finish().dependents.count == 1)
            #expect(life.dependents.isEmpty)
        }
        var finished = life(in: .finished, on: worker)
        guard case .finishedBefore = finished.register(place) else {
            Issue.record()
            return
        }
        #expect(finished.dependents.isEmpty)
    }

    @Test func theEndTellsWhatFollowsFromIt() {
        var plain = life(in: .executing, on: worker)
        let end = plain.finish()
        #expect(!end.isCancelled && !end.hasOptionalState && !end.hasOpenWaits)

        var cancelled = life(in: .executing, on: worker)
        _ = cancelled.cancel()
        #expect(cancelled.finish().isCancelled == true)

        var waiting = life(in: .executing, on: worker)
        waiting.ensureOptionalState().openWaits = 1
        let late = waiting.finish()
        #expect(late.hasOptionalState && late.hasOpenWaits)
    }

    @Test("A grant that arrives after an early end releases the operation")
    func grantAfterAnEarlyEnd() {
        var life = life(in: .added)
        life.ensureOptionalState().preconditions.add([.mutuallyExclusive("x")])
        guard case .request = life.nextAction(on: worker, isSkipped: false) else {
            Issue.record()
            return
        }
        let hasClaim = life.takeExclusionClaim()
        #expect(hasClaim)
        _ = life.finish()
        guard case .ended = life.grantExclusions() else {
            Issue.record()
            return
        }
    }

    @Test("A grant for an evaluation that arrives after the end releases nothing", arguments: [false, true])
    func grantAfterTheEndOfAnEvaluation(hasHandler: Bool) {
        var life = life(in: .added)
        let condition = StoredCondition.closure(ClosureCondition(name: "yes", body: { _ in .satisfied }))
        life.ensureOptionalState().preconditions.add(condition, [.mutuallyExclusive("x")])
        if hasHandler { life.ensureOptionalState().handlers.addBeforeFinish { _ in } }
        guard case .evaluate = life.nextAction(on: worker, isSkipped: false) else {
            Issue.record()
            return
        }
        if life.finishRun() != nil { #expect(!hasHandler) }
        guard case .alreadyResumed = life.grantExclusions() else {
            Issue.record()
            return
        }
    }

    /// The worker has taken a permit again for an operation that goes on, and none for one that is listed.
    @Test("After a cancel during the evaluation, the wait ends only if the worker has taken a permit again")
    func cancelDuringAnEvaluation() {
        func evaluating() -> Lifecycle {
            var life = life(in: .added)
            let condition = StoredCondition.closure(ClosureCondition(name: "yes", body: { _ in .satisfied }))
            life.ensureOptionalState().preconditions.add(condition, [])
            if case .evaluate = life.nextAction(on: worker, isSkipped: false) {} else { Issue.record() }
            #expect(life.optionalState?.openWaits == 1)
            return life
        }
        var goingOn = evaluating()
        _ = goingOn.cancel()
        if case .cancelled = goingOn.resumeAfterConditions(on: worker) {} else { Issue.record() }
        #expect(goingOn.optionalState?.openWaits == 0)
        #expect(goingOn.phase == .evaluating)

        var listed = evaluating()
        _ = listed.cancel()
        let isSatisfied = listed.satisfyConditions()
        #expect(!isSatisfied)
        #expect(listed.optionalState?.openWaits == 1)
        #expect(listed.phase == .evaluating)

        var satisfied = evaluating()
        if case .run = satisfied.resumeAfterConditions(on: worker) {} else { Issue.record() }
        #expect(satisfied.optionalState?.openWaits == 0)
        #expect(satisfied.phase == .executing)
    }
}

extension Lifecycle.BeginAction {
    fileprivate var isPlain: Bool { if case .plain = self { true } else { false } }

    var isWithOptionalState: Bool { if case .withOptionalState = self { true } else { false } }

    fileprivate var hasBegun: Bool { if case .endedBefore = self { false } else { true } }
}

extension Lifecycle.Cancellation {
    fileprivate var name: String {
        switch self {
        case .none: "none"
        case .beforeRun: "beforeRun"
        case .inRun: "inRun"
        case .again: "again"
        }
    }
}

private final class SilentListener: OutcomeListener {
    var waitsFor: [AnyOperation] { [] }
    func waitsFor(first limit: Int) -> [AnyOperation] { [] }
    var kindOfWait: OperationWait.Kind { .element }
    var body: AnyOperation? { nil }
    var awaitsMore: Bool { false }

    func bodyEnded() {}

    func ended(_ place: Int, _ operation: AnyOperation, _ error: OperationError?) {}
}
