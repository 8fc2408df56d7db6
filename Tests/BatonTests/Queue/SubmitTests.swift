import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct SubmitTests {
    /// Submits the operations one after another in a task of the test, and logs each when it has been added.
    @discardableResult
    private func submit(_ operations: [AnyOperation], to stage: TestQueue) -> Task<Void, Never> {
        stage.steps.task { [log = stage.log, queue = stage.queue] in
            for operation in operations {
                do throws(OperationError) {
                    try await queue.submit(operation)
                    log("added \(operation.name!)")
                } catch { log("\(operation.name!): \(error.inShort)") }
            }
        }
    }

    private func holding(_ count: Int, at gate: Gate) -> [AsyncOperation<Void>] {
        (0..<count).map { number in AsyncOperation("\(number)") { await gate.wait() } }
    }

    @Test func withoutALimitItIsAnAdd() {
        let stage = TestQueue(isSuspended: true)
        submit((0..<50).map { stage.noting("\($0)") }, to: stage)
        stage.steps.runAll()
        #expect(stage.queue.waitingOperationCount == 50)
        stage.queue.cancelAll()
    }

    @Test("`submit` waits while the limit of waiting operations is reached")
    func itWaitsWhileSoManyWait() {
        let stage = TestQueue(width: 2)
        let gates = (0..<10).map { _ in Gate() }
        stage.queue.maxWaitingOperationCount = 3
        submit(gates.indices.map { number in AsyncOperation("\(number)") { await gates[number].wait() } }, to: stage)
        stage.steps.runAll()
        // Two operations run, and three wait.
        #expect(stage.ran.count == 5)
        #expect(stage.queue.waitingOperationCount == 3)
        for open in 0..<5 {
            gates[open].open()
            stage.steps.runAll()
            #expect(stage.ran.count == 6 + open)
            #expect(stage.queue.waitingOperationCount == 3)
        }
        for gate in gates { gate.open() }
        stage.steps.runAll()
        #expect(stage.ran == (0..<10).map { "added \($0)" })
        #expect(stage.queue.operationCount == 0)
    }

    @Test("Callers that wait to submit are served in order")
    func thoseWhoWaitAreServedInOrder() {
        let stage = TestQueue(isSuspended: true)
        stage.queue.maxWaitingOperationCount = 1
        for number in 0..<5 { submit([stage.noting("\(number)")], to: stage) }
        stage.steps.runAll()
        #expect(stage.ran == ["added 0"])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran.filter { $0.hasPrefix("added") } == (0..<5).map { "added \($0)" })
        #expect(stage.ran.filter { !$0.hasPrefix("added") } == (0..<5).map { "\($0)" })
    }

    /// With quadratic time the test would take minutes.
    @Test func veryManyWaitAndEverySecondGivesUp() {
        let stage = TestQueue(isSuspended: true)
        stage.queue.maxWaitingOperationCount = 1
        let order = EventLog<Int>()
        let callers = (0..<veryMany).map { number in
            stage.steps.task { [queue = stage.queue] in
                try? await queue.submit(AsyncOperation { order(number) })
            }
        }
        stage.steps.runAll()
        for caller in stride(from: veryMany - 1, to: 0, by: -2) { callers[caller].cancel() }
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(order.events == Array(stride(from: 0, to: veryMany, by: 2)))
    }

    @Test func aHigherLimitLetsMoreIn() {
        let stage = TestQueue(isSuspended: true)
        stage.queue.maxWaitingOperationCount = 2
        submit((0..<8).map { stage.noting("\($0)") }, to: stage)
        stage.steps.runAll()
        #expect(stage.queue.waitingOperationCount == 2)
        stage.queue.maxWaitingOperationCount = 5
        stage.steps.runAll()
        #expect(stage.queue.waitingOperationCount == 5)
        stage.queue.maxWaitingOperationCount = .max
        stage.steps.runAll()
        #expect(stage.queue.waitingOperationCount == 8)
        stage.queue.cancelAll()
    }

    @Test func aCancelledOperationMakesRoom() {
        let stage = TestQueue(isSuspended: true)
        stage.queue.maxWaitingOperationCount = 1
        let first = stage.noting("first")
        submit([first, stage.noting("second")], to: stage)
        stage.steps.runAll()
        #expect(stage.ran == ["added first"])
        first.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["added first", "added second"])
        stage.queue.cancelAll()
    }

    @Test func addedOperationsCountAndAddNeverWaits() {
        let stage = TestQueue(isSuspended: true)
        stage.queue.maxWaitingOperationCount = 2
        stage.queue.add((0..<5).map { stage.noting("\($0)") })
        submit([stage.noting("submitted")], to: stage)
        stage.steps.runAll()
        #expect(stage.ran == [])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran.last == "submitted")
    }

    /// A body that has released its permit does not count as waiting to start.
    @Test func aBodyThatHasReleasedItsPermitDoesNotCount() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        stage.queue.maxWaitingOperationCount = 1
        let parent = AsyncOperation("parent") { context in
            try await context.run(AsyncOperation("child") { await gate.wait() })
        }
        submit([parent, stage.noting("a"), stage.noting("b")], to: stage)
        stage.steps.runAll()
        #expect(stage.ran == ["added parent", "added a"])
        #expect(stage.queue.waitingOperationCount == 1)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.filter { $0.hasPrefix("added") } == ["added parent", "added a", "added b"])
        #expect(Set(stage.ran.filter { !$0.hasPrefix("added") }) == ["a", "b"])
    }

    @Test func aCancelledCallerEndsTheOperation() {
        let stage = TestQueue(isSuspended: true)
        stage.queue.maxWaitingOperationCount = 1
        submit([stage.noting("first")], to: stage)
        stage.steps.runAll()
        let second = stage.noting("second")
        let caller = submit([second], to: stage)
        submit([stage.noting("third")], to: stage)
        stage.steps.runAll()
        caller.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["added first", "second: cancelled with the task that awaited it"])
        #expect(second.ending == "cancelled with the task that awaited it")
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(Set(stage.ran.suffix(3)) == ["first", "added third", "third"])
    }

    @Test func aCallerThatWasCancelledBeforeDoesNotWait() {
        let stage = TestQueue(isSuspended: true)
        stage.queue.maxWaitingOperationCount = 1
        submit([stage.noting("first")], to: stage)
        stage.steps.runAll()
        let caller = submit([stage.noting("second")], to: stage)
        caller.cancel()
        stage.steps.runAll()
        #expect(stage.ran.last == "second: cancelled with the task that awaited it")
        stage.queue.cancelAll()
    }

    @Test func aBodyOfTheQueueIsNotHeldBack() {
        let stage = TestQueue(width: 1)
        stage.queue.maxWaitingOperationCount = 1
        let body = AsyncOperation("body") { [queue = stage.queue, log = stage.log] in
            for number in 0..<5 { try await queue.submit(AsyncOperation("\(number)") { log("\(number)") }) }
        }
        stage.run(body)
        #expect(stage.ran == (0..<5).map { "\($0)" })
    }

    @Test func submittingTwiceIsMisuse() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("operation")
        submit([operation, operation], to: stage)
        stage.steps.runAll()
        #expect(stage.misuseKinds == [.addedTwice])
        stage.queue.cancelAll()
    }

    @Test(arguments: [0, -5]) func aLimitBelowOneIsMisuse(limit: Int) {
        let stage = TestQueue()
        stage.queue.maxWaitingOperationCount = limit
        #expect(stage.misuseKinds == [.invalidWaitingLimit(limit)])
        #expect(stage.queue.maxWaitingOperationCount == .max)
    }

    @Test func everybodyGetsInUnderThreads() async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
        queue.maxWaitingOperationCount = 8
        let count = Tally()
        let most = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500 {
                        try await queue.submit(AsyncOperation { count.add() })
                        let waiting = queue.waitingOperationCount
                        most.raise(to: waiting)
                    }
                }
            }
            try await group.waitForAll()
        }
        await queue.waitUntilIdle()
        #expect(count.count == 4000)
        #expect(most.count <= 8)
    }

    /// A queue that was shut down refuses the operation, which still runs in the queue to which it was added.
    @Test func submitLeavesAnOperationOfAnotherQueueAlone() async {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.noting("operation", after: stage.waiting("source", at: gate))
        operation.add(to: stage.queue, includingDependencies: true)
        let other = AsyncOperationQueue(onMisuse: { _ in })
        await other.drain()
        await #expect(throws: OperationError.self) { try await other.submit(operation) }
        stage.steps.runAll()
        #expect(operation.ending == "waiting")
        #expect(stage.misuseKinds == [])
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "success")
    }

    /// The operation is admitted, then the queue is shut down, and then the operation is added. The caller gets an
    /// error.
    @Test("`submit` throws the error of an operation that had ended before")
    func submitThrowsTheErrorOfTheOperation() async {
        let queue = AsyncOperationQueue()
        await queue.drain()
        let operation = AsyncOperation("operation") {}
        operation.cancel(reason: .because("enough"))
        let error = await #expect(throws: OperationError.self) { try await queue.submit(operation) }
        #expect("\(error!)" == "cancelled because enough")
    }

    @Test("`submit` throws if the queue is shut down before the operation is added")
    func oneThatIsAddedTooLateThrows() {
        let stage = TestQueue()
        let gate = Gate()
        stage.queue.maxWaitingOperationCount = 1
        stage.queue.isSuspended = true
        stage.queue.add(stage.waiting("first", at: gate))
        let late = stage.noting("late")
        stage.steps.task { [queue = stage.queue, log = stage.log] in
            do throws(OperationError) { try await queue.submit(late) } catch { log("submit: \(error.inShort)") }
        }
        stage.steps.runAll()
        // The job of this task comes before the job of the task that is admitted next.
        stage.steps.task { [queue = stage.queue] in await queue.drain() }
        stage.queue.maxWaitingOperationCount = 2
        stage.steps.runAll()
        #expect(stage.ran == ["submit: queueShutDown"])
        #expect(late.ending == "queueShutDown")
        stage.queue.isSuspended = false
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["submit: queueShutDown", "first"])
    }

    /// A body produces an operation after its queue was released while suspended. Nothing could ever start that
    /// operation.
    @Test func aProductOfAReleasedSuspendedQueueEnds() {
        let steps = StepExecutor()
        let gate = Gate()
        let product = AsyncOperation("product") {}
        var queue: AsyncOperationQueue? = AsyncOperationQueue(executor: steps)
        let body = AsyncOperation("body") { context in
            await gate.wait()
            try context.produce(product)
        }
        queue?.add(body)
        steps.runAll()
        queue?.isSuspended = true
        queue = nil
        gate.open()
        steps.runAll()
        #expect(body.ending == "success")
        #expect(product.ending == "queueReleased")
    }
}
