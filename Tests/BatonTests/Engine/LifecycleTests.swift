import Testing

@testable import Baton

@Suite struct LifecycleTests {
    /// Returns a lifecycle that has reached `phase`.
    private func life(in phase: Lifecycle.Phase, on worker: Worker? = nil) -> Lifecycle {
        var life = Lifecycle()
        if phase == .created { return life }
        _ = life.claim()
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

    private let queue = AsyncOperationQueue()
    private var worker: Worker { Worker() }

    @Test func goesThroughItsPhasesInOrder() {
        let worker = worker
        var life = Lifecycle()
        #expect(life.phase == .created)
        _ = life.claim()
        #expect(life.phase == .added)
        #expect(life.begin(on: worker).inShort == "plain")
        #expect(life.phase == .executing)
        #expect(life.worker === worker)
        _ = life.finish()
        #expect(life.phase == .finished)
        #expect(life.worker == nil)
    }

    @Test func isClaimedOnce() {
        let worker = worker
        for (phase, expected) in [
            (Lifecycle.Phase.created, 0), (.added, 1), (.executing, 1), (.finishing, 2), (.finished, 2),
        ] {
            var life = life(in: phase, on: worker)
            let answer =
                switch life.claim() {
                case .claimed: 0
                case .addedBefore: 1
                case .finishedBefore: 2
                }
            #expect(answer == expected, "\(phase)")
        }
    }

    @Test func aClaimTellsWhetherSomebodyWaits() {
        let dependent = AsyncOperation {}
        var life = Lifecycle()
        _ = life.register(DependentList.Place(Unretained(dependent)))
        guard case .claimed(let isAwaited, _) = life.claim() else {
            Issue.record()
            return
        }
        #expect(isAwaited)
        var other = Lifecycle()
        guard case .claimed(let isAwaited, _) = other.claim() else {
            Issue.record()
            return
        }
        #expect(!isAwaited)
    }

    @Test("An operation whose only waiter was removed has nothing to wake at its finish")
    func removedWaiter() {
        let optionalState = OptionalState()
        optionalState.waiters.append(Waiter(waking: .inform(SilentListener(), 0), body: nil))
        #expect(optionalState.hasEnd)
        optionalState.waiters.removeLast()
        #expect(!optionalState.hasEnd)
    }

    @Test func beginsOnlyFromAdded() {
        let worker = worker
        for (phase, begins) in [
            (Lifecycle.Phase.created, false), (.added, true), (.executing, false), (.finishing, false),
            (.finished, false),
        ] {
            var life = life(in: phase, on: worker)
            let beginning = life.begin(on: worker)
            #expect((beginning.inShort != "ended before") == begins, "\(phase)")
        }
    }

    @Test func aCancelAnswersByPhaseAndOnlyOnce() {
        let worker = worker
        for (phase, expected) in [
            (Lifecycle.Phase.created, 1), (.added, 1), (.executing, 2), (.finishing, 0), (.finished, 0),
        ] {
            var life = life(in: phase, on: worker)
            #expect(kind(life.cancel()) == expected, "\(phase)")
            #expect(life.isCancelled == (expected != 0), "\(phase)")
            #expect(kind(life.cancel()) == 0, "again, \(phase)")
        }
    }

    private func kind(_ cancellation: Lifecycle.Cancellation) -> Int {
        switch cancellation {
        case .none: 0
        case .beforeRun: 1
        case .inRun: 2
        }
    }

    @Test func registersDependentsUntilItHasFinished() {
        let dependent = AsyncOperation {}
        let place = DependentList.Place(Unretained(dependent))
        let worker = worker
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
        let worker = worker
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
}

extension Lifecycle.Beginning {
    var inShort: String {
        switch self {
        case .endedBefore: "ended before"
        case .plain: "plain"
        case .withPreconditions: "withPreconditions"
        case .timed: "timed"
        case .withOptionalState: "with details"
        }
    }
}

private final class SilentListener: OutcomeListener {
    var waitsFor: [AnyOperation] { [] }
    var body: AnyOperation? { nil }
    var awaitsMore: Bool { false }

    func bodyEnded() {}

    func ended(_ place: Int, _ operation: AnyOperation, _ error: OperationError?) {}
}
