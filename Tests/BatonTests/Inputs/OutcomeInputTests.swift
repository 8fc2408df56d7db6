import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct OutcomeInputTests {
    private func failing() -> AsyncOperation<Int> { AsyncOperation("failing") { throw Oops() } }

    private func short(_ result: Result<Int, OperationError>) -> String {
        switch result {
        case .success(let value): "\(value)"
        case .failure(let error): error.inShort
        }
    }

    @Test func resultOfRunsWhateverTheOutcome() async throws {
        let queue = AsyncOperationQueue()
        let cancelled = AsyncOperation("cancelled") { 2 }
        cancelled.cancel()
        for (source, expected) in [
            (AsyncOperation { 1 }, "1"), (failing(), "failed: oops"), (cancelled, "cancelled on request"),
            (failing().then { $0 }, "needs failing via failing"),
        ] {
            let one = AsyncOperation(resultOf: source) { self.short($0) }
            let withContext = AsyncOperation(resultOf: source) { result, context in
                self.short(result) + " \(context.attempt)"
            }
            #expect(try await queue.run(one).hasPrefix(expected))
            #expect(try await queue.run(withContext).hasPrefix(expected))
        }
    }

    @Test func resultOfSeveralGetsEachInItsPlace() async throws {
        let queue = AsyncOperationQueue()
        let text = AsyncOperation { "seven" }
        let both = AsyncOperation(resultOf: failing(), text) { number, text in
            "\(self.short(number)), \(try text.get())"
        }
        #expect(try await queue.run(both) == "failed: oops, seven")
        let withContext = AsyncOperation("named", resultOf: failing(), text) { number, text, context in
            "\(context.operation.name!): \(self.short(number)), \(try text.get())"
        }
        #expect(try await queue.run(withContext) == "named: failed: oops, seven")
        #expect(withContext.dependencies.isEmpty)
    }

    private struct Receiving: InputProcedure {
        func execute(_ input: Result<Int, OperationError>, in context: OperationContext) async throws -> Int {
            if case .failure(let error) = input { throw error }
            return try input.get() + 1
        }
    }

    @Test func aProcedureCanTakeAnOutcome() async throws {
        let queue = AsyncOperationQueue()
        #expect(try await queue.run(AsyncOperation(Receiving(), resultOf: AsyncOperation { 1 })) == 2)
        let operation = AsyncOperation(Receiving(), resultOf: failing())
        await #expect(throws: OperationError.self) { try await queue.run(operation) }
        #expect(operation.ending == "failed: \(OperationError.failed(Oops()))")
    }

    @Test func aDefaultIsUsedWheneverThereIsNoOutput() async throws {
        let queue = AsyncOperationQueue()
        let cancelled = AsyncOperation { 2 }
        cancelled.cancel()
        let skipped = AsyncOperation { 3 }.addDependency(failing().add(to: queue), on: .success)
        for (source, expected) in [
            (AsyncOperation { 1 }, 1), (failing(), 9), (cancelled, 9), (skipped, 9), (failing().then { $0 }, 9),
        ] {
            #expect(try await queue.run(AsyncOperation(source, default: 9) { $0 }) == expected)
        }
        #expect(try await queue.run(AsyncOperation(Doubling(), input: failing(), default: 4)) == 8)
        #expect(try await queue.run(AsyncOperation(Doubling(), input: AsyncOperation { 3 }, default: 4)) == 6)
    }

    /// Nil is an output like any other. No output is missing, so the default is not used.
    @Test func anOptionalOutputThatIsNilIsHandedOver() async throws {
        let queue = AsyncOperationQueue()
        let none = AsyncOperation<Int?> { nil }
        let one = none.then { $0 == nil }
        let several = AsyncOperation(none, AsyncOperation<String?> { nil }) { $0 == nil && $1 == nil }
        let outcome = AsyncOperation(resultOf: none) { try $0.get() == nil }
        let defaulted = AsyncOperation(none, default: 7) { $0 == nil }
        let all = AsyncOperation.collect([none, none]).then { $0 == [nil, nil] }
        for reader in [one, several, outcome, defaulted, all] { #expect(try await queue.run(reader)) }
    }

    @Test func anInputThatIsNotNeededCannotBeRemovedEither() {
        let stage = TestQueue()
        let source = failing()
        let operation = AsyncOperation(source, default: 9) { [log = stage.log] in log("\($0)") }
        let queue = AsyncOperationQueue()
        queue.onMisuse = { [misuses = stage.misuses] in misuses($0) }
        operation.removeDependency(source)
        #expect(operation.dependencies.count == 1)
        stage.run(source, operation)
        #expect(stage.ran == ["9"])
    }

    @Test func sourcesAreReleasedWithTheReader() {
        let stage = TestQueue()
        let tokens = Tokens()
        do {
            let token = tokens.make()
            let source = AsyncOperation { token }
            let reader = AsyncOperation(resultOf: source) { _ in }
            let many = AsyncOperation(resultOf: source, source) { _, _ in }
            let defaulted = AsyncOperation(source, default: tokens.make()) { $0.touch() }
            let all = AsyncOperation.collect([source]).then { _ in }
            stage.queue.add(source, reader, many, defaulted)
            all.add(to: stage.queue)
            stage.steps.runAll()
            #expect(all.ending == "success")
        }
        #expect(tokens.alive == 0)
    }
}
