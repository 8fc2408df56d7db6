import BatonTesting
import Testing

@testable import Baton

/// Handlers that are added, or whose moment comes, while their operation is on its way.
@Suite(.timeLimit(.minutes(5))) struct LateHandlerTests {
    @Test func oneAddedWhileTheBodyRunsHoldsTheOutcomeBack() {
        let stage = Stage()
        let (gate, second) = (Gate(), Gate())
        let operation = stage.waiting("operation", at: gate)
        stage.run(operation, stage.noting("dependent", after: operation))
        operation.willFinish { [log = stage.log] _ in
            await second.wait()
            log("held back")
        }
        gate.open()
        stage.steps.runAll()
        #expect(operation.state == .finishing)
        #expect(stage.ran == ["operation"])
        second.open()
        stage.steps.runAll()
        #expect(stage.ran == ["operation", "held back", "dependent"])
    }

    /// The event comes between the lane and the body.
    @Test func aCancelBetweenLaneAndBodyIsToldAfterTheStart() {
        let operation = AsyncOperation("operation") {}
        let stage = Stage(tap: { if $0.kind == .started { operation.cancel() } })
        let log = stage.log
        operation.didCancel { log("cancelled \($0)") }
        operation.didStart { log("started") }
        operation.didFinish { _ in log("finished") }
        stage.run(operation)
        #expect(stage.ran == ["started", "cancelled on request", "finished"])
    }

    @Test func ofOneMomentTheEarlierAddedComesFirst() {
        let late = LockedState<(@Sendable () -> Void)?>(nil)
        let operation = AsyncOperation("operation") {}
        let stage = Stage(tap: { if $0.kind == .started { late.withLock { $0 }?() } })
        let log = stage.log
        operation.didStart { log("first") }
        late.withLock { $0 = { operation.didStart { log("second") } } }
        stage.run(operation)
        #expect(stage.ran == ["first", "second"])
        late.withLock { $0 = nil }
    }

    /// The lane has taken it up, and has not looked at its rules yet.
    @Test func oneThatIsSkippedNeverStarts() {
        var life = Lifecycle()
        _ = life.claim()
        let source = AsyncOperation {}
        life.madeDetails().policies.append(EdgePolicy(source: .passUnretained(source), policy: .failure))
        let lane = Lane()
        #expect(life.begin(on: lane).inShort == "with details")
        #expect(life.details?.isStartOpen == true)
        life.bodyWasSkipped()
        #expect(life.details?.isStartOpen == false && !life.hasBegun)
    }
}
