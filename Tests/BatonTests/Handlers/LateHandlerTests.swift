import BatonTesting
import Testing

@testable import Baton

/// Handlers that are added, or become due, while their operation is in progress.
@Suite(.timeLimit(.minutes(10))) struct LateHandlerTests {
    @Test("A `willFinish` handler that is added while the body runs delays the outcome")
    func oneAddedWhileTheBodyRunsHoldsTheOutcomeBack() {
        let stage = TestQueue()
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

    /// Takes the operation up as a worker does before it begins the body.
    private func takeUp(_ operation: AnyOperation, on worker: Worker) {
        operation.withLifecycle { life in
            _ = life.adopt()
            #expect(life.begin(on: worker).isWithOptionalState)
        }
    }

    private func startBody(of operation: AnyOperation) async {
        operation.withLifecycle { life in
            life.startBody()
            _ = operation.makePassedPhasesDue(life)
        }
        _ = await operation.callHandlers(as: nil)
    }

    @Test func aCancelBetweenWorkerAndBodyIsToldAfterTheStart() async {
        let (operation, worker) = (AsyncOperation("operation") {}, Worker())
        let log = EventLog<String>()
        operation.didCancel { log("cancelled \($0)") }
        operation.didStart { log("started") }
        takeUp(operation, on: worker)
        operation.cancel()
        #expect(!operation.hasDueHandlers)
        await startBody(of: operation)
        #expect(log.events == ["started", "cancelled on request"])
    }

    @Test func ofOneMomentTheEarlierAddedComesFirst() async {
        let (operation, worker) = (AsyncOperation("operation") {}, Worker())
        let log = EventLog<String>()
        operation.didStart { log("first") }
        takeUp(operation, on: worker)
        operation.didStart { log("second") }
        #expect(!operation.hasDueHandlers)
        await startBody(of: operation)
        #expect(log.events == ["first", "second"])
    }

    /// The worker has taken the operation up, and has not checked its preconditions yet.
    @Test("An operation whose body is skipped has not begun")
    func oneThatIsSkippedNeverStarts() {
        var life = Lifecycle()
        _ = life.adopt()
        let source = AsyncOperation {}
        life.ensureOptionalState().policies.append(EdgePolicy(source: Unretained(source), policy: .failure))
        let worker = Worker()
        #expect(life.begin(on: worker).isWithOptionalState)
        #expect(life.optionalState?.isStartPending == true)
        life.bodyWasSkipped()
        #expect(life.optionalState?.isStartPending == false && !life.hasBegun)
    }
}
