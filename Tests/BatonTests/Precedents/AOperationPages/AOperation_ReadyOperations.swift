// Statements of AOperation, ‘Basics’, and the page on operations that are ready to use
//
// The operations for URLSession are in BatonNetwork, like those of Atelier Clockwork.
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct AOperation_ReadyOperations {
    private let stage = TestQueue()

    /// AOperation's `DelayOperation<Output>(5)` after another operation.
    @Test func AOperationPages_7_aDelayPassesTheValueThrough() throws {
        let delayed = AsyncOperation("source") { "page" }.delayed(by: .seconds(5)).add(to: stage.queue)
        stage.steps.runAll()
        stage.advance(by: .milliseconds(4_999))
        #expect(!delayed.hasFinished)
        stage.advance(by: .milliseconds(1))
        #expect(try delayed.result?.get() == "page")
    }

    // Tests/DoesNotCompile/DelayOfNoValue.swift shows that a delay of a value cannot be used alone.
    @Test func AOperationPages_7_aDelayAlone() {
        let delay = AsyncOperation.delay(.seconds(5))
        stage.run(stage.noting("next", after: delay), delay)
        stage.advance(by: .seconds(4))
        #expect(stage.ran == [])
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["next"])
    }

    /// AOperation's `RemainedDelayOperation(5)`, with the seconds of work and of the wait that follows.
    @Test(arguments: [(work: 2, rest: 3), (work: 5, rest: 0), (work: 6, rest: 0)])
    func AOperationPages_7_aRemainedDelayWaitsForTheRest(work: Int, rest: Int) throws {
        let gate = Gate()
        let remained = AsyncOperation("source") { await gate.wait() }
            .then { 7 }
            .delayed(untilAtLeast: .seconds(5))
            .add(to: stage.queue)
        stage.steps.runAll()
        stage.advance(by: .seconds(work))
        gate.open()
        stage.steps.runAll()
        #expect(remained.hasFinished == (rest == 0))
        for second in 0..<rest {
            #expect(!remained.hasFinished, "after \(second) seconds")
            stage.advance(by: .seconds(1))
        }
        #expect(try remained.result?.get() == 7)
    }

    /// AOperation's `AOperationBlock { … }`, which runs on the main thread. Baton's does if it is declared so.
    @Test @MainActor func AOperationPages_7_aBlockOnTheMainActor() async throws {
        let queue = AsyncOperationQueue()
        let block = AsyncOperation("block") { @MainActor in MainActor.assertIsolated() }
        queue.add(block)
        try await block.value
    }

    /// AOperation's `AOperationBlock { finish in … }`, which runs on the queue and may finish later.
    @Test func AOperationPages_7_aBlockThatFinishesLater() {
        let finishes = EventLog<Callback<Void>>()
        let block = AsyncOperation<Void>.callback("block") { finish in finishes(finish) }
        stage.run(block)
        #expect(block.state == .executing)
        finishes.events[0]()
        stage.steps.runAll()
        #expect(block.ending == "success")
    }

    /// AOperation's `MapOperationBlock<Input, Output> { received, finish in … }`.
    @Test func AOperationPages_7_aMapOfAValueOrOfAResult() throws {
        let source = AsyncOperation("source") { 21 }
        let doubled = source.map { $0 * 2 }
        let failing = AsyncOperation<Int>("failing") { throw Oops() }
        let text = AsyncOperation<String>(resultOf: failing) { received in
            switch received {
            case .success(let number): "\(number)"
            case .failure(let error): "no number: \(error)"
            }
        }
        stage.run(source, doubled, failing, text)
        #expect(try doubled.result?.get() == 42)
        #expect(try text.result?.get() == "no number: oops")
    }
}
