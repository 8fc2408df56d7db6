// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct HandlerGuarantees {
    @Test func G1_theOutcomeIsDecidedBeforeWillFinishAndPublishedAfterIt() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = AsyncOperation("operation") { 7 }
        operation.willFinish { [log = stage.log] result in
            log("will finish with \((try? result.get()) ?? 0), seen: \(operation.ending)")
            await gate.wait()
        }
        stage.run(operation)
        #expect(stage.ran == ["will finish with 7, seen: finishing"])
        #expect(operation.result == nil)
        #expect(operation.state == .finishing)
        operation.cancel()
        stage.steps.runAll()
        #expect(!operation.isCancelled)
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "success")
        #expect(operation.result != nil)
    }

    @Test func G4_noDependentStartsBeforeWillFinishHasReturned() {
        let stage = TestQueue()
        let gate = Gate()
        let source = stage.noting("source")
        source.willFinish { _ in await gate.wait() }
        let reader = source.then { [log = stage.log] in log("reader") }
        stage.run(source, stage.noting("dependent", after: source), reader, stage.noting("other"))
        #expect(Set(stage.ran) == ["source", "other"])
        gate.open()
        stage.steps.runAll()
        #expect(Set(stage.ran) == ["source", "other", "dependent", "reader"])
    }

    /// Every dependent sees the output and the effect of the handler, under many schedules.
    @Test func G4_theOutputIsStoredAndWillFinishHasReturnedUnderEverySchedule() async throws {
        try await exploring(schedules: tries(200)) { scheduler in
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 3, executor: scheduler)
            let done = EventLog<String>()
            let source = AsyncOperation("source") { 7 }
            source.willFinish { _ in
                await Task.yield()
                done("will finish")
            }
            let readers = (0..<3).map { _ in source.then { "\($0) \(done.events)" } }
            queue.add([source] + readers)
            for reader in readers { try #require(try await reader.value == "7 [\"will finish\"]") }
        }
    }

    @Test func G28_willFinishRunsForEveryOutcome() {
        let stage = TestQueue()
        func watched(_ operation: AsyncOperation<Void>) -> AsyncOperation<Void> {
            operation.willFinish { [log = stage.log] result in
                switch result {
                case .success: log("success")
                case .failure(let error): log(error.inShort)
                }
            }
        }
        let failing = watched(AsyncOperation("failing") { throw Oops() })
        let fallback = watched(AsyncOperation("fallback") {}.addDependency(failing, on: .success))
        let cancelled = watched(stage.noting("cancelled", after: failing))
        let neverAdded = watched(stage.noting("never added"))
        stage.queue.isSuspended = true
        stage.queue.add(cancelled)
        cancelled.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["cancelled on request"])
        #expect(cancelled.state == .finished)
        stage.queue.isSuspended = false
        stage.run(failing, fallback, watched(failing.then {}), watched(AsyncOperation("fine") {}))
        #expect(
            Set(stage.ran) == [
                "cancelled on request", "failed: oops", "needs failing via failing: failed: oops", "success",
                "skipped, because ‘failing’ failed, and the dependency asks for a success",
            ])
        neverAdded.cancel()
    }

    @Test func G28_willFinishOfOneThatNobodyAddsRunsWhenItIsCancelled() async {
        let received = EventLog<String>()
        let operation = AsyncOperation("operation") {}
        operation.willFinish { _ in received("will") }
        operation.didFinish { _ in received("did") }
        operation.cancel()
        await received.waitForCount(2)
        #expect(received.events == ["will", "did"])
        #expect(operation.ending == "cancelled on request")
    }

    @Test func G28_willFinishRunsOnATaskThatIsNotCancelled() {
        let stage = TestQueue()
        let operation = AsyncOperation("operation") { withUnsafeCurrentTask { $0?.cancel() } }
        operation.willFinish { [log = stage.log] _ in log("cancelled: \(Task.isCancelled)") }
        let other = AsyncOperation("other") { try Task.checkCancellation() }
        other.willFinish { [log = stage.log] _ in log("cancelled: \(Task.isCancelled)") }
        stage.queue.add(operation, other)
        other.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["cancelled: false", "cancelled: false"])
    }

    @Test func G28_willFinishHoldsThePermit() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let operation = stage.noting("operation")
        operation.willFinish { _ in await gate.wait() }
        stage.run(operation, stage.noting("other"))
        #expect(stage.ran == ["operation"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["operation", "other"])
    }

    @Test func G28_handlersRunInOrderOneAtATime() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = AsyncOperation("operation") { await gate.wait() }
        operation.didFinish { [log = stage.log] _ in log("finish 1") }
        operation.didStart { [log = stage.log] in
            log("start 1")
            await Task.yield()
            log("start 1 is over")
        }
        operation.didCancel { [log = stage.log] reason in log("cancel \(reason)") }
        operation.didStart { [log = stage.log] in log("start 2") }
        operation.didFinish { [log = stage.log] _ in log("finish 2") }
        stage.run(operation)
        operation.cancel(reason: .because("of rain"))
        stage.steps.runAll()
        #expect(stage.ran == ["start 1", "start 1 is over", "start 2", "cancel because of rain"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.suffix(2) == ["finish 1", "finish 2"])
    }

    @Test func G28_idleComesAfterWillFinish() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.noting("operation")
        operation.willFinish { _ in await gate.wait() }
        operation.cancel()
        let other = stage.noting("other")
        other.willFinish { _ in await gate.wait() }
        stage.queue.add(other)
        other.cancel()
        stage.steps.task { [queue = stage.queue, log = stage.log] in
            await queue.waitUntilIdle()
            log("idle")
        }
        stage.steps.runAll()
        #expect(stage.ran == [])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["idle"])
    }

    /// A slow `didStart` or `didCancel` handler delays only the handlers that come after it.
    @Test func G29_slowHandlersDelayNobody() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let operation = stage.noting("operation")
        operation.didStart { await gate.wait() }
        operation.didFinish { [log = stage.log] _ in log("its own") }
        let dependent = stage.noting("dependent", after: operation)
        stage.run(operation, dependent)
        #expect(stage.ran == ["operation", "dependent"])
        #expect(operation.state == .finished)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["operation", "dependent", "its own"])
    }

    @Test func G31_handlersAreReleasedWithTheOperation() {
        let stage = TestQueue()
        let tokens = Tokens()
        for isCancelled in [false, true] {
            let operation = AsyncOperation("operation") {}
            let token = tokens.make()
            operation.didStart { token.touch() }.didCancel { _ in token.touch() }.didProduce { _ in token.touch() }
            operation.willFinish { _ in token.touch() }.didFinish { _ in token.touch() }
            stage.queue.add(operation)
            if isCancelled { operation.cancel() }
            stage.steps.runAll()
        }
        #expect(tokens.alive == 0)
    }

    @Test func G31_handlersOfOneThatNeverRunsAreReleasedWithIt() {
        let tokens = Tokens()
        do {
            let token = tokens.make()
            _ = AsyncOperation("operation") {}.willFinish { _ in token.touch() }.didStart { token.touch() }
        }
        #expect(tokens.alive == 0)
    }

    /// Handlers belong to the user, and what they capture may call the operation when it is released.
    @Test func G31_handlersThatAreNeverCalledAreReleasedWithoutALock() {
        final class Curious: Sendable {
            let operation: AnyOperation
            let log: EventLog<String>

            init(_ operation: AnyOperation, _ log: EventLog<String>) {
                self.operation = operation
                self.log = log
            }

            deinit {
                operation.cancel()
                log("\(operation.state)")
            }
        }
        let stage = TestQueue()
        func add(_ count: Int, to operation: AnyOperation) {
            let curious = Curious(operation, stage.log)
            for _ in 0..<count { operation.didCancel { _ in withExtendedLifetime(curious) {} } }
        }
        for count in 1...2 {
            let operation = AsyncOperation("operation") {}
            add(count, to: operation)
            stage.run(operation)
            #expect(stage.ran == Array(repeating: "finished", count: count))
        }
        let late = AsyncOperation("late") {}
        stage.run(late)
        late.didCancel { [curious = Curious(late, stage.log)] _ in withExtendedLifetime(curious) {} }
        #expect(stage.ran == ["finished", "finished", "finished"])
    }
}
