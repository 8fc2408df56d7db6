import BatonTesting
import Testing

@testable import Baton

/// Tests of time limits for each attempt and for all attempts together.
extension RetryTests {
    @Test func G20_eachAttemptHasItsOwnTimeout() {
        let stage = TestQueue()
        let operation = AsyncOperation("slow") { context in
            stage.log("attempt \(context.attempt) \(Task.isCancelled)")
            if context.attempt < 3 { try await stage.clock.sleep(for: .seconds(60)) }
            return context.attempt
        }
        .timeout(.seconds(2)).retry(.constant(.seconds(1)), attempts: 3)
        .didCancel { stage.log("cancelled \($0)") }
        stage.run(operation)
        for _ in 0..<2 {
            stage.advance(by: .seconds(2))
            #expect(!operation.isCancelled)
            stage.advance(by: .seconds(1))
        }
        #expect(stage.ran == ["attempt 1 false", "attempt 2 false", "attempt 3 false"])
        #expect(try! operation.result!.get() == 3)
        #expect(
            operation.attempts.map { $0.error.map { "\($0)" } ?? "" } == [
                "timed out after 2.0 seconds", "timed out after 2.0 seconds", "",
            ])
        #expect(!operation.isCancelled)
    }

    @Test func aTimeoutShorterThanTheBackoffDoesNotCountTheDelay() {
        let stage = TestQueue()
        let operation = failing(1, on: stage).timeout(.seconds(1)).retry(.constant(.seconds(10)), attempts: 2)
        stage.run(operation)
        stage.advance(by: .seconds(5))
        stage.advance(by: .seconds(5))
        #expect(operation.ending == "success")
    }

    @Test func theLastAttemptCanTimeOut() {
        let stage = TestQueue()
        let operation = AsyncOperation("slow") { try await stage.clock.sleep(for: .seconds(60)) }
            .timeout(.seconds(1)).retry(.immediately, attempts: 2).didCancel { _ in stage.log("cancelled") }
        stage.run(operation)
        stage.advance(by: .seconds(1))
        #expect(operation.state == .executing)
        #expect(stage.ran.isEmpty)
        stage.advance(by: .seconds(1))
        #expect(operation.ending == "timed out after 1.0 seconds")
        #expect(operation.isCancelled)
        #expect(stage.ran == ["cancelled"])
    }

    @Test func aTimeoutThatIsNotRetryableEndsIt() {
        let stage = TestQueue()
        let operation = AsyncOperation("slow") { try await stage.clock.sleep(for: .seconds(60)) }
            .timeout(.seconds(1)).retry(.immediately, attempts: 5) { error in
                stage.log("asked, cancelled: \(Task.isCancelled)")
                if case .timedOut = error { return false }
                return true
            }
            .didCancel { stage.log("cancelled \($0)") }
        stage.run(operation)
        stage.advance(by: .seconds(1))
        #expect(operation.ending == "timed out after 1.0 seconds")
        #expect(operation.isCancelled)
        #expect(
            stage.ran == ["asked, cancelled: false", "cancelled because its time limit of 1.0 seconds was over"])
    }

    @Test func G20_theDeadlineCountsTheWhole() {
        let stage = TestQueue()
        let operation = AsyncOperation<Void>("slow") { context in
            stage.log("attempt \(context.attempt)")
            try await stage.clock.sleep(for: .seconds(3))
            throw Oops()
        }
        .retry(.constant(.seconds(1)), attempts: 100, deadline: .seconds(10))
        stage.run(operation)
        for _ in 0..<10 { stage.advance(by: .seconds(1)) }
        // The attempts start at 0, 4 and 8 s. The third one is cancelled at 10 s.
        #expect(stage.ran == ["attempt 1", "attempt 2", "attempt 3"])
        #expect(operation.ending == "timed out after 10.0 seconds")
    }

    @Test func anAttemptThatCouldOnlyStartAfterTheDeadlineIsNotMade() {
        let stage = TestQueue()
        let operation = failing(9, on: stage).retry(.constant(.seconds(4)), attempts: 9, deadline: .seconds(10))
        stage.run(operation)
        stage.advance(by: .seconds(4))
        stage.advance(by: .seconds(4))
        #expect(stage.ran == ["flaky 1", "flaky 2", "flaky 3"])
        #expect(operation.ending == "failed: failure 3")
    }

    enum Obstacle: CaseIterable {
        case permit, exclusion, rate, suspension
    }

    @Test("An attempt that waits for something at the deadline is not made", arguments: Obstacle.allCases)
    func deadlineOfWaitingAttempts(_ obstacle: Obstacle) {
        let (names, stage) = (Names(), TestQueue(width: 1))
        stage.queue.suspendsFurtherAttempts = true
        let gate = Gate()
        let operation = failing(9, on: stage).retry(.constant(.seconds(4)), attempts: 9, deadline: .seconds(10))
            .didCancel { stage.log("cancelled \($0)") }
        let busy = stage.waiting("busy", at: gate)
        switch obstacle {
        case .permit, .suspension: break
        case .exclusion: for one in [operation, busy] { one.addCondition(.mutuallyExclusive(names("name"))) }
        case .rate: operation.addCondition(.rate(names("rate"), 1, per: .seconds(100)))
        }
        stage.run(operation)
        stage.advance(by: .seconds(1))
        let other = AsyncOperationQueue(executor: stage.steps, clock: stage.clock)
        switch obstacle {
        case .permit: stage.run(busy)
        case .exclusion:
            other.add(busy)
            stage.steps.runAll()
        case .rate: break
        case .suspension: stage.queue.isSuspended = true
        }
        stage.advance(by: .seconds(8))
        #expect(!operation.hasFinished)
        #expect(stage.clock.nextDeadline == .start.advanced(by: .seconds(10)))
        stage.advance(by: .seconds(1))
        #expect(operation.ending.hasPrefix("timed out after 10.0 seconds, while it waited for "))
        #expect(operation.attempts.map(\.number) == [1])
        #expect(
            stage.ran.filter { $0.hasPrefix("cancelled") } == [
                "cancelled because its time limit of 10.0 seconds was over"
            ])
        gate.open()
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
        #expect(stage.queue.core.timerService.count == 0)
    }

    @Test("The deadline of attempts that come in time leaves nothing behind")
    func deadlineOfAttemptsInTime() {
        let stage = TestQueue()
        let operation = failing(2, on: stage).retry(.constant(.seconds(4)), attempts: 9, deadline: .seconds(10))
            .repeat(every: .seconds(100), count: 2)
        stage.run(operation)
        for _ in 0..<130 { stage.advance(by: .seconds(1)) }
        #expect(stage.ran == ["flaky 1", "flaky 2", "flaky 3", "flaky 1", "flaky 2", "flaky 3"])
        #expect(operation.ending == "success")
        #expect(stage.queue.core.timerService.count == 0)
    }
}
