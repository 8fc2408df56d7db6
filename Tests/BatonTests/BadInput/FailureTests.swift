import BatonTesting
import Testing

@testable import Baton

/// Tests of bodies that throw or ignore a cancellation, inputs that never come, and dependencies that nobody adds.
@Suite(.timeLimit(.minutes(10))) struct FailureTests {
    @Test func aThrowingBodyIsTheFailure() async {
        let operation = AsyncOperation<Int>("operation") { throw Oops(text: "burnt") }
        let queue = AsyncOperationQueue()
        do throws(OperationError) {
            _ = try await queue.run(operation)
            Issue.record("It has no output.")
        } catch {
            #expect(error.inShort == "failed: burnt")
            #expect(error.underlyingError as? Oops == Oops(text: "burnt"))
        }
        #expect(operation.ending == "failed: burnt")
        await queue.waitUntilIdle()
    }

    @Test func aBodyThatThrowsAnErrorOfBatonIsTheFailure() {
        let stage = TestQueue()
        let operation = AsyncOperation<Void> { throw OperationError.queueReleased }
        stage.run(operation)
        guard case .failed(let error as OperationError)? = operation.failure, case .queueReleased = error else {
            Issue.record("\(operation.ending)")
            return
        }
    }

    @Test func aBodyCanSayThatItsInputIsMissing() {
        let stage = TestQueue()
        let operation = AsyncOperation<Void> { throw OperationError.inputMissing }
        stage.run(operation)
        guard case .inputMissing? = operation.failure else {
            Issue.record("\(operation.ending)")
            return
        }
    }

    @Test(arguments: [false, true]) func aMissingInput(isCancelled: Bool) {
        let stage = TestQueue()
        let source = AsyncOperation<Int>("source") { throw Oops() }
        if isCancelled { source.cancel() }
        let one = source.then { [log = stage.log] in log("\($0)") }
        let many = AsyncOperation(source, AsyncOperation { 1 }.add(to: stage.queue)) { [log = stage.log] in
            log("\($0) \($1)")
        }
        let pair = AsyncOperation(Adding(log: stage.log), inputs: source, source)
        let after = stage.noting("after", after: one, many, pair)
        stage.run(one, many, pair, after, source)
        let cause = isCancelled ? "cancelled on request" : "failed: oops"
        for operation in [one, many, pair] { #expect(operation.ending == "needs source via source: \(cause)") }
        #expect(stage.ran == ["after"])
    }

    @Test func aBodyThatIgnoresCancellation() {
        let stage = TestQueue()
        let gate = Gate()
        let stubborn = AsyncOperation("stubborn") {
            await gate.wait()
            return Task.isCancelled
        }
        stage.run(stubborn)
        stubborn.cancel()
        #expect(stubborn.ending == "executing")
        gate.open()
        stage.steps.runAll()
        #expect(try! stubborn.result?.get() == true)
    }

    @Test func aDependencyThatNobodyAdds() {
        let stage = TestQueue()
        let missing = stage.noting("missing")
        let waiting = stage.noting("waiting", after: missing)
        stage.run(waiting, stage.noting("other"))
        #expect(waiting.ending == "waiting")
        #expect(stage.ran == ["other"])
        #expect(waiting.explain().description.contains("‘missing’ was not added to any queue"))
        missing.cancel()
        stage.steps.runAll()
        #expect(waiting.ending == "success", "It has an outcome, though it was never added.")
    }

    /// The handles of the cancelled operation and of its dependency are released together.
    @Test("A cancelled operation and its dependency are released together")
    func oneThatIsCancelledAndWhoseDependencyIsLetGo() {
        let tokens = Tokens()
        let stage = TestQueue()
        do {
            let token = tokens.make()
            let missing = AsyncOperation { token.touch() }
            let waiting = AsyncOperation { token.touch() }
            waiting.addDependency(missing)
            stage.run(waiting)
            waiting.cancel()
        }
        #expect(tokens.alive == 0)
        #expect(stage.queue.operationCount == 0)
    }
}

private struct Adding: InputProcedure {
    let log: EventLog<String>

    func execute(_ input: (Int, Int), in context: OperationContext) async throws { log("\(input)") }
}
