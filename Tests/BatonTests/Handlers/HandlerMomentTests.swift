import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct HandlerMomentTests {
    @Test func didStartIsCalledOnlyIfTheBodyRuns() {
        let stage = TestQueue()
        func watched(_ name: String, _ operation: AsyncOperation<Void>) -> AsyncOperation<Void> {
            operation.didStart { [log = stage.log] in log(name) }
        }
        let failing = AsyncOperation("failing") { throw Oops() } as AsyncOperation<Void>
        let cancelled = watched("cancelled", AsyncOperation("cancelled") {})
        stage.queue.add(
            watched("plain", AsyncOperation("plain") {}), failing,
            watched("skipped", AsyncOperation("skipped") {}.addDependency(failing, on: .success)),
            watched("without input", failing.then {}),
            watched("outcome", AsyncOperation(resultOf: failing) { _ in }), cancelled)
        cancelled.cancel()
        stage.steps.runAll()
        #expect(Set(stage.ran) == ["plain", "outcome"])
    }

    @Test func didStartComesBeforeTheEndOfTheBody() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.waiting("body", at: gate)
        operation.didStart { [log = stage.log] in log("did start") }
        stage.run(operation)
        #expect(Set(stage.ran) == ["body", "did start"])
        #expect(operation.state == .executing)
        gate.open()
        stage.steps.runAll()
    }

    @Test func lateHandlersOfMomentsThatHavePassedAreCalled() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.waiting("body", at: gate)
        stage.run(operation)
        operation.didStart { [log = stage.log] in log("start") }
        operation.cancel(reason: .because("of rain"))
        operation.didCancel { [log = stage.log] in log("cancel \($0)") }
        stage.steps.runAll()
        #expect(stage.ran == ["body", "start", "cancel because of rain"])
        gate.open()
        stage.steps.runAll()
        operation.didStart { [log = stage.log] in log("late start") }
        operation.didCancel { [log = stage.log] in log("late cancel \($0)") }
        operation.willFinish { [log = stage.log] _ in log("late will") }
        operation.didFinish { [log = stage.log] _ in log("late did") }
        stage.steps.runAll()
        #expect(stage.ran.dropFirst(3) == ["late start", "late cancel because of rain", "late will", "late did"])
    }

    @Test func lateHandlersOfMomentsThatNeverCameAreNotCalled() {
        let stage = TestQueue()
        let failing = AsyncOperation<Int>("failing") { throw Oops() }
        let cancelled = stage.noting("cancelled")
        let all: [AnyOperation] = [
            failing.then { _ in }, AsyncOperation("skipped") {}.addDependency(failing, on: .success), cancelled,
        ]
        stage.queue.add(all + [failing])
        cancelled.cancel(reason: .because("of rain"))
        stage.steps.runAll()
        for operation in all { operation.didStart { [log = stage.log] in log("start") } }
        failing.didCancel { [log = stage.log] _ in log("cancel") }
        cancelled.didCancel { [log = stage.log] in log("\($0)") }
        stage.steps.runAll()
        #expect(stage.ran == ["because of rain"])
    }

    @Test func didCancelIsCalledOnceWithTheFirstReason() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("operation")
        operation.didCancel { [log = stage.log] in log("\($0)") }
        stage.queue.add(operation)
        operation.cancel(reason: .because("of rain"))
        operation.cancel(reason: .because("of snow"))
        stage.steps.runAll()
        #expect(stage.ran == ["because of rain"])
    }

    @Test func didCancelIsNotCalledForACancelAfterTheFinish() {
        let stage = TestQueue()
        let operation = stage.noting("operation")
        operation.didCancel { [log = stage.log] _ in log("cancelled") }
        stage.run(operation)
        operation.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["operation"])
    }

    @Test func didProduceIsToldOfEveryProduct() {
        let stage = TestQueue()
        let operation = AsyncOperation("operation") { [log = stage.log] context in
            for name in ["a", "b"] { try context.produce(AsyncOperation(name) { log(name) }) }
            let twice = try context.produce(AsyncOperation("c") { log("c") })
            try context.produce(twice)
        }
        operation.didProduce { [log = stage.log] product in log("produced \(product.name!)") }
        stage.run(operation)
        #expect(stage.ran.filter { $0.hasPrefix("produced") } == ["produced a", "produced b", "produced c"])
        #expect(stage.ran.filter { !$0.hasPrefix("produced") } == ["a", "b", "c"])
        #expect(stage.misuseKinds == [.addedTwice])
    }

    @Test func willFinishHandlersThatAreAddedByOneAreWaitedFor() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = AsyncOperation("operation") {}
        operation.willFinish { [log = stage.log] _ in
            log("first")
            operation.willFinish { _ in
                log("second")
                await gate.wait()
            }
        }
        stage.run(operation)
        #expect(stage.ran == ["first", "second"])
        #expect(operation.state == .finishing)
        gate.open()
        stage.steps.runAll()
        #expect(operation.state == .finished)
    }

    /// Otherwise the handler would wait for itself.
    @Test(arguments: [false, true]) func willFinishThatAwaitsItsOwnValueIsRefused(isCancelled: Bool) {
        let stage = TestQueue(width: 1)
        let operation = AsyncOperation("operation") {}
        let dependent = operation.then { [log = stage.log] in log("dependent") }
        dependent.name = "dependent"
        operation.willFinish { [log = stage.log] _ in
            do throws(OperationError) { try await operation.value } catch { log(error.inShort) }
        }
        stage.queue.add(operation, dependent)
        if isCancelled { operation.cancel() }
        stage.steps.runAll()
        #expect(stage.ran == ["cycle operation"] + (isCancelled ? [] : ["dependent"]))
        #expect(operation.state == .finished)
    }

    @Test func willFinishThatAwaitsADependentFailsThatDependent() {
        let stage = TestQueue()
        let operation = AsyncOperation("operation") {}
        let dependent = stage.noting("dependent", after: operation)
        operation.willFinish { [log = stage.log] _ in
            do throws(OperationError) { try await dependent.value } catch { log("\(error.cycleNames ?? [])") }
        }
        stage.run(operation, dependent)
        #expect(operation.ending == "success")
        #expect(stage.ran == [#"["dependent", "operation"]"#])
    }

    /// In a queue of width 1 the other operation needs the permit.
    @Test func willFinishThatAwaitsAnotherOperationReleasesItsPermit() {
        let stage = TestQueue(width: 1)
        let operation = stage.noting("operation")
        let other = stage.noting("other")
        operation.willFinish { [log = stage.log] _ in
            try? await other.value
            log("will finish")
        }
        stage.run(operation, other)
        #expect(stage.ran == ["operation", "other", "will finish"])
        #expect(stage.queue.operationCount == 0)
        stage.run(stage.noting("last"))
        #expect(stage.ran.last == "last")
    }

    @Test func explainSaysThatWillFinishHandlersRun() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = AsyncOperation("operation") {}
        operation.willFinish { _ in await gate.wait() }
        let dependent = stage.noting("dependent", after: operation)
        stage.run(operation, dependent)
        #expect(
            dependent.explain().description
                == "‘dependent’ waits for ‘operation’. ‘operation’ waits for its willFinish handlers: one of them has "
                + "not returned.")
        #expect(operation.explain().roots.map(\.cause) == [.finishing])
        gate.open()
        stage.steps.runAll()
    }

    @Test func waitingForTheOwnQueueInWillFinishIsMisuse() {
        let stage = TestQueue()
        let operation = stage.noting("operation")
        operation.willFinish { [queue = stage.queue] _ in await queue.waitUntilIdle() }
        stage.run(operation)
        #expect(stage.misuseKinds == [.waitedForItsOwnQueue("waitUntilIdle")])
        #expect(operation.state == .finished)
    }

    @Test @MainActor func everyHandlerRunsOnTheIsolationItDeclares() async {
        let queue = AsyncOperationQueue()
        let seen = EventLog<String>()
        let operation = AsyncOperation { context in try context.produce(AsyncOperation("product") {}) }
        operation.didStart { @MainActor in
            MainActor.assertIsolated()
            seen("start")
        }
        operation.didProduce { @MainActor _ in
            MainActor.assertIsolated()
            seen("produce")
        }
        operation.willFinish { @MainActor _ in
            MainActor.assertIsolated()
            seen("will")
        }
        operation.didFinish { @MainActor _ in
            MainActor.assertIsolated()
            seen("did")
        }
        queue.add(operation)
        await queue.waitUntilIdle()
        #expect(Set(seen.events) == ["start", "produce", "will", "did"])
    }

    @Test func aHandlerMayThrowAwayTheLastHandles() async {
        let tokens = Tokens()
        let handles = Locked<(AsyncOperationQueue?, AnyOperation?)>((nil, nil))
        let finished = EventLog<String>()
        do {
            let token = tokens.make()
            let queue = AsyncOperationQueue()
            let operation = AsyncOperation("operation") { token.touch() }
            handles.withLock { $0 = (queue, operation) }
            operation.willFinish { _ in
                token.touch()
                let last = handles.withLock { handles in
                    defer { handles = (nil, nil) }
                    return handles
                }
                withExtendedLifetime(last) {}
            }
            operation.didFinish { _ in
                token.touch()
                finished("finished")
            }
            queue.add(operation)
        }
        await finished.waitForCount(1)
        while tokens.alive > 0 { await Task.yield() }
    }
}
