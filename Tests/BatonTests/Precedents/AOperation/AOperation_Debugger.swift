// Statements of AOperation, ‘Basics’
//
// The lines that its debugger prints. Baton's lines begin with the name, and the last one also has the time and the
// outcome. If `execute()` is missing, the compiler says so (Tests/DoesNotCompile/ProcedureWithoutExecute.swift).
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

private struct MyOperation: Procedure {
    let gate: Gate

    func execute(in context: OperationContext) async throws {
        await gate.wait()
        try Task.checkCancellation()
    }
}

@Suite(.timeLimit(.minutes(10))) struct AOperation_Debugger {
    private let stage = TestQueue()
    private let lines = EventLog<String>()
    private let gate = Gate()

    private func operation() -> AsyncOperation<Void> { AsyncOperation(MyOperation(gate: gate)) }

    private func printOperationsState() { stage.queue.addObserver(BatonDebugger { [lines] in lines($0) }) }

    /// Lets the body return after two seconds.
    private func finish() {
        stage.steps.runAll()
        stage.advance(by: .seconds(2))
        gate.open()
        stage.steps.runAll()
    }

    @Test func AOperation_24_itIsOffByDefault() {
        #expect(!stage.queue.core.broadcaster.isObserved)
        #expect(!operation().isObserved)
        #expect(stage.queue.delegate == nil)
    }

    /// The debugger is an observer of one queue or of one operation.
    @Test func AOperation_24_itIsTurnedOnForAQueueOrForOneOperation() {
        gate.open()
        stage.run(operation().addObserver(BatonDebugger { [lines] in lines("one: \($0)") }))
        #expect(lines.count == 3)
        printOperationsState()
        stage.run(operation())
        #expect(lines.events.filter { !$0.hasPrefix("one: ") }.count == 3)
    }

    /// The duplicate belongs to the queue until it is skipped. The name of the first operation is in parentheses.
    @Test func AOperation_24_theLineOfOneThatIsIgnoredBecauseOfItsIdentity() {
        let first = operation().unique(by: "alert")
        first.name = "AlertOperation"
        stage.run(first)
        printOperationsState()
        stage.run(operation().unique(by: "alert"))
        #expect(
            lines.events == [
                "MyOperation added to queue",
                "MyOperation ignored because of uniqueId (AlertOperation is there)",
            ])
        finish()
    }

    @Test func AOperation_25_aNormalOperation() {
        printOperationsState()
        stage.queue.add(operation())
        finish()
        #expect(
            lines.events == [
                "MyOperation added to queue",
                "MyOperation executed",
                "MyOperation finished (success after 2.0 seconds)",
            ])
    }

    @Test func AOperation_25_oneThatIsCancelledInMidFlight() {
        printOperationsState()
        let operation = operation()
        stage.run(operation)
        operation.cancel()
        finish()
        #expect(
            lines.events == [
                "MyOperation added to queue",
                "MyOperation executed",
                "MyOperation cancelled",
                "MyOperation finished (cancelled after 2.0 seconds: cancelled on request)",
            ])
    }

    @Test func AOperation_25_oneThatIsCancelledBeforeItsStart() {
        printOperationsState()
        let operation = operation()
        stage.queue.isSuspended = true
        stage.run(operation)
        operation.cancel()
        finish()
        #expect(
            lines.events == [
                "MyOperation added to queue",
                "MyOperation cancelled",
                "MyOperation finished (cancelled: cancelled on request)",
            ])
    }
}
