import BatonTesting
import Testing

@testable import Baton

/// Tests that the debugger prints the lines of AOperation's debugger, and adds time and outcome to the last line.
@Suite(.timeLimit(.minutes(10))) struct DebuggerTests {
    struct MyOperation: Procedure {
        var gate = Gate()

        func execute(in context: OperationContext) async throws {
            await gate.wait()
            try Task.checkCancellation()
        }
    }

    let clock = TestClock()
    let steps = StepExecutor()
    let lines = EventLog<String>()
    let gate = Gate()

    private func queue(_ operation: AnyOperation) -> AsyncOperationQueue {
        let queue = AsyncOperationQueue(executor: steps, clock: clock)
        queue.addObserver(BatonDebugger { [lines] in lines($0) })
        queue.add(operation)
        return queue
    }

    private func waitOneSecond() {
        steps.runAll()
        clock.advance(by: .seconds(1))
        gate.open()
        steps.runAll()
    }

    @Test func aRun() {
        let operation = AsyncOperation(MyOperation(gate: gate))
        let queue = queue(operation)
        waitOneSecond()
        #expect(
            lines.events == [
                "MyOperation added to queue", "MyOperation executed",
                "MyOperation finished (success after 1.0 seconds)",
            ])
        #expect(queue.operationCount == 0)
    }

    @Test func aCancelInMidFlight() {
        let operation = AsyncOperation(MyOperation(gate: gate))
        let queue = queue(operation)
        steps.runAll()
        operation.cancel()
        waitOneSecond()
        #expect(
            lines.events == [
                "MyOperation added to queue", "MyOperation executed", "MyOperation cancelled",
                "MyOperation finished (cancelled after 1.0 seconds: cancelled on request)",
            ])
        #expect(queue.operationCount == 0)
    }

    @Test func aCancelBeforeTheStart() {
        let operation = AsyncOperation(MyOperation(gate: gate))
        let queue = queue(operation)
        operation.cancel()
        waitOneSecond()
        #expect(
            lines.events == [
                "MyOperation added to queue", "MyOperation cancelled",
                "MyOperation finished (cancelled: cancelled on request)",
            ])
        #expect(queue.operationCount == 0)
    }

    @Test func otherLines() async {
        let reference = OperationReference(id: 1, name: "MyOperation")
        let debugger = BatonDebugger { [lines] in lines($0) }
        let other = OperationReference(id: 2, name: "Other")
        let kinds: [OperationEvent.Kind] = [
            .waiting, .evaluating, .ready, .progress(0.5), .produced(other), .misuse(Misuse(.addedTwice)), .dropped(3),
            .dropped(1),
            .retrying(attempt: 1, error: .failed(Oops()), delay: .seconds(2)), .started(attempt: 2),
            .repeating(delay: .seconds(3)),
            .finished(.skipped, error: .skipped(.duplicate(of: other))),
        ]
        for kind in kinds {
            await debugger.observe(
                OperationEvent(number: 1, time: .zero, subject: EventSubject(reference, in: nil), kind: kind))
        }
        #expect(
            lines.events == [
                "MyOperation produced Other",
                "MyOperation was misused: \(Misuse(.addedTwice))",
                "MyOperation and others: 3 events dropped",
                "MyOperation and others: 1 event dropped",
                "MyOperation will be executed again in 2.0 seconds, because attempt 1 failed: oops",
                "MyOperation executed again (attempt 2)",
                "MyOperation will be executed again in 3.0 seconds",
                "MyOperation ignored because of uniqueId (Other is there)",
            ])
    }
}
