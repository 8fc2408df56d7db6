// Statements of AOperation, ‘Basics’
//
// The two kinds of operation, with and without a result, and the handlers of their end.
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// AOperation's `VoidOperation`, which succeeds or fails.
private struct MyVoidOperation: Procedure {
    var taskIsDoneSuccessfully = true

    func execute(in context: OperationContext) async throws {
        if !taskIsDoneSuccessfully { throw Oops(text: "not done") }
    }
}

/// AOperation's `ResultableOperation<Data>`.
private struct MyOperation: Procedure {
    var answer: Result<[UInt8], Oops> = .success([1, 2])

    func execute(in context: OperationContext) async throws -> [UInt8] { try answer.get() }
}

/// AOperation's `someTask { output, error in … }`. It answers when the test tells it to.
private final class Service: Sendable {
    typealias Completion = @Sendable (Result<[UInt8], Oops>) -> Void

    private let asked = Locked<[Completion]>([])

    func load(_ completion: @escaping Completion) { asked.withLock { $0.append(completion) } }

    func answer(_ answer: Result<[UInt8], Oops>) {
        for completion in asked.withLock({ asked in asked.popLast().map { [$0] } ?? [] }) { completion(answer) }
    }

    /// Releases the completion without calling it.
    func forget() {
        let forgotten = asked.withLock { asked in
            let all = asked
            asked = []
            return all
        }
        withExtendedLifetime(forgotten) {}
    }

    func operation() -> AsyncOperation<[UInt8]> {
        AsyncOperation.callback("load") { finish in self.load { finish($0) } }
    }
}

@Suite(.timeLimit(.minutes(10))) struct AOperation_Lifecycle {
    private let stage = TestQueue()

    // Tests/DoesNotCompile/Subclass.swift shows that operations cannot be subclassed.

    @Test func AOperation_1_oneWithoutAResultIsDoneOrFails() {
        let done = AsyncOperation(MyVoidOperation())
        let failed = AsyncOperation(MyVoidOperation(taskIsDoneSuccessfully: false))
        for operation in [done, failed] {
            operation.didFinish { [log = stage.log] result in
                switch result {
                case .success: log("done")
                case .failure(let error): log("error: \(error)")
                }
            }
        }
        stage.run(done, failed)
        #expect(stage.ran == ["done", "error: not done"])
    }

    @Test func AOperation_1_oneWithAResultHasItOrFails() throws {
        let done = AsyncOperation(MyOperation())
        let failed = AsyncOperation(MyOperation(answer: .failure(Oops(text: "no data"))))
        stage.run(done, failed)
        #expect(try done.result?.get() == [1, 2])
        #expect(failed.ending == "failed: no data")
    }

    // Tests/DoesNotCompile/ProcedureWithoutExecute.swift and BodyWithoutOutput.swift show that `execute` is required
    // and must return a result.

    @Test func AOperation_2_aTaskThatCallsBackFinishesTheOperationThen() throws {
        let service = Service()
        for answer: Result<[UInt8], Oops> in [.success([3]), .failure(Oops(text: "no data"))] {
            let operation = service.operation()
            stage.run(operation)
            #expect(operation.state == .executing)
            service.answer(answer)
            stage.steps.runAll()
            #expect(operation.ending == (try? answer.get()).map { _ in "success" } ?? "failed: no data")
        }
        #expect(stage.queue.operationCount == 0)
    }

    /// AOperation's operation would stay unfinished, without a hint which one it is.
    @Test func AOperation_2_aFinishThatIsForgottenIsAnError() {
        let service = Service()
        let operation = service.operation()
        let next = stage.noting("next", after: operation)
        stage.run(operation, next)
        service.forget()
        stage.steps.runAll()
        guard case .callbackDropped? = operation.error else {
            Issue.record("\(operation.ending)")
            return
        }
        #expect(stage.ran == ["next"])
        #expect(stage.queue.operationCount == 0)
    }

    // Tests/DoesNotCompile/ErrorOfAnotherType.swift shows that no other error can be caught or handled.
    @Test func AOperation_3_whateverIsThrownTheErrorIsAnOperationError() async {
        struct NoPaper: Error {}
        let thrown: [any Error] = [Oops(), NoPaper(), CancellationError()]
        for error in thrown {
            let operation = AsyncOperation<Int>("operation") { throw error }
            stage.run(operation)
            do {
                _ = try await operation.value
                Issue.record("It has no value.")
            } catch {
                let known: OperationError = error
                #expect(known.underlyingError.map { "\($0)" } == operation.error?.underlyingError.map { "\($0)" })
                guard case .failed = known else {
                    Issue.record("\(known)")
                    return
                }
            }
        }
    }

    @Test func AOperation_4_didFinishRunsAfterTheFinish() {
        let operation = AsyncOperation(MyOperation())
        operation.didFinish { [weak operation, log = stage.log] result in
            log("\(operation.map { "\($0.state)" } ?? "gone"): \(result)")
        }
        stage.run(operation)
        #expect(stage.ran == ["finished: success([1, 2])"])
    }

    /// Returning replaces AOperation's `finish()`, so it cannot be forgotten.
    @Test(arguments: [true, false]) func AOperation_5_untilWillFinishReturnsItIsUnfinishedAndInTheQueue(succeeds: Bool)
    {
        let gate = Gate()
        let answer: Result<[UInt8], Oops> = succeeds ? .success([]) : .failure(Oops())
        let operation = AsyncOperation(MyOperation(answer: answer))
            .willFinish { [log = stage.log] result in
                log("will finish: \((try? result.get()) != nil)")
                await gate.wait()
                log("may finish")
            }
            .didFinish { [log = stage.log] _ in log("did finish") }
        let next = stage.noting("next", after: operation)
        stage.run(operation, next)
        #expect(stage.ran == ["will finish: \(succeeds)"])
        #expect(operation.state == .finishing && operation.result == nil)
        #expect(stage.queue.operations.contains(operation))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran[1] == "may finish")
        #expect(Set(stage.ran.suffix(2)) == ["did finish", "next"])
        #expect(operation.hasFinished && stage.queue.operationCount == 0)
    }
}
