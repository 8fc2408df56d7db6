import Testing

@testable import Baton

@Suite struct LifecycleTests {
    /// A life that has come as far as `phase`.
    private func life(in phase: Lifecycle.Phase, on lane: Lane? = nil) -> Lifecycle {
        var life = Lifecycle()
        if phase == .created { return life }
        _ = life.claim()
        if phase == .added { return life }
        if let lane { _ = life.begin(on: lane) }
        if phase == .finishing {
            life.madeDetails().handlers.addBeforeFinish { _ in }
            let isHeldBack = life.beginFinishing()
            #expect(isHeldBack)
        }
        if phase == .finished { _ = life.finish() }
        return life
    }

    private let queue = AsyncOperationQueue()
    private var lane: Lane { Lane() }

    @Test func goesThroughItsPhasesInOrder() {
        let lane = lane
        var life = Lifecycle()
        #expect(life.phase == .created)
        _ = life.claim()
        #expect(life.phase == .added)
        #expect(life.begin(on: lane).inShort == "plain")
        #expect(life.phase == .executing)
        #expect(life.lane === lane)
        _ = life.finish()
        #expect(life.phase == .finished)
        #expect(life.lane == nil)
    }

    @Test func isClaimedOnce() {
        let lane = lane
        for (phase, expected) in [
            (Lifecycle.Phase.created, 0), (.added, 1), (.executing, 1), (.finishing, 2), (.finished, 2),
        ] {
            var life = life(in: phase, on: lane)
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
        _ = life.register(Dependents.Place(.passUnretained(dependent)))
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

    @Test func beginsOnlyFromAdded() {
        let lane = lane
        for (phase, begins) in [
            (Lifecycle.Phase.created, false), (.added, true), (.executing, false), (.finishing, false),
            (.finished, false),
        ] {
            var life = life(in: phase, on: lane)
            let beginning = life.begin(on: lane)
            #expect((beginning.inShort != "ended before") == begins, "\(phase)")
        }
    }

    @Test func aCancelAnswersByPhaseAndOnlyOnce() {
        let lane = lane
        for (phase, expected) in [
            (Lifecycle.Phase.created, 1), (.added, 1), (.executing, 2), (.finishing, 0), (.finished, 0),
        ] {
            var life = life(in: phase, on: lane)
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
        let place = Dependents.Place(.passUnretained(dependent))
        let lane = lane
        for (phase, wasAdded) in [
            (Lifecycle.Phase.created, false), (.added, true), (.executing, true), (.finishing, true),
        ] {
            var life = life(in: phase, on: lane)
            guard case .registered(let answer) = life.register(place) else {
                Issue.record("\(phase)")
                return
            }
            #expect(answer == wasAdded, "\(phase)")
            #expect(life.finish().dependents.count == 1)
            #expect(life.dependents.isEmpty)
        }
        var finished = life(in: .finished, on: lane)
        guard case .finishedBefore = finished.register(place) else {
            Issue.record()
            return
        }
        #expect(finished.dependents.isEmpty)
    }

    @Test func theEndTellsWhatFollowsFromIt() {
        let lane = lane
        var plain = life(in: .executing, on: lane)
        let end = plain.finish()
        #expect(!end.isCancelled && !end.hasDetails && !end.hasOpenWaits)

        var cancelled = life(in: .executing, on: lane)
        _ = cancelled.cancel()
        #expect(cancelled.finish().isCancelled == true)

        var waiting = life(in: .executing, on: lane)
        waiting.madeDetails().openWaits = 1
        let late = waiting.finish()
        #expect(late.hasDetails && late.hasOpenWaits)
    }
}

extension Lifecycle.Beginning {
    var inShort: String {
        switch self {
        case .endedBefore: "ended before"
        case .plain: "plain"
        case .ruled: "ruled"
        case .timed: "timed"
        case .withDetails: "with details"
        }
    }
}
