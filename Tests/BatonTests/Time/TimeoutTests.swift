import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct TimeoutTests {
    @Test func aBodyThatTakesTooLongIsCancelledAndItsErrorIsTheTimeout() {
        let stage = TestQueue()
        let operation = AsyncOperation("slow") { try await stage.clock.sleep(for: .seconds(60)) }
            .timeout(.seconds(5))
        stage.run(operation)
        stage.advance(by: .seconds(4))
        #expect(operation.state == .executing)
        stage.advance(by: .seconds(1))
        guard case .timedOut(after: .seconds(5), waitingFor: nil)? = operation.error else {
            Issue.record("\(operation.ending)")
            return
        }
        #expect(operation.isCancelled)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func G20_aValueAfterTheTimeoutIsASuccess() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.waiting("stubborn", at: gate).timeout(.seconds(5))
        stage.run(operation)
        stage.advance(by: .seconds(5))
        // G17: The operation has an outcome only when the body has returned.
        #expect(operation.state == .executing)
        #expect(operation.isCancelled)
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "success")
    }

    @Test("A body that is in time is not affected by its time limit")
    func oneThatIsInTimeNeverHearsOfIt() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = AsyncOperation("quick") {
            await gate.wait()
            return Task.isCancelled
        }
        .timeout(.seconds(5))
        stage.run(operation)
        stage.advance(by: .seconds(4))
        gate.open()
        stage.steps.runAll()
        stage.advance(by: .seconds(10))
        #expect(try! operation.result!.get() == false)
        #expect(!operation.isCancelled)
        #expect(stage.queue.core.timerService.count == 0)
    }

    @Test func theNextOperationOnTheWorkerIsNotCancelled() {
        let stage = TestQueue(width: 1)
        let slow = AsyncOperation("slow") { try await stage.clock.sleep(for: .seconds(60)) }.timeout(.seconds(1))
        let next = AsyncOperation("next") { Task.isCancelled }
        stage.run(slow, next)
        stage.advance(by: .seconds(1))
        #expect(slow.error != nil)
        #expect(try! next.result!.get() == false)
    }

    /// The timer of the first operation fires while the second one runs.
    @Test func theNextOperationOnTheWorkerHasItsOwnTime() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let first = stage.waiting("first", at: gate).timeout(.seconds(5))
        let second = AsyncOperation("second") { try await stage.clock.sleep(for: .seconds(60)) }.timeout(.seconds(5))
        second.addDependency(first)
        stage.run(first, second)
        stage.advance(by: .seconds(3))
        gate.open()
        stage.steps.runAll()
        stage.advance(by: .seconds(2))
        #expect(second.state == .executing)
        #expect(!second.isCancelled)
        stage.advance(by: .seconds(3))
        #expect(second.ending == "timed out after 5.0 seconds")
    }

    @Test("A time limit counts from the start of the body")
    func itCountsFromTheStartOfTheBody() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let first = stage.waiting("first", at: gate)
        let second = AsyncOperation("second") { try await stage.clock.sleep(for: .seconds(2)) }.timeout(.seconds(3))
        stage.run(first, second)
        stage.advance(by: .seconds(100))
        gate.open()
        stage.steps.runAll()
        stage.advance(by: .seconds(2))
        #expect(second.ending == "success")
    }

    @Test func aZeroTimeoutCancelsTheBodyAtItsFirstWait() {
        let stage = TestQueue()
        let operation = AsyncOperation("none") { try await stage.clock.sleep(for: .seconds(1)) }.timeout(.zero)
        stage.run(operation)
        #expect(operation.ending == "timed out after 0.0 seconds")
    }

    @Test func aNegativeTimeoutIsReportedAndCountsAsZero() {
        let stage = TestQueue(isSuspended: true)
        let operation = AsyncOperation("none") { try await stage.clock.sleep(for: .seconds(1)) }
        operation.timeout(.seconds(-5))
        stage.queue.isSuspended = false
        stage.run(operation)
        #expect(operation.ending == "timed out after 0.0 seconds")
    }

    @Test func afterTheAddItIsMisuse() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("a")
        stage.run(operation)
        operation.timeout(.seconds(1))
        operation.timeout(waiting: .seconds(1))
        operation.timeout(.seconds(-1))
        #expect(
            stage.misuseKinds == [
                .changedAfterAdding("a timeout"), .changedAfterAdding("a time limit for waiting"),
                .negativeDuration("a timeout"), .changedAfterAdding("a timeout"),
            ])
        stage.advance(by: .seconds(10))
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(operation.ending == "success")
    }

    @Test("An operation that times out cancels its children")
    func itsChildrenAreCancelledWithIt() {
        let stage = TestQueue()
        let child = AsyncOperation("child") { try await stage.clock.sleep(for: .seconds(60)) }
        let parent = AsyncOperation("parent") { context in try await context.run(child) }.timeout(.seconds(1))
        stage.run(parent)
        stage.advance(by: .seconds(1))
        #expect(child.ending == "cancelled with ‘parent’, its parent")
        #expect(parent.ending == "timed out after 1.0 seconds")
    }

    @Test func aGroupCanHaveOne() {
        let stage = TestQueue()
        let child = AsyncOperation("child") { try await stage.clock.sleep(for: .seconds(60)) }
        let group = GroupOperation("group", child).timeout(.seconds(1))
        stage.run(group)
        stage.advance(by: .seconds(1))
        #expect(child.error?.outcome == .cancelled)
        #expect(group.ending == "timed out after 1.0 seconds")
    }

    @Test func handlersOfACancelAreToldOfIt() {
        let stage = TestQueue()
        let operation = AsyncOperation("slow") { try await stage.clock.sleep(for: .seconds(60)) }.timeout(.seconds(1))
            .didCancel { stage.log("cancelled \($0)") }
        stage.run(operation)
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["cancelled because its time limit of 1.0 seconds was over"])
    }

    @Test func aCancelThatCameFirstIsTheReason() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = AsyncOperation("slow") {
            await gate.wait()
            throw Oops()
        }
        .timeout(.seconds(1))
        stage.run(operation)
        operation.cancel()
        stage.advance(by: .seconds(1))
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "cancelled on request")
    }

    /// One of the two wins, and the outcome says which.
    @Test func aBodyThatReturnsJustAsTheTimeoutFires() async throws {
        for round in 0..<2000 {
            let clock = TestClock()
            let queue = AsyncOperationQueue(clock: clock)
            let gate = Gate()
            let operation = AsyncOperation("racing") {
                await gate.wait()
                try Task.checkCancellation()
                return round
            }
            .timeout(.seconds(1))
            queue.add(operation)
            await clock.waitForSleepers(count: 1)
            async let open: Void = gate.open()
            clock.advance(by: .seconds(1))
            await open
            await queue.waitUntilIdle()
            switch try #require(operation.result) {
            case .success(let value): #expect(value == round)
            case .failure(.timedOut(after: .seconds(1), _)): #expect(operation.isCancelled)
            case .failure(let error): Issue.record("\(error)")
            }
        }
    }

    // MARK: Waiting

    @Test("An operation that waits for too long ends without running")
    func oneThatWaitsTooLongEndsWithoutRunning() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("waiting").timeout(waiting: .seconds(5))
        let dependent = stage.noting("dependent").addDependency(operation, on: .failure)
        stage.run(operation, dependent)
        stage.advance(by: .seconds(4))
        #expect(operation.state == .ready)
        stage.advance(by: .seconds(1))
        #expect(
            operation.ending == "timed out after 5.0 seconds, while it waited for its queue to be resumed")
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["dependent"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test("An operation that waits for too long does not wait for its dependencies")
    func itDoesNotWaitForItsDependencies() {
        let stage = TestQueue()
        let gate = Gate()
        let source = stage.waiting("source", at: gate)
        let operation = stage.noting("dependent", after: source).timeout(waiting: .seconds(1))
        stage.run(source, operation)
        stage.advance(by: .seconds(1))
        #expect(operation.ending == "timed out after 1.0 seconds, while it waited for ‘source’")
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    @Test("An operation that has started in time may take longer")
    func oneThatHasStartedInTimeMayTakeLonger() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.waiting("a", at: gate).timeout(waiting: .seconds(1))
        stage.run(operation)
        #expect(stage.queue.core.timerService.count == 0)
        stage.advance(by: .seconds(10))
        gate.open()
        stage.steps.runAll()
        #expect(operation.ending == "success")
    }

    @Test func conditionsThatAreEvaluatedAreCancelled() {
        let stage = TestQueue()
        let operation = stage.noting("a").timeout(waiting: .seconds(1)).addCondition("slow") { _ in
            try await stage.clock.sleep(for: .seconds(60))
            return .satisfied
        }
        stage.run(operation)
        #expect(operation.state == .evaluating)
        stage.advance(by: .seconds(1))
        #expect(
            operation.ending
                == "timed out after 1.0 seconds, while it waited for the answer of the condition ‘slow’")
        #expect(stage.queue.core.timerService.count == 0)
    }

    @Test("A time limit ends the wait for an exclusion")
    func itEndsTheWaitForAnExclusion() {
        let stage = TestQueue()
        let gate = Gate()
        let holder = stage.waiting("holder", at: gate).addCondition(.mutuallyExclusive("timeouts"))
        let waiting = stage.noting("waiting").addCondition(.mutuallyExclusive("timeouts")).timeout(waiting: .seconds(1))
        stage.run(holder, waiting)
        stage.advance(by: .seconds(1))
        #expect(
            waiting.ending
                == "timed out after 1.0 seconds, while it waited for the exclusion ‘timeouts’, after ‘holder’")
        gate.open()
        stage.steps.runAll()
        #expect(holder.ending == "success")
    }

    @Test("A limit that ends a wait for a permit, a delay or a barrier says so")
    func namesOfWaits() {
        let (stage, gate) = (TestQueue(name: "narrow", width: 1), Gate())
        let other = TestQueue(on: stage.steps)
        stage.run(stage.waiting("busy", at: gate))
        let ready = stage.noting("ready").timeout(waiting: .seconds(1))
        let unnamed = other.noting("unnamed", after: ready, stage.noting("missing")).timeout(waiting: .milliseconds(1))
        stage.run(ready)
        other.run(unnamed)
        let delayed = AsyncOperation("delayed") {}.delay(.seconds(60)).timeout(waiting: .seconds(1))
        let barrier = other.waiting("barrier", at: gate)
        let behind = other.noting("behind").timeout(waiting: .seconds(1))
        other.run(delayed)
        other.clock.advance(by: .seconds(1))
        stage.advance(by: .seconds(1))
        other.queue.addBarrier(barrier)
        other.run(behind)
        other.advance(by: .seconds(1))
        #expect(
            [ready, unnamed, delayed, behind].map(\.ending) == [
                "timed out after 1.0 seconds, while it waited for its turn in ‘narrow’, a queue of width 1",
                "timed out after 0.001 seconds, while it waited for ‘ready’, ‘missing’",
                "timed out after 1.0 seconds, while it waited for the end of its delay",
                "timed out after 1.0 seconds, while it waited for the barrier ‘barrier’",
            ])
        gate.open()
        stage.steps.runAll()
    }

    @Test("A deadline that comes between two attempts says what the next one waited for")
    func namesOfWaitsForAttempts() {
        let stage = TestQueue()
        stage.queue.suspendsFurtherAttempts = true
        let operation = AsyncOperation<Void>("flaky") { throw Oops() }
            .retry(.constant(.seconds(4)), attempts: 9, deadline: .seconds(5))
        stage.run(operation)
        stage.queue.isSuspended = true
        stage.advance(by: .seconds(5))
        #expect(operation.ending == "timed out after 5.0 seconds, while it waited for its queue to be resumed")
    }

    @Test("A skipped operation leaves no timer")
    func oneThatIsSkippedLeavesNoAlarm() {
        let stage = TestQueue()
        let source = stage.noting("source")
        let skipped = stage.noting("skipped").timeout(waiting: .seconds(1)).addDependency(source, on: .failure)
        let cancelled = stage.noting("cancelled").timeout(waiting: .seconds(1))
        cancelled.cancel()
        let later = stage.noting("later").timeout(waiting: .seconds(1)).addCondition("no") { _ in .skip("no") }
        stage.run(source, skipped, cancelled, later)
        #expect(stage.ran == ["source"])
        #expect(stage.queue.core.timerService.count == 0)
    }
}
