import Baton
import BatonTesting
import Testing

private struct Oops: Error {}

@Suite(.timeLimit(.minutes(10))) struct ConditionTrialTests {
    private struct Asks: OperationCondition {
        let answers: Bool
        var exclusions: [Exclusion] { [.mutuallyExclusive(Asks.self)] }
        func dependency(for operation: AnyOperation) -> AnyOperation? {
            AsyncOperation("request") { [answers] in if !answers { throw Oops() } }
        }

        func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
    }

    private struct Says: OperationCondition {
        let result: ConditionResult
        func evaluate(for operation: AnyOperation) async throws -> ConditionResult { result }
    }

    @Test("A trial reports the condition's result")
    func itTellsTheAnswer() async {
        #expect(await ConditionTrial(of: Says(result: .satisfied)).verdict == .satisfied)
        let skipped = await ConditionTrial(of: Says(result: .skip("full")))
        #expect(skipped.verdict == .skipped("full"))
        #expect(skipped.cause == nil && skipped.dependency == nil)
    }

    @Test("A trial reports the condition's dependency and its outcome")
    func itTellsWhatWasBroughtAlongAndWhatItCameTo() async {
        let good = await ConditionTrial(of: Asks(answers: true))
        #expect(good.verdict == .satisfied)
        #expect(good.dependency?.name == "request" && good.dependency?.state == .finished)
        let bad = await ConditionTrial(of: Asks(answers: false))
        #expect(bad.verdict.description.hasPrefix("failed"))
        #expect((bad.cause as? OperationError)?.underlyingError is Oops)
        #expect(bad.dependency?.error != nil)
    }

    @Test func theOperationHasANameAndDependencies() async {
        struct Named: OperationCondition {
            func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
                .skip("\(operation.name ?? "") after \(operation.dependencies.count)")
            }
        }
        let failing = AsyncOperation<Void>("failing") { throw Oops() }
        let named = await ConditionTrial(of: Named(), forOperationNamed: "upload", after: [failing])
        #expect(named.verdict == .skipped("upload after 1"))
        let failed = await ConditionTrial(of: NoFailedDependencies(), after: [failing])
        #expect(failed.verdict.description == "failed: ‘failing’: Oops()")
    }

    @Test func otherEndsOfATrial() async {
        struct Cancels: OperationCondition {
            func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
                operation.cancel()
                return .satisfied
            }
        }
        #expect(await ConditionTrial(of: Cancels()).verdict == .cancelled)
        let impossible = await ConditionTrial(of: .limited("ConditionTrialTests", to: 1, weight: 2))
        #expect(impossible.verdict.description.hasPrefix("ended: misuse"))
    }

    @Test func aGatedConditionAnswersWhenItsGateOpens() async throws {
        let gate = Gate()
        let queue = AsyncOperationQueue()
        let operation = queue.add { 1 }
        let held = AsyncOperation { 2 }.addCondition(GatedCondition(gate))
        let skipped = AsyncOperation { 3 }.addCondition(GatedCondition(gate, answer: .skip("no")))
        let cancelled = AsyncOperation { 4 }.addCondition(GatedCondition(gate, name: "the gate"))
        queue.add([held, skipped, cancelled])
        await gate.waitForWaiters(count: 3)
        #expect(try await operation.value == 1)
        #expect(held.state == .evaluating)
        #expect("\(held.explain())".contains("‘gate’"))
        cancelled.cancel()
        await #expect(throws: OperationError.self) { try await cancelled.value }
        gate.open()
        #expect(try await held.value == 2)
        await #expect(throws: OperationError.self) { try await skipped.value }
    }
}
