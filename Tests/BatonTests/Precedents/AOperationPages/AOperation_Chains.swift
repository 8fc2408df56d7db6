// Statements of AOperation, ‘Basics’, and its pages on declarative operations and on delivering
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

private struct Retrieval: Procedure {
    var error: Oops?

    func execute(in context: OperationContext) async throws -> String {
        if let error { throw error }
        return "a page"
    }
}

/// AOperation's `ReceiverOperation`, which gets any result.
private struct Counting: InputProcedure {
    let log: EventLog<String>

    func execute(_ received: Result<String, OperationError>, in context: OperationContext) async throws -> Int {
        switch received {
        case .success(let page):
            log("counts ‘\(page)’")
            return page.count
        case .failure(let error):
            log("receives: \(error)")
            throw error
        }
    }
}

/// A chain as one procedure: it takes the input of the first operation, and has the output of the last.
private struct Shouting: InputProcedure {
    let log: EventLog<String>

    func execute(_ text: String, in context: OperationContext) async throws -> Int {
        let chain = AsyncOperation("trim") { [log] in
            log("trims ‘\(text)’")
            if text.isEmpty { throw Oops(text: "nothing to shout") }
            return text.split(separator: " ")
        }
        .then { words in words.map { $0.uppercased() } }
        .then { words in words.joined().count }
        return try await context.run(chain)
    }
}

@Suite(.timeLimit(.minutes(10))) struct AOperation_Chains {
    private let stage = TestQueue()

    @Test func AOperationPages_1_theWholeConfigurationIsOneChain() throws {
        let log = stage.log
        let events = NotingObserver()
        let size = AsyncOperation("retrieval") { context in
            log("attempt \(context.attempt)")
            if context.attempt == 1 { throw Oops() }
            return "a page"
        }
        .addDependency(stage.noting("warm up"))
        .addCondition("is signed in") { _ in
            log("is signed in")
            return .satisfied
        }
        .addObserver(events)
        .retry(.immediately, attempts: 2)
        .timeout(.seconds(5))
        .didStart { log("did start") }
        .then { page in page.count }
        .willFinish { _ in log("will finish") }
        .didFinish { result in log("did finish: \(result)") }
        .add(to: stage.queue, includingDependencies: true)
        stage.steps.runAll()
        #expect(try size.result?.get() == 6)
        #expect(
            stage.ran.filter { $0 != "did start" } == [
                "warm up", "is signed in", "attempt 1", "attempt 2", "will finish", "did finish: success(6)",
            ])
        #expect(stage.ran.filter { $0 == "did start" }.count == 1)
        #expect(events.notes.events.last == "retrieval finished success")
        #expect(stage.misuseKinds == [])
    }

    /// In AOperation it depends on chance whether a plain dependency is added, because two missing names are equal.
    @Test func AOperationPages_1_addingTheLastAddsTheWholeChain() {
        let retrieval = AsyncOperation(Retrieval())
        let warmUp = stage.noting("warm up")
        retrieval.addDependency(warmUp)
        let middle = retrieval.map(\.count)
        let last = middle.then { $0 + 1 }
        stage.queue.isSuspended = true
        last.add(to: stage.queue, includingDependencies: true)
        #expect(Set(stage.queue.operations) == [warmUp, retrieval, middle, last])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(last.ending == "success")
    }

    @Test func AOperationPages_1_addComesLast() {
        AsyncOperation(Retrieval()).add(to: stage.queue).addCondition(.mutuallyExclusive("too late"))
        stage.steps.runAll()
        #expect(stage.misuseKinds == [.changedAfterAdding("the exclusion ‘too late’")])
    }

    // Tests/DoesNotCompile/ReceiverOfAnotherType.swift shows that the two types must match.

    @Test func AOperationPages_2_theReceiverRunsWithASuccessOrAFailure() throws {
        let good = AsyncOperation(Retrieval())
        let bad = AsyncOperation(Retrieval(error: Oops(text: "no network")))
        let counts = [good, bad].map { AsyncOperation(Counting(log: stage.log), resultOf: $0).add(to: stage.queue) }
        stage.steps.runAll()
        #expect(stage.ran == ["counts ‘a page’", "receives: no network"])
        #expect(try counts[0].result?.get() == 6)
        #expect(counts[1].error?.underlyingError as? Oops == Oops(text: "no network"))
    }

    /// In AOperation the receiver of these operations gets nil, and the cause is lost.
    @Test func AOperationPages_2_theCauseIsNotLostIfTheSourceDidNotRun() {
        let cancelled = AsyncOperation(Retrieval())
        cancelled.cancel()
        let refused = AsyncOperation(Retrieval()).addCondition("is signed in") { _ in throw Oops(text: "nobody is") }
        for source in [cancelled, refused] {
            AsyncOperation(Counting(log: stage.log), resultOf: source).add(to: stage.queue)
            stage.steps.runAll()
        }
        #expect(
            stage.ran == [
                "receives: cancelled on request", "receives: the condition ‘is signed in’ failed: nobody is",
            ])
    }

    /// In AOperation the second receiver takes the result from the first.
    @Test func AOperationPages_2_anyNumberMayReceiveAResult() {
        let source = AsyncOperation(Retrieval())
        let receivers = (1...3).map { _ in AsyncOperation(Counting(log: stage.log), resultOf: source) }
        stage.run(source, receivers[0], receivers[1], receivers[2])
        #expect(receivers.map(\.ending) == ["success", "success", "success"])
    }

    @Test func AOperationPages_2_didFinishAfterTheDeliveryIsThatOfTheReceiver() {
        AsyncOperation(Retrieval()).then { page in page.count }
            .didFinish { [log = stage.log] (result: Result<Int, OperationError>) in log("\(result)") }
            .add(to: stage.queue)
        stage.steps.runAll()
        #expect(stage.ran == ["success(6)"])
    }

    /// AOperation's `.failure(.receivedValueIsNil(in: self))`.
    @Test func AOperationPages_2_aReceiverWithoutAValueSaysSo() {
        let nothing = AsyncOperation<String?>("nothing") { nil }
        let receiver = AsyncOperation<Int>("receiver", resultOf: nothing) { received in
            guard let page = try received.get() else { throw OperationError.inputMissing }
            return page.count
        }
        receiver.add(to: stage.queue)
        stage.steps.runAll()
        guard case .inputMissing? = receiver.error else {
            Issue.record("\(receiver.ending)")
            return
        }
        #expect(receiver.error?.stage == .dependency)
    }

    @Test func AOperationPages_3_aWrapperMakesAChainOneOperation() throws {
        let text = AsyncOperation("text") { "so much depends" }
        let shouts = [
            AsyncOperation(Shouting(log: stage.log), input: text),
            AsyncOperation(Shouting(log: stage.log), input: "upon"),
        ]
        stage.run(text, shouts[0], shouts[1])
        #expect(try shouts.map { try $0.result?.get() } == [13, 4])
        #expect(Set(stage.ran) == ["trims ‘so much depends’", "trims ‘upon’"])
    }

    @Test func AOperationPages_3_itFailsAsItsChainDoes() {
        let shout = AsyncOperation(Shouting(log: stage.log), input: "")
        stage.run(shout)
        #expect(shout.error?.underlyingError as? Oops == Oops(text: "nothing to shout"))
        #expect(stage.queue.operationCount == 0)
    }
}
