import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct TransformTests {
    private let queue = AsyncOperationQueue()

    private func failing() -> AsyncOperation<Int> { AsyncOperation("failing") { throw Oops() } }

    @Test func mapChangesTheOutput() async throws {
        #expect(try await queue.run(AsyncOperation { 2 }.map { $0 * 3 }.map { "\($0)" }) == "6")
        #expect(try await queue.run(AsyncOperation { 2 }.map("tripled") { $0 * 3 }) == 6)
        let thrown = AsyncOperation { 2 }.map { _ -> Int in throw Oops() }
        try? await _ = queue.run(thrown)
        #expect(thrown.ending == "failed: oops")
        let unfed = failing().map { $0 }
        try? await _ = queue.run(unfed)
        #expect(unfed.ending == "needs failing via failing: failed: oops")
    }

    @Test func flatMapRunsWhatItMakes() async throws {
        let narrow = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let product = AsyncOperation { 2 }.flatMap { number in
            AsyncOperation { number + 1 }.then { $0 * 10 }
        }
        #expect(try await narrow.run(product) == 30)
        let failed = AsyncOperation { 2 }.flatMap { _ in self.failing() }
        try? await _ = narrow.run(failed)
        #expect(failed.error?.underlyingError as? Oops == Oops())
    }

    @Test func recoverMakesAnOutputOfAnyError() async throws {
        #expect(try await queue.run(AsyncOperation { 1 }.recover { _ in 9 }) == 1)
        #expect(try await queue.run(failing().recover { $0.outcome == .failure ? 9 : 0 }) == 9)
        let cancelled = AsyncOperation { 1 }
        cancelled.cancel()
        #expect(try await queue.run(cancelled.recover { $0.outcome == .cancelled ? 9 : 0 }) == 9)
        let still = failing().recover { _ in throw Oops(text: "again") }
        try? await _ = queue.run(still)
        #expect(still.ending == "failed: again")
    }

    @Test func mapErrorChangesTheFailureAlone() async throws {
        #expect(try await queue.run(AsyncOperation { 1 }.mapError { _ in Oops() }) == 1)
        let mapped = failing().mapError { Oops(text: "mapped \($0)") }
        try? await _ = queue.run(mapped)
        #expect(mapped.ending == "failed: mapped oops")
    }

    @Test func unwrappedGivesTheValueOrSaysThatItIsMissing() async throws {
        #expect(try await queue.run(AsyncOperation<Int?> { 1 }.unwrapped()) == 1)
        let missing = AsyncOperation<Int?> { nil }.unwrapped()
        try? await _ = queue.run(missing)
        guard case .inputMissing? = missing.error else {
            Issue.record("\(missing.ending)")
            return
        }
        #expect("\(missing.error!)".hasSuffix("or the output that was to be unwrapped is nil"))
        let reader = missing.then { $0 }
        try? await _ = queue.run(reader)
        guard case .dependencyFailed(_, _, .inputMissing)? = reader.error else {
            Issue.record("\(reader.ending)")
            return
        }
    }

    @Test func collectKeepsTheOrderOfTheOperations() async throws {
        let operations = (0..<100).map { number in AsyncOperation { number } }
        #expect(try await queue.run(AsyncOperation.collect(operations)) == Array(0..<100))
        #expect(try await queue.run(AsyncOperation.collect([AsyncOperation<Int>]())) == [])
        #expect(
            try await queue.run(AsyncOperation.collect(operations.prefix(3).lazy.map { $0.then { -$0 } })) == [
                0, -1, -2,
            ])
    }

    @Test func filterAndReduceTakeTheOutputs() async throws {
        let operations = (1...6).map { number in AsyncOperation { number } }
        #expect(try await queue.run(AsyncOperation.filter(operations) { $0 % 2 == 0 }) == [2, 4, 6])
        #expect(try await queue.run(AsyncOperation.reduce(operations, 0) { $0 + $1 }) == 21)
        #expect(try await queue.run(AsyncOperation.reduce(operations, "") { "\($0)\($1)" }) == "123456")
        let thrown = AsyncOperation.reduce(operations, 0) { _, _ in throw Oops() }
        try? await _ = queue.run(thrown)
        #expect(thrown.ending == "failed: oops")
    }

    @Test func ofCollectedOperationsTheFirstWithoutAnOutputIsNamed() async throws {
        let second = AsyncOperation<Int>("second") { throw Oops(text: "2") }
        let third = AsyncOperation<Int>("third") { throw Oops(text: "3") }
        let all = AsyncOperation.collect([AsyncOperation { 1 }, second, third])
        try? await _ = queue.run(all)
        #expect(all.ending == "needs second via second: failed: 2")
    }

    @Test("Outcomes are collected when all operations have finished, whatever their outcomes are")
    func outcomes() async throws {
        let gate = Gate()
        let first = AsyncOperation("first") {
            await gate.wait()
            return 1
        }
        let second = AsyncOperation<Int>("second") { throw Oops() }
        let third = AsyncOperation("third") { 3 }
        third.cancel()
        let all = AsyncOperation.collectResults("all", [first, second, third])
        queue.add(all)
        await gate.waitForWaiters(count: 1)
        #expect(all.name == "all" && all.result == nil)
        gate.open()
        let results = try await all.value
        #expect(try results[0].get() == 1)
        #expect(results.count == 3)
        guard case .failure(.failed(let error)) = results[1], case .failure(.cancelled) = results[2] else {
            Issue.record("\(results)")
            return
        }
        #expect(error as? Oops == Oops())
        #expect(try await queue.run(AsyncOperation.collectResults([AsyncOperation<Int>]())).isEmpty)
    }

    @Test func oneOperationCanBeCollectedTwice() async throws {
        let one = AsyncOperation { 1 }
        #expect(try await queue.run(AsyncOperation.collect([one, one])) == [1, 1])
    }
}
