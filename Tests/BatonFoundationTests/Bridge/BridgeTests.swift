import Baton
import BatonFoundation
import BatonTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct BridgeTests {
    let foundation = OperationQueue()
    let misuses = EventLog<Misuse.Kind>()
    let queue: AsyncOperationQueue
    let log = EventLog<String>()

    init() { queue = AsyncOperationQueue(onMisuse: { [misuses] in misuses($0.kind) }) }

    @Test("A bridge runs in an `OperationQueue`, and its dependents run after it")
    func itRunsInAnOperationQueueAndItsDependentsAfterIt() async throws {
        let gate = Gate()
        let operation = AsyncOperation("ours") {
            await gate.wait()
            return 7
        }
        let bridge = operation.foundationOperation(on: queue)
        let after = BlockOperation { [log] in log("after, with \(operation.result?.success ?? 0)") }
        after.addDependency(bridge)
        for each in [after, bridge] { foundation.addOperation(each) }
        await gate.waitForWaiters(count: 1)
        #expect(bridge.isExecuting && !bridge.isFinished && bridge.isAsynchronous)
        #expect(foundation.operationCount == 2)
        gate.open()
        await foundationEnd(of: after)
        #expect(bridge.isFinished && !bridge.isExecuting && !bridge.isCancelled)
        #expect(log.events == ["after, with 7"])
        await isEmpty(foundation)
    }

    @Test func thePropertyRunsItOnTheSharedQueue() async throws {
        let operation = AsyncOperation("ours") { 7 }
        foundation.addOperation(operation.foundationOperation)
        #expect(try await operation.value == 7)
    }

    @Test("A bridge is ready when its dependencies in Foundation have finished")
    func itIsReadyWhenItsDependenciesInFoundationAre() async throws {
        let before = HandOperation("before")
        let operation = AsyncOperation("ours") { 7 }
        let bridge = operation.foundationOperation(on: queue)
        bridge.addDependency(before)
        foundation.addOperation(bridge)
        #expect(!bridge.isReady)
        foundation.addOperation(before)
        await before.started.wait()
        #expect(operation.state == .created)
        before.finish()
        #expect(try await operation.value == 7)
    }

    @Test("Starting a bridge adds all dependencies of its operation")
    func itsStartAddsEverythingThatItNeeds() async throws {
        let first = AsyncOperation("first") { 1 }
        let second = first.then { $0 + 1 }
        let bridge = second.foundationOperation(on: queue)
        #expect(bridge.isReady)
        foundation.addOperation(bridge)
        #expect(try await second.value == 2)
        await foundationEnd(of: bridge)
    }

    @Test("A bridge only awaits an operation that was added before")
    func oneThatWasAddedBeforeIsOnlyAwaited() async throws {
        let gate = Gate()
        let operation = AsyncOperation("ours") { await gate.wait() }
        let bridge = operation.foundationOperation(on: AsyncOperationQueue())
        queue.add(operation)
        await gate.waitForWaiters(count: 1)
        // Foundation has not started the bridge, although the operation runs.
        #expect(!bridge.isExecuting)
        foundation.addOperation(bridge)
        gate.open()
        await foundationEnd(of: bridge)
        #expect(misuses.events.isEmpty)
    }

    @Test("The bridge of an operation that has finished finishes when it is started")
    func oneThatHasFinishedBeforeFinishesWhenItIsStarted() async throws {
        let operation = AsyncOperation("ours") { 7 }
        let bridge = operation.foundationOperation(on: queue)
        #expect(try await queue.run(operation) == 7)
        #expect(!bridge.isFinished)
        foundation.addOperation(bridge)
        await foundationEnd(of: bridge)
        // A bridge that is made after the operation has finished, finishes as well.
        let late = AsyncOperation("late") { 8 }
        #expect(try await queue.run(late) == 8)
        let lateBridge = late.foundationOperation(on: queue)
        foundation.addOperation(lateBridge)
        await foundationEnd(of: lateBridge)
        #expect(misuses.events.isEmpty)
    }

    @Test func inAQueueOfOneTheFirstMayNeedTheSecond() async throws {
        foundation.maxConcurrentOperationCount = 1
        let second = AsyncOperation("second") { 2 }
        let first = second.then { $0 + 1 }
        let bridges = [first.foundationOperation(on: queue), second.foundationOperation(on: queue)]
        for bridge in bridges { foundation.addOperation(bridge) }
        for bridge in bridges { await foundationEnd(of: bridge) }
        #expect(first.result?.success == 3)
        #expect(misuses.events.isEmpty)
    }

    @Test func aFailureIsAFinish() async {
        let operation = AsyncOperation<Int>("ours") { throw Oops() }
        let bridge = operation.foundationOperation(on: queue)
        foundation.addOperation(bridge)
        await foundationEnd(of: bridge)
        #expect(!bridge.isCancelled)
        #expect(operation.error?.underlyingError as? Oops == Oops())
    }

    @Test func aSlowHandlerOfOursDoesNotHoldItBack() async {
        let gate = Gate()
        let operation = AsyncOperation("ours") { 7 }.didFinish { _ in await gate.wait() }
        let bridge = operation.foundationOperation(on: queue)
        foundation.addOperation(bridge)
        await foundationEnd(of: bridge)
        gate.open()
    }

    @Test("A bridge can be started by hand, and only once")
    func itCanBeStartedByHandAndOnlyOnce() async throws {
        let operation = AsyncOperation("ours") { [log] in log("ran") }
        let bridge = operation.foundationOperation(on: queue)
        bridge.completionBlock = { [log] in log("completed") }
        for _ in 0..<3 { bridge.start() }
        await foundationEnd(of: bridge)
        await log.waitForCount(2)
        bridge.start()
        #expect(bridge.isFinished)
        #expect(log.events == ["ran", "completed"])
    }

    @Test(arguments: zip(OperationPriority.allCases, [-8, -4, 0, 4, 8]))
    func itHasTheNameAndThePriority(priority: OperationPriority, inFoundation: Int) {
        let operation = AsyncOperation("ours") { 7 }
        operation.priority = priority
        let bridge = operation.foundationOperation
        #expect(bridge.name == "ours")
        #expect(bridge.queuePriority.rawValue == inFoundation)
    }

    @Test("An operation has the same bridge as long as somebody retains it")
    func itIsTheSameOneAsLongAsSomebodyKeepsIt() {
        let operation = AsyncOperation("ours") { 7 }
        let bridge = operation.foundationOperation(on: queue)
        #expect(operation.foundationOperation === bridge)
        #expect(operation.foundationOperation(on: AsyncOperationQueue()) === bridge)
        #expect(AsyncOperation("other") { 7 }.foundationOperation !== bridge)
    }

    @Test func threadsThatAskAtOnceGetTheSameOne() async {
        for _ in 0..<200 {
            let operation = AsyncOperation("ours") { 7 }
            async let first = operation.foundationOperation
            async let second = operation.foundationOperation
            let (one, other) = await (first, second)
            #expect(one === other)
        }
    }

    // MARK: Cancelling

    @Test func cancellingItCancelsOurs() async {
        let gate = Gate()
        let operation = AsyncOperation("ours") { try await gate.waitUnlessCancelled() }
        let bridge = operation.foundationOperation(on: queue)
        foundation.addOperation(bridge)
        await gate.waitForWaiters(count: 1)
        bridge.cancel()
        await foundationEnd(of: bridge)
        #expect(operation.result?.cancellation == "because its operation in Foundation was cancelled")
        #expect(bridge.isCancelled)
    }

    @Test func cancelledItIsFinishedWhenOursIs() async {
        let gate = Gate()
        let operation = AsyncOperation("ours") { await gate.wait() }
        let bridge = operation.foundationOperation(on: queue)
        foundation.addOperation(bridge)
        await gate.waitForWaiters(count: 1)
        bridge.cancel()
        #expect(bridge.isCancelled && bridge.isExecuting && !bridge.isFinished)
        gate.open()
        await foundationEnd(of: bridge)
    }

    @Test func cancelledBeforeItsStartItDoesNotRun() async {
        foundation.isSuspended = true
        let operation = AsyncOperation("ours") { [log] in log("never") }
        let bridge = operation.foundationOperation(on: queue)
        foundation.addOperation(bridge)
        bridge.cancel()
        #expect(operation.result?.cancellation != nil)
        // Foundation requires an operation to be started before it finishes.
        #expect(bridge.isCancelled && !bridge.isFinished)
        foundation.isSuspended = false
        await foundationEnd(of: bridge)
        #expect(log.events.isEmpty)
        await isEmpty(foundation)
    }

    @Test func cancellingOursCancelsIt() async {
        foundation.isSuspended = true
        let operation = AsyncOperation("ours") { 7 }
        let bridge = operation.foundationOperation(on: queue)
        foundation.addOperation(bridge)
        operation.cancel()
        #expect(bridge.isCancelled && !bridge.isFinished)
        foundation.isSuspended = false
        await foundationEnd(of: bridge)
    }

    @Test(arguments: [true, false]) func aCancelledOneDoesNotWaitForItsDependencies(isOurs: Bool) async {
        let before = HandOperation("before")
        let operation = AsyncOperation("ours") { 7 }
        let bridge = operation.foundationOperation(on: queue)
        bridge.addDependency(before)
        foundation.addOperation(bridge)
        if isOurs { operation.cancel() } else { bridge.cancel() }
        await foundationEnd(of: bridge)
        #expect(!before.isExecuting)
    }

    /// On Linux, Foundation would otherwise access a dependent that has been deallocated.
    @Test("A dependency of a bridge may finish long after the bridge was cancelled")
    func itsDependencyMayFinishLongAfterItWasCancelled() async {
        for _ in 0..<100 {
            let before = HandOperation("before")
            do {
                let bridge = AsyncOperation("ours") { 7 }.foundationOperation(on: queue)
                bridge.addDependency(before)
                foundation.addOperation(bridge)
                bridge.cancel()
                await foundationEnd(of: bridge)
            }
            foundation.addOperation(before)
            await before.started.wait()
            before.finish()
            await foundationEnd(of: before)
        }
    }

    @Test func aCancelOfEitherMayComeAtAnyMoment() async {
        for round in 0..<500 {
            let completions = EventLog<Int>()
            let operation = AsyncOperation("ours") { 7 }
            let bridge = operation.foundationOperation(on: queue)
            bridge.completionBlock = { completions(round) }
            async let start: Void = foundation.addOperation(bridge)
            async let cancel: Void = round.isMultiple(of: 2) ? bridge.cancel() : operation.cancel()
            _ = await (start, cancel)
            await foundationEnd(of: bridge)
            await completions.waitForCount(1)
            #expect(completions.events == [round])
            #expect(operation.result != nil)
        }
        await isEmpty(foundation)
    }

    // MARK: Lifetime

    @Test("A bridge that is never started is released with its operation")
    func oneThatIsNeverStartedIsReleasedWithOurs() async {
        do {
            let witness = Witness("ours", log)
            let bridge = AsyncOperation { witness.touch() }.foundationOperation(on: queue)
            #expect(bridge.isReady)
        }
        #expect(log.events == ["ours was released"])
    }

    @Test func oursDoesNotKeepIt() {
        let operation = AsyncOperation("ours") { 7 }
        weak let bridge = operation.foundationOperation
        #expect(bridge == nil)
    }

    @Test func aThousandRoundsLeaveNothing() async {
        for round in 0..<1000 {
            let witness = Witness("ours", log)
            let operation = AsyncOperation("ours") { witness.touch() }
            let bridge = operation.foundationOperation(on: queue)
            weak let weakBridge = bridge
            foundation.addOperation(bridge)
            if round.isMultiple(of: 3) { bridge.cancel() }
            await foundationEnd(of: bridge)
            #expect(weakBridge?.isFinished == true)
        }
        await log.waitForCount(1000)
        await queue.waitUntilIdle()
        #expect(queue.operationCount == 0)
        await isEmpty(foundation)
    }

    #if !canImport(ObjectiveC)
        /// Foundation accesses the dependents of an operation after the operation has reported that it is finished.
        @Test func cancelledItIsForgottenByADependencyThatIsJustFinishing() async {
            final class Slow: Foundation.Operation, @unchecked Sendable {
                let isOver = Locked(false)
                override var isFinished: Bool { isOver.withLock { $0 } }
                override func start() {}
            }
            let slow = Slow()
            let operation = AsyncOperation("ours") {}
            let bridge = operation.foundationOperation(on: queue)
            bridge.addDependency(slow)
            foundation.addOperation(bridge)
            slow.isOver.withLock { $0 = true }
            operation.cancel()
            await foundationEnd(of: bridge)
            #expect(bridge.dependencies.isEmpty)
        }
    #endif
}
