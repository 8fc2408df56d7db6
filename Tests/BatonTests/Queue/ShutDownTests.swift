import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ShutDownTests {
    private func drain(_ stage: TestQueue, _ name: String = "drained") {
        stage.steps.task { [queue = stage.queue, log = stage.log] in
            await queue.drain()
            log(name)
        }
        stage.steps.runAll()
    }

    @discardableResult
    private func shutDown(
        _ stage: TestQueue, within limit: Duration, _ clock: TestClock, _ name: String = "shut down"
    ) -> Task<Void, Never> {
        let task = stage.steps.task { [queue = stage.queue, log = stage.log] in
            await queue.shutdown(within: limit, clock: clock)
            log(name)
        }
        stage.steps.runAll()
        return task
    }

    @Test func drainLetsEverythingFinishAndTakesNoMore() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        stage.run(stage.waiting("a", at: gate), stage.noting("b"))
        drain(stage)
        let late = stage.noting("late")
        let reader = late.then {}
        stage.run(late, reader)
        #expect(late.ending == "queueShutDown")
        #expect(reader.state == .finished)
        #expect(stage.ran == ["a"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["a", "b", "drained"])
        #expect(stage.misuseKinds == [])
    }

    @Test func aClosedQueueAcceptsChildrenAndProductsOfItsBodies() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let body = AsyncOperation("body") { [log = stage.log, queue = stage.queue] context in
            await gate.wait()
            try context.produce(AsyncOperation { log("product") })
            try await context.run(AsyncOperation { log("child") })
            try await queue.run(AsyncOperation { log("run") })
        }
        stage.run(body)
        drain(stage)
        gate.open()
        stage.steps.runAll()
        #expect(body.ending == "success")
        #expect(
            stage.ran == ["child", "run", "product", "drained"] || stage.ran == ["child", "product", "run", "drained"])
    }

    enum End: CaseIterable {
        case drain, shutdown
    }

    @Test("After a shutdown has returned, the queue refuses bodies of other queues", arguments: End.allCases)
    func bodiesOfOtherQueuesAfterTheEnd(end: End) {
        let stage = TestQueue(name: "ended")
        let other = AsyncOperationQueue(executor: stage.steps, clock: stage.clock)
        let (gate, next) = (Gate(), Gate())
        stage.queue.add(stage.waiting("own", at: gate))
        let (numbers, more) = AsyncStream.makeStream(of: Int.self)
        more.yield(0)
        let iteration = other.add("iteration") { [queue = stage.queue, log = stage.log] in
            for try await number in numbers.deliver(on: queue, { $0 }) { log("\(number)") }
        }
        let body = other.add("body") { [queue = stage.queue, log = stage.log] in
            try await queue.run(AsyncOperation("while it drains") { log("while it drains") })
            await next.wait()
            try await queue.run(AsyncOperation("late") { log("late") })
        }
        stage.steps.runAll()
        switch end {
        case .drain: drain(stage, "ended")
        case .shutdown: shutDown(stage, within: .seconds(5), TestClock(), "ended")
        }
        gate.open()
        stage.steps.runAll()
        next.open()
        more.yield(1)
        stage.steps.runAll()
        #expect(!stage.ran.contains("late") && !stage.ran.contains("1"))
        #expect(body.ending.hasPrefix("failed: the queue ‘ended’ had been shut down"))
        #expect(iteration.ending.hasPrefix("failed: the queue ‘ended’ had been shut down"))
        #expect(stage.queue.core.state.withLock { $0.shutdownListeners.isEmpty })
    }

    @Test func everyWayToAddIsClosed() async {
        let queue = AsyncOperationQueue()
        await queue.drain()
        let operations = (0..<6).map { number in AsyncOperation("\(number)") {} }
        queue.add(operations[0])
        queue.add(operations[1], operations[2])
        queue.addBarrier(operations[3])
        operations[4].then {}.add(to: queue)
        await #expect(throws: OperationError.self) { try await queue.submit(operations[5]) }
        let closure = queue.add {}
        await #expect(throws: OperationError.self) { try await queue.run(AsyncOperation {}) }
        for operation in operations + [closure] {
            guard case .queueShutDown? = operation.error else {
                Issue.record("\(operation)")
                return
            }
        }
        #expect(queue.operationCount == 0)
    }

    @Test func waitingSubmissionsAreRefused() {
        let stage = TestQueue(isSuspended: true)
        stage.queue.maxWaitingOperationCount = 1
        stage.queue.add(stage.noting("first"))
        let second = stage.noting("second")
        stage.steps.task { [queue = stage.queue, log = stage.log] in
            do throws(OperationError) { try await queue.submit(second) } catch { log("refused") }
        }
        stage.steps.runAll()
        drain(stage)
        #expect(stage.ran == ["refused"])
        #expect(second.state == .finished)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["refused", "first", "drained"])
    }

    @Test func anEmptyQueueDrainsAtOnce() async {
        let queue = AsyncOperationQueue(isSuspended: true)
        await queue.drain()
        await queue.drain()
        await queue.shutdown(within: .seconds(1))
    }

    @Test func shutdownGivesTimeAndThenCancels() {
        let stage = TestQueue(width: 1)
        let clock = TestClock()
        let polite = AsyncOperation("polite") {
            while !Task.isCancelled { await Task.yield() }
            try Task.checkCancellation()
        }
        let waiting = stage.noting("waiting", after: polite)
        stage.queue.add(polite, waiting)
        for _ in 0..<50 { stage.steps.step() }
        stage.steps.task { [queue = stage.queue, log = stage.log] in
            await queue.shutdown(within: .seconds(5), clock: clock)
            log("shut down")
        }
        for _ in 0..<50 { stage.steps.step() }
        clock.advance(by: .seconds(4))
        for _ in 0..<50 { stage.steps.step() }
        #expect(!polite.isCancelled)
        clock.advance(by: .seconds(1))
        stage.steps.runAll()
        #expect(polite.ending == "cancelled with everything in its queue")
        #expect(waiting.ending == "cancelled with everything in its queue")
        #expect(stage.ran == ["shut down"])
    }

    @Test func afterTheLimitBodiesGetNothingMoreEither() {
        let stage = TestQueue()
        let clock = TestClock()
        let gate = Gate()
        let stubborn = AsyncOperation("stubborn") { [log = stage.log] context in
            await gate.wait()
            let product = try context.produce(AsyncOperation("product") { log("product") })
            log(product.ending)
            do throws(OperationError) { try await context.run(AsyncOperation("child") {}) } catch { log(error.inShort) }
        }
        stage.run(stubborn)
        shutDown(stage, within: .seconds(1), clock)
        clock.advance(by: .seconds(1))
        stage.steps.runAll()
        #expect(stubborn.isCancelled)
        gate.open()
        stage.steps.runAll()
        #expect(
            stage.ran == [
                "queueShutDown",
                "cancelled with ‘stubborn’, its parent", "shut down",
            ])
    }

    @Test(arguments: [Duration.zero, .seconds(-1)]) func aLimitOfNothingCancelsAtOnce(limit: Duration) {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("operation")
        stage.run(operation)
        shutDown(stage, within: limit, TestClock())
        #expect(operation.ending == "cancelled with everything in its queue")
        #expect(stage.ran == ["shut down"])
    }

    @Test func aSuspendedQueueShutsDownAtItsLimit() {
        let stage = TestQueue(isSuspended: true)
        let clock = TestClock()
        stage.run(stage.noting("operation"))
        shutDown(stage, within: .seconds(1), clock)
        #expect(stage.ran == [])
        clock.advance(by: .seconds(1))
        stage.steps.runAll()
        #expect(stage.ran == ["shut down"])
    }

    @Test func twiceTheShorterLimitCountsAndBothReturn() {
        let stage = TestQueue()
        let clock = TestClock()
        let operation =
            AsyncOperation.callback("operation") { finish in finish.onCancel { finish(throwing: Oops()) } }
            as AsyncOperation<Void>
        stage.run(operation)
        shutDown(stage, within: .seconds(10), clock, "first")
        shutDown(stage, within: .seconds(1), clock, "second")
        drain(stage, "third")
        clock.advance(by: .seconds(1))
        stage.steps.runAll()
        #expect(operation.isCancelled)
        #expect(Set(stage.ran) == ["first", "second", "third"])
        #expect(clock.sleeperCount == 0)
    }

    @Test func aCancelledCallerCutsItShort() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("operation")
        stage.run(operation)
        let clock = TestClock()
        let caller = shutDown(stage, within: .seconds(10), clock)
        caller.cancel()
        stage.steps.runAll()
        #expect(operation.ending == "cancelled with everything in its queue")
        #expect(stage.ran == ["shut down"])
    }

    @Test func insideABodyItIsMisuseAndChangesNothing() {
        let stage = TestQueue()
        let body = AsyncOperation("body") { [queue = stage.queue] in
            await queue.drain()
            await queue.shutdown(within: .zero)
        }
        stage.run(body)
        #expect(body.ending == "success")
        #expect(stage.misuseKinds == [.waitedForItsOwnQueue("drain"), .waitedForItsOwnQueue("shutdown")])
        stage.run(stage.noting("next"))
        #expect(stage.ran == ["next"])
    }

    @Test func handlersAreWaitedFor() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.noting("operation")
        operation.didFinish { _ in await gate.wait() }
        stage.run(operation)
        drain(stage)
        #expect(stage.ran == ["operation"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["operation", "drained"])
    }

    /// Operations are added while the queue is shut down. Each gets an outcome, and none runs after the shutdown.
    @Test func nothingIsLostUnderThreads() async {
        for _ in 0..<50 {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
            let isOver = Tally()
            let late = Tally()
            let all = await withTaskGroup(of: [AnyOperation].self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        var mine: [AnyOperation] = []
                        for number in 0..<100 {
                            let operation = AsyncOperation { if isOver.count > 0 { late.add() } }
                            mine.append(operation)
                            if number % 3 == 0 { try? await queue.submit(operation) } else { queue.add(operation) }
                        }
                        return mine
                    }
                }
                group.addTask {
                    await Task.yield()
                    await queue.drain()
                    isOver.add()
                    return []
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            #expect(all.count == 300)
            #expect(!all.contains { !$0.hasFinished })
            #expect(late.count == 0)
        }
    }
}
