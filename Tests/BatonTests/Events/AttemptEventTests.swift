import BatonTesting
import Testing

@testable import Baton

/// Tests of the events of operations that run again or wait for a time.
@Suite(.timeLimit(.minutes(10))) struct AttemptEventTests {
    let stage = TestQueue()

    /// Returns the events that are published while the clock advances by `seconds`, one second at a time.
    private func events(seconds: Int, _ body: (TestQueue) -> Void) -> [String] {
        let notes = stage.noteEvents()
        body(stage)
        stage.steps.runAll()
        for _ in 0..<seconds { stage.advance(by: .seconds(1)) }
        return notes.events
    }

    @Test func aRetryTellsEachAttempt() {
        let seen = events(seconds: 1) { stage in
            let operation = AsyncOperation("a") { context in
                if context.attempt == 1 { throw Oops() }
            }
            stage.queue.add(operation.retry(.constant(.seconds(1)), attempts: 2))
        }
        #expect(
            seen == [
                "a added", "a ready", "a started", "a retrying 1 in 1.0 seconds", "a ready", "a started 2",
                "a finished success",
            ])
    }

    @Test("A retry without a delay has the same events")
    func oneAtOnceToo() {
        let seen = events(seconds: 0) { stage in
            stage.queue.add(AsyncOperation<Void>("a") { throw Oops() }.retry(.immediately, attempts: 2))
        }
        #expect(
            seen == [
                "a added", "a ready", "a started", "a retrying 1 in 0.0 seconds", "a ready", "a started 2",
                "a finished failure",
            ])
    }

    @Test func aCancelInThePauseComesBeforeTheFinish() {
        let seen = events(seconds: 0) { stage in
            let operation = AsyncOperation<Void>("a") { throw Oops() }.retry(.constant(.seconds(9)), attempts: 2)
            stage.run(operation)
            operation.cancel()
        }
        #expect(seen.suffix(3) == ["a retrying 1 in 9.0 seconds", "a cancel", "a finished cancelled"])
    }

    @Test func aTimeoutIsACancel() {
        let seen = events(seconds: 1) { stage in
            let operation = AsyncOperation("a") { try await stage.clock.sleep(for: .seconds(60)) }
            stage.queue.add(operation.timeout(.seconds(1)))
        }
        #expect(
            seen == [
                "a added", "a ready", "a started",
                "a cancel because its time limit of 1.0 seconds was over", "a finished failure",
            ])
    }

    @Test func aTimeoutThatIsFollowedByAnotherAttemptIsNone() {
        let seen = events(seconds: 1) { stage in
            let operation = AsyncOperation("a") { context in
                if context.attempt == 1 { try await stage.clock.sleep(for: .seconds(60)) }
            }
            stage.queue.add(operation.timeout(.seconds(1)).retry(.immediately, attempts: 2))
        }
        #expect(
            seen == [
                "a added", "a ready", "a started", "a retrying 1 in 0.0 seconds", "a ready",
                "a started 2", "a finished success",
            ])
    }

    @Test func aDelayedOneIsReadyAfterTheDelay() {
        let notes = stage.noteEvents()
        let delay = AsyncOperation.delay(.seconds(1))
        stage.run(delay)
        #expect(notes.events == ["delay added", "delay delayed"])
        stage.advance(by: .seconds(1))
        #expect(
            notes.events == ["delay added", "delay delayed", "delay ready", "delay started", "delay finished success"])
    }

    @Test func aRepetitionTellsEachRun() {
        let seen = events(seconds: 1) { stage in
            stage.queue.add(stage.noting("a").repeat(every: .seconds(1), count: 2))
        }
        #expect(
            seen == [
                "a added", "a ready", "a started", "a repeating in 1.0 seconds", "a ready", "a started",
                "a finished success",
            ])
    }

    @Test("A repetition with a failed run publishes both `repeating` and `retrying`")
    func oneThatFailsInBetweenTellsBoth() {
        let runs = Tally()
        let seen = events(seconds: 0) { stage in
            let operation = AsyncOperation("a") {
                runs.add()
                if runs.count == 2 { throw Oops() }
            }
            stage.queue.add(operation.repeat(every: .zero, count: 2).retry(.immediately, attempts: 2))
        }
        #expect(
            seen == [
                "a added", "a ready", "a started", "a repeating in 0.0 seconds", "a ready", "a started",
                "a retrying 1 in 0.0 seconds", "a ready", "a started 2", "a finished success",
            ])
    }
}

@Test func anEventIsASentence() {
    let stage = TestQueue()
    let lines = EventLog<String>()
    stage.queue.observe { lines("\($0)") }
    let source = stage.noting("source")
    let operation = AsyncOperation("report") { context in
        context.progress.totalUnitCount = 4
        context.progress.advance()
        if context.attempt == 1 { throw Oops() }
        try context.produce(AsyncOperation("extra") {})
        context.operation.cancel(reason: .because("enough"))
        throw Oops()
    }
    .retry(.constant(.seconds(1)), attempts: 2).addDependency(source).addCondition("yes") { _ in .satisfied }
    stage.run(source, operation)
    stage.advance(by: .seconds(1))
    operation.name = "late"
    #expect(
        lines.events.filter { $0.hasPrefix("‘report’") && !$0.contains("misused") } == [
            "‘report’ was added after ‘source’", "‘report’ waits", "‘report’ evaluates its conditions",
            "‘report’ is ready",
            "‘report’ started", "‘report’ has done 25 %",
            "‘report’ failed at attempt 1, tries again in 1.0 seconds: oops", "‘report’ has done 0 %",
            "‘report’ is ready", "‘report’ started attempt 2", "‘report’ has done 25 %", "‘report’ produced ‘extra’",
            "‘report’ was cancelled because enough", "‘report’ finished: cancelled because enough",
        ])
}
