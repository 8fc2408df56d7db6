// Statements of AOperation, ‘Basics’, and the page on observers that it links to
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// The three moments that AOperation reports to its observers.
private struct Moments: OperationObserver {
    let log = EventLog<String>()

    func observe(_ event: OperationEvent) async {
        switch event.kind {
        case .started: log("\(event.operation.name) starts")
        case .produced(let product): log("\(event.operation.name) produces \(product.name)")
        case .finished(let outcome, _): log("\(event.operation.name) finishes: \(outcome)")
        default: break
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct AOperation_Observers {
    private let stage = TestQueue()

    /// Returns an operation that produces another one, and fails.
    private func producer() -> AsyncOperation<Void> {
        AsyncOperation("producer") { context in
            _ = try context.produce(AsyncOperation("product") {})
            throw Oops()
        }
    }

    @Test func AOperation_19_anObserverIsToldOfStartProductAndFinish() {
        let observer = Moments()
        stage.run(producer().addObserver(observer))
        #expect(
            observer.log.events == ["producer starts", "producer produces product", "producer finishes: failure"])
    }

    @Test func AOperation_19_anObserverOfTheQueueIsToldOfAll() {
        let observer = Moments()
        stage.queue.addObserver(observer)
        stage.run(producer())
        #expect(observer.log.events.filter { $0.hasPrefix("producer") }.count == 3)
        #expect(
            observer.log.events.filter { $0.hasPrefix("product ") } == ["product starts", "product finishes: success"])
    }

    /// AOperation's `BlockObserver(startHandler:produceHandler:finishHandler:)`.
    @Test func AOperation_19_eachMomentHasABlockForm() {
        let log = stage.log
        let operation = producer()
            .didStart { log("starts") }
            .didProduce { log("produces \($0.reference.name)") }
            .didFinish { log("finishes: \((try? $0.get()) != nil)") }
        stage.run(operation)
        #expect(stage.ran == ["starts", "produces product", "finishes: false"])
    }

    @Test func AOperationPages_9_didFinishIsAdditive() {
        let operation = AsyncOperation("operation") {}
        for number in 1...3 { operation.didFinish { [log = stage.log] _ in log("\(number)") } }
        stage.run(operation)
        #expect(stage.ran == ["1", "2", "3"])
    }

    /// The handler runs on the main actor if it is declared so. The compiler checks its accesses.
    @Test @MainActor func AOperationPages_9_didFinishRunsOnTheMainActor() async {
        let queue = AsyncOperationQueue()
        var label = ""
        let operation = AsyncOperation("operation") { "done" }.didFinish { @MainActor result in
            MainActor.assertIsolated()
            label = (try? result.get()) ?? ""
        }
        queue.add(operation)
        await queue.waitUntilIdle()
        #expect(label == "done")
    }

    /// AOperation keeps the last closure only, so a chain and its user can replace each other's closures.
    @Test func AOperationPages_9_willFinishIsAdditiveToo() {
        let operation = AsyncOperation("operation") {}
        for number in 1...3 { operation.willFinish { [log = stage.log] _ in log("\(number)") } }
        stage.run(operation)
        #expect(stage.ran == ["1", "2", "3"])
    }

    /// AOperation's `TimeoutObserver(5)`. It cancels the operation, so that no work continues after the operation has
    /// finished.
    @Test func AOperationPages_9_aTimeoutCancelsAfterTheInterval() {
        let operation = AsyncOperation("operation") { [log = stage.log] in
            do { try await Gate().waitUnlessCancelled() } catch {
                log("is cancelled: \(Task.isCancelled)")
                throw error
            }
        }
        .timeout(.seconds(5))
        stage.run(operation)
        stage.advance(by: .milliseconds(4_999))
        #expect(operation.state == .executing)
        stage.advance(by: .milliseconds(1))
        guard case .timedOut(after: .seconds(5), _)? = operation.error else {
            Issue.record("\(operation.ending)")
            return
        }
        #expect(operation.isCancelled)
        #expect(stage.ran == ["is cancelled: true"])
    }
    // NetworkObserver and ReachabilityObserver have no counterpart in this module, which has no network operations.
}
