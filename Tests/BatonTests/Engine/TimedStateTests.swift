import BatonTesting
import Testing

@testable import Baton

@Suite struct TimedStateTests {
    /// The limits replace the optional state that the operation had.
    @Test func aLimitThatComesLastChangesNothingElse() {
        let stage = TestQueue()
        let log = stage.log
        let operation = AsyncOperation("work") { log("body") }
        operation.executor = stage.steps
        operation.addCondition("yes") { _ in
            log("condition")
            return .satisfied
        }
        operation.didStart { log("start") }
        operation.didFinish { _ in log("finish") }
        stage.steps.task {
            _ = try? await operation.value
            log("awaited")
        }
        stage.steps.runAll()
        operation.timeout(.seconds(1))
        #expect(operation.name == "work")
        #expect(operation.executor === stage.steps)
        stage.run(operation)
        #expect(Set(stage.ran) == ["condition", "start", "body", "finish", "awaited"])
        #expect(operation.ending == "success")
    }

    /// The thread was delayed between adding the timer and storing its ticket. Meanwhile the timer fired, and the next
    /// run paused as well.
    @Test func aPauseThatIsOverIsNotTakenForTheNext() {
        let operation = AsyncOperation {}
        var deadlines = TimerHeap<Duration, EngineTimer>()
        let timing = TimedState()
        let first = deadlines.add(.pauseEnd(Unretained(operation)), at: .seconds(1))
        #expect(!timing.storePause(until: .seconds(1), ticket: first))
        timing.isPaused = true
        let second = deadlines.add(.pauseEnd(Unretained(operation)), at: .seconds(2))
        #expect(timing.storePause(until: .seconds(2), ticket: second))
        #expect(!timing.storePause(until: .seconds(1), ticket: first))
        #expect(timing.rareTimedState?.pauseEnd == .seconds(2))
        #expect(timing.rareTimedState?.pauseTicket.flatMap { deadlines.remove($0) } != nil)
        #expect(deadlines.next == .seconds(1))
    }
}
