// Statements of AOperation, ‘Basics’, and the page on retrying that it links to
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// A procedure whose attempts before the given number fail. The same operation runs again, so it needs no `new()`.
private struct Download: InputProcedure {
    let log: EventLog<String>
    var succeedsAt = 3

    func execute(_ address: String, in context: OperationContext) async throws -> Int {
        log("\(address) \(context.attempt)")
        if context.attempt < succeedsAt { throw Oops(text: "failure \(context.attempt)") }
        return context.attempt
    }
}

@Suite(.timeLimit(.minutes(10))) struct AOperation_Retry {
    private let stage = TestQueue()

    private func download(_ succeedsAt: Int = 3) -> AsyncOperation<Int> {
        AsyncOperation(Download(log: stage.log, succeedsAt: succeedsAt), input: "page")
    }

    @Test func AOperationPages_4_theFirstFailureIsNumberZero() {
        let failures = EventLog<String>()
        stage.run(
            download().retryOnFailure { count, error in
                failures("\(count): \(error)")
                return true
            })
        #expect(failures.events == ["0: failure 1", "1: failure 2"])
    }

    /// The operation runs again with the same input and the same identity.
    @Test func AOperationPages_4_trueExecutesItAgain() throws {
        let operation = download()
        let reference = operation.reference
        stage.run(operation.retryOnFailure { _, _ in true })
        #expect(stage.ran == ["page 1", "page 2", "page 3"])
        #expect(try operation.result?.get() == 3)
        #expect(operation.reference == reference)
    }

    @Test func AOperationPages_4_falseFinishesIt() {
        let operation = download().retryOnFailure { count, _ in count < 1 }
        stage.run(operation)
        #expect(stage.ran == ["page 1", "page 2"])
        #expect(operation.ending == "failed: failure 2")
    }

    /// AOperation's `retry` may be called later, for example after a user was asked.
    @Test func AOperationPages_4_theDecisionMayTakeItsTime() {
        let user = Gate()
        let operation = download(2).retryOnFailure { _, _ in
            await user.wait()
            return true
        }
        stage.run(operation)
        #expect(stage.ran == ["page 1"] && !operation.hasFinished)
        user.open()
        stage.steps.runAll()
        #expect(stage.ran == ["page 1", "page 2"])
        #expect(operation.ending == "success")
    }

    /// In AOperation a plain dependent starts after the first attempt.
    @Test func AOperationPages_4_anAttemptThatIsFollowedByAnotherIsNoFinish() {
        let log = stage.log
        let operation = download()
            .retryOnFailure { _, _ in true }
            .didFinish { log("did finish: \($0)") }
        stage.run(stage.noting("dependent", after: operation), operation)
        #expect(stage.ran.prefix(3) == ["page 1", "page 2", "page 3"])
        #expect(Set(stage.ran.dropFirst(3)) == ["did finish: success(3)", "dependent"])
        #expect(stage.ran.count == 5)
    }

    /// The failing operation of a chain is retried. The operations before it keep their outputs, and those behind it
    /// wait.
    @Test func AOperationPages_4_inAChainTheOneThatFailsIsTriedAgain() throws {
        let log = stage.log
        let address = AsyncOperation("address") {
            log("address")
            return "page"
        }
        let words = address.then(Download(log: log)).retryOnFailure { _, _ in true }
            .then { count in
                log("last")
                return count * 10
            }
            .retryOnFailure { _, _ in true }
            .add(to: stage.queue)
        stage.steps.runAll()
        #expect(stage.ran == ["address", "page 1", "page 2", "page 3", "last"])
        #expect(try words.result?.get() == 30)
    }

    @Test func AOperationPages_4_theLastClosureCounts() {
        let log = stage.log
        let operation = download()
            .retryOnFailure { _, _ in
                log("first")
                return true
            }
            .retryOnFailure { _, _ in
                log("last")
                return false
            }
        stage.run(operation)
        #expect(stage.ran == ["page 1", "last"])
    }
}
