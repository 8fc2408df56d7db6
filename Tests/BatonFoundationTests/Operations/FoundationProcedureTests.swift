import Baton
import BatonTesting
import Dispatch
import Foundation
import Testing

@testable import BatonFoundation

@Suite(.timeLimit(.minutes(10))) struct FoundationProcedureTests {
    let foundation = OperationQueue()
    let queue = AsyncOperationQueue()
    let log = EventLog<String>()

    @Test("A Foundation operation runs, and its output becomes the output")
    func itRunsAndItsOutputIsTaken() async throws {
        final class Sum: Foundation.Operation, @unchecked Sendable {
            let numbers: [Int]
            private(set) var sum: Int?
            init(_ numbers: [Int]) { self.numbers = numbers }
            override func main() { sum = numbers.reduce(0, +) }
        }
        let operation = AsyncOperation(foundation: Sum([1, 2, 3])) { $0.sum }
        #expect(operation.name == "Sum")
        #expect(try await queue.run(operation.unwrapped().then { $0 + 1 }) == 7)
    }

    @Test("An operation ends when its Foundation operation has finished")
    func itEndsWhenTheFoundationOperationHasFinished() async throws {
        let inner = HandOperation("inner")
        let operation = AsyncOperation(foundation: inner)
        #expect(operation.name == "inner")
        queue.add(operation)
        await inner.started.wait()
        #expect(operation.state == .executing)
        inner.finish()
        try await operation.value
    }

    /// Blocks as many operations at once as the task pool has threads. Not more, because Dispatch waits a second before
    /// it starts each further thread.
    @Test func anOperationThatBlocksItsThreadBlocksNoTask() async throws {
        let (begun, end) = (EventLog<Int>(), DispatchSemaphore(value: 0))
        let count = ProcessInfo.processInfo.activeProcessorCount
        let all = (0..<count).map { number in
            AsyncOperation(
                foundation: BlockOperation {
                    begun(number)
                    end.wait()
                })
        }
        queue.add(all)
        await begun.waitForCount(count)
        #expect(try await queue.run(AsyncOperation { 1 }) == 1)
        for _ in all { end.signal() }
        for operation in all { try await operation.value }
    }

    @Test("A Foundation operation waits for its own dependencies")
    func itWaitsForItsOwnDependencies() async throws {
        let first = HandOperation("first")
        let second = BlockOperation { [log] in log("second") }
        second.addDependency(first)
        let operation = AsyncOperation(foundation: second)
        queue.add(operation)
        foundation.addOperation(first)
        await first.started.wait()
        #expect(log.events.isEmpty)
        first.finish()
        try await operation.value
        #expect(log.events == ["second"])
    }

    @Test("A Foundation operation runs on the given queue")
    func itRunsOnTheQueueThatIsGiven() async throws {
        let suspended = OperationQueue()
        suspended.isSuspended = true
        let inner = BlockOperation {}
        let operation = AsyncOperation(foundation: inner, on: suspended)
        queue.add(operation)
        let began = Gate()
        operation.didStart { began.open() }
        await began.wait()
        suspended.isSuspended = false
        try await operation.value
        #expect(inner.isFinished)
    }

    // MARK: Cancelling

    @Test func aCancelReachesItAndItsEndIsAwaited() async throws {
        let inner = HandOperation("inner", obeysCancel: false)
        let operation = AsyncOperation(foundation: inner)
        queue.add(operation)
        await inner.started.wait()
        operation.cancel(reason: .because("of a whim"))
        // The start may be reported before the body waits for the end, and only then is a cancellation forwarded.
        while !inner.isCancelled { await Task.yield() }
        #expect(operation.state == .executing)
        inner.finish()
        #expect(await run(operation, on: queue).cancellation == "because of a whim")
    }

    @Test("Cancelling the Foundation operation cancels the operation")
    func oneThatIsCancelledInFoundationIsCancelled() async throws {
        let inner = HandOperation("inner")
        let operation = AsyncOperation(foundation: inner)
        queue.add(operation)
        await inner.started.wait()
        inner.cancel()
        #expect(
            await run(operation, on: queue).cancellation
                == "because the Foundation operation that it ran was cancelled")
        #expect(operation.isCancelled)
    }

    @Test("A Foundation operation that was cancelled before makes the operation cancelled")
    func oneThatWasCancelledBeforeIsCancelled() async {
        let inner = BlockOperation { [log] in log("never") }
        inner.cancel()
        #expect(await run(AsyncOperation(foundation: inner), on: queue).cancellation != nil)
        #expect(inner.isFinished)
        #expect(log.events.isEmpty)
    }

    @Test("An operation that is cancelled before it runs does not run its Foundation operation")
    func oneOfOursThatIsCancelledBeforeDoesNotRunIt() async {
        let inner = HandOperation("inner")
        let handled = Gate()
        // This handler is called after the one that `init(foundation:)` adds.
        let operation = AsyncOperation(foundation: inner).didFinish { _ in handled.open() }
        operation.cancel()
        #expect(await run(operation, on: queue).cancellation == "on request")
        await handled.wait()
        #expect(inner.isCancelled)
        // The inner operation starts on a thread of Foundation, sees that it was cancelled, and finishes.
        await foundationEnd(of: inner)
        #expect(inner.isFinished && !inner.isExecuting)
    }

    // MARK: Operations that are already in use

    @Test("The output of a Foundation operation that has finished before is taken")
    func oneThatHasFinishedIsTakenAsItIs() async throws {
        let inner = HandOperation("inner")
        foundation.addOperation(inner)
        await inner.started.wait()
        inner.finish()
        #expect(try await queue.run(AsyncOperation(foundation: inner) { $0.name }) == "inner")
    }

    @Test("A Foundation operation that executes already is awaited")
    func oneThatExecutesIsAwaited() async throws {
        let inner = HandOperation("inner")
        foundation.addOperation(inner)
        await inner.started.wait()
        let operation = AsyncOperation(foundation: inner)
        queue.add(operation)
        let began = Gate()
        operation.didStart { began.open() }
        await began.wait()
        inner.finish()
        try await operation.value
    }

    #if !canImport(ObjectiveC)
        @Test("A Foundation operation that waits in another queue is awaited")
        func oneThatWaitsInAnotherQueueIsAwaited() async throws {
            foundation.isSuspended = true
            let inner = BlockOperation { [log] in log("ran") }
            #expect(!inner.isEnqueued)
            foundation.addOperation(inner)
            #expect(inner.isEnqueued)
            let operation = AsyncOperation(foundation: inner)
            queue.add(operation)
            let began = Gate()
            operation.didStart { began.open() }
            await began.wait()
            #expect(log.events.isEmpty)
            foundation.isSuspended = false
            try await operation.value
            #expect(log.events == ["ran"])
        }
    #endif

    @Test("A Foundation operation that two operations run runs once")
    func oneThatTwoOfOursRunRunsOnce() async throws {
        for _ in 0..<200 {
            let log = EventLog<String>()
            let inner = BlockOperation { log("ran") }
            let both = [AsyncOperation(foundation: inner), AsyncOperation(foundation: inner)]
            queue.add(both)
            for operation in both { try await operation.value }
            #expect(log.events == ["ran"])
        }
    }

    // MARK: Permits

    @Test("Foundation operations may depend on Baton operations of the queue that runs them", arguments: [1, 3])
    func G25_foundationOperationsThatDependOnBridges(width: Int) async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
        let sources = (0..<width).map { AsyncOperation("source \($0)") {} }
        let bridges = sources.map { $0.foundationOperation(on: queue) }
        let all = bridges.map { bridge in
            let block = BlockOperation { [log] in log("ran") }
            block.addDependency(bridge)
            return AsyncOperation(foundation: block)
        }
        queue.add(all)
        for operation in all {
            while operation.explain().waitsFor.isEmpty { await Task.yield() }
        }
        for bridge in bridges { foundation.addOperation(bridge) }
        for operation in all { try await operation.value }
        #expect(log.events.count == width)
    }

    @Test func aBridgeCanRunInTheQueueOfItsOperation() async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let bridge = AsyncOperation("source") { [log] in log("ran") }.foundationOperation(on: queue)
        try await queue.run(AsyncOperation(foundation: bridge))
        #expect(log.events == ["ran"])
    }

    @Test("A queue executes no more Foundation operations at once than it is wide, also if all become ready at once")
    func widthCountsFoundationOperations() async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
        let first = HandOperation("first")
        let inner = (0..<8).map { HandOperation("\($0)") }
        for operation in inner { operation.addDependency(first) }
        let all = inner.map { AsyncOperation(foundation: $0) }
        queue.add(all)
        for operation in all {
            while operation.explain().waitsFor.isEmpty { await Task.yield() }
        }
        foundation.addOperation(first)
        await first.started.wait()
        first.finish()
        while inner.count(where: \.isExecuting) < 2 { await Task.yield() }
        // If further operations could start, they would have started by the time that these have run.
        for _ in 0..<10 { await foundationEnd(of: first) }
        #expect(inner.count(where: \.isExecuting) == 2)
        while inner.contains(where: { !$0.isFinished }) {
            for operation in inner where operation.isExecuting { operation.finish() }
            await Task.yield()
        }
        for operation in all { try await operation.value }
    }

    @Test("Two runs of a Foundation operation with dependencies need one permit")
    func twoRunsOfOneWithDependencies() async throws {
        for _ in 0..<50 {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let first = BlockOperation {}
            let second = BlockOperation {}
            second.addDependency(first)
            let both = [AsyncOperation(foundation: second), AsyncOperation(foundation: second)]
            queue.add(both)
            foundation.addOperation(first)
            for operation in both { try await operation.value }
        }
    }

    @Test("A Foundation operation that waits for its dependencies can be cancelled", arguments: [true, false])
    func cancelledWhileItWaits(isCancelledInFoundation: Bool) async {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let never = BlockOperation {}
        let inner = BlockOperation { [log] in log("ran") }
        inner.addDependency(never)
        let operation = AsyncOperation(foundation: inner)
        queue.add(operation)
        while !"\(operation.explain())".contains("the Foundation operation has finished") { await Task.yield() }
        if isCancelledInFoundation { inner.cancel() } else { operation.cancel() }
        #expect(await run(operation, on: queue).cancellation != nil)
        #expect(inner.isFinished)
        #expect(log.events.isEmpty)
    }

    // MARK: Procedures

    @Test("A second run of one Foundation operation is reported")
    func secondRuns() async throws {
        let misuses = EventLog<Misuse>()
        let queue = AsyncOperationQueue(onMisuse: { misuses($0) })
        let inner = BlockOperation { log("ran") }
        inner.name = "inner"
        let operation = AsyncOperation(foundation: inner).repeat(every: .zero, count: 4)
        try await queue.run(operation)
        #expect(log.events == ["ran"])
        #expect(
            misuses.events.map(\.description) == [
                "‘inner’: its Foundation operation runs only once, so a further attempt or repetition does nothing. "
                    + "Let each run make its own"
            ])
    }

    @Test func eachAttemptMakesANewOne() async throws {
        let made = EventLog<Int>()
        let procedure = FoundationProcedure {
            made(made.count)
            return BlockOperation {}
        } output: { _ in
            if made.count < 3 { throw Oops() }
            return made.count
        }
        #expect(try await queue.run(AsyncOperation(procedure).retry(.constant(.zero), attempts: 5)) == 3)
        #expect(made.events == [0, 1, 2])
    }

    @Test func aProcedureCanBeCalledDirectly() async throws {
        let procedure = FoundationProcedure { [log] in BlockOperation { log("ran") } }
        try await procedure.execute(in: OperationContext())
        #expect(log.events == ["ran"])
    }

    @Test func anErrorOfTheOutputIsTheFailure() async {
        let operation = AsyncOperation(foundation: BlockOperation {}) { _ in throw Oops() }
        #expect(await run(operation, on: queue).failure?.underlyingError as? Oops == Oops())
    }

    @Test func aThousandRoundsLeaveNothing() async {
        for round in 0..<1000 {
            let inner = HandOperation("inner", notingItsRelease: log)
            let witness = Witness("ours", log)
            let operation = AsyncOperation(foundation: inner) { _ in witness.touch() }
            queue.add(operation)
            await inner.started.wait()
            if round.isMultiple(of: 2) { inner.finish() } else { operation.cancel() }
        }
        await log.waitForCount(2000)
        await queue.waitUntilIdle()
        #expect(queue.operationCount == 0)
    }

    /// The operation is cancelled or skipped before its body runs.
    @Test("The Foundation operation also finishes if its operation never runs", arguments: [true, false])
    func oneWhoseRunNeverBeginsFinishesAllTheSame(isCancelled: Bool) async throws {
        let inner = BlockOperation { [log] in log("ran") }
        let operation = AsyncOperation(foundation: inner)
        let other = AsyncOperation("other") {}
        other.addDependency(inner)
        if isCancelled { operation.cancel() } else { operation.addCondition("no") { _ in .skip("no") } }
        queue.add(operation, other)
        try await other.value
        #expect(inner.isCancelled && inner.isFinished)
        #expect(log.events == [])
    }

    @Test func aSkippedRunLeavesAloneWhatSomebodyElseHasStarted() async throws {
        let inner = HandOperation("inner")
        foundation.addOperation(inner)
        await inner.started.wait()
        let operation = AsyncOperation(foundation: inner)
        operation.addCondition("no") { _ in .skip("no") }
        await run(operation, on: queue)
        #expect(!inner.isCancelled && !inner.isFinished)
        inner.finish()
    }

    @Test func theWidthOfAQueueIsItsOwners() async throws {
        final class Queue: OperationQueue, @unchecked Sendable {
            let widths = EventLog<Int>()
            override var maxConcurrentOperationCount: Int {
                get { super.maxConcurrentOperationCount }
                set {
                    widths(newValue)
                    super.maxConcurrentOperationCount = newValue
                }
            }
        }
        let foundation = Queue()
        try await queue.run(AsyncOperation(foundation: BlockOperation {}, on: foundation))
        #expect(foundation.widths.events == [])
    }
}
