import BatonTesting
import Testing

@testable import Baton

@Suite("A body that sleeps", .timeLimit(.minutes(10)))
struct SleepTests {
    private func sleeping(_ stage: TestQueue, _ name: String, for duration: Duration) -> AsyncOperation<Void> {
        AsyncOperation(name) { [log = stage.log] context in
            try await context.sleep(for: duration)
            log(name)
        }
    }

    @Test("A body sleeps on the clock of its queue")
    func sleepsOnTheClockOfItsQueue() {
        let stage = TestQueue()
        let operation = sleeping(stage, "awake", for: .seconds(3_600))
        stage.run(operation)
        stage.advance(by: .seconds(3_599))
        #expect(operation.state == .executing)
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["awake"])
        #expect(operation.ending == "success")
    }

    @Test("A body that sleeps keeps its permit")
    func keepsItsPermit() {
        let stage = TestQueue(width: 1)
        stage.run(sleeping(stage, "first", for: .seconds(1)), stage.noting("second"))
        #expect(stage.ran == [])
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["first", "second"])
    }

    @Test("With a replacement a sleep is a debounce: only operations that are not replaced in time continue")
    func debounce() {
        let stage = TestQueue()
        func type(_ text: String) {
            stage.run(sleeping(stage, text, for: .milliseconds(300)).unique(by: #function, policy: .replace))
        }
        for text in ["s", "sw", "swi"] {
            type(text)
            stage.advance(by: .milliseconds(299))
        }
        #expect(stage.ran == [])
        #expect(stage.clock.sleeperCount == 1)
        stage.advance(by: .milliseconds(1))
        #expect(stage.ran == ["swi"])
        #expect(stage.clock.sleeperCount == 0)
    }

    @Test("A debounce holds under every schedule")
    func debounceUnderSeeds() async throws {
        try await exploring(schedules: tries(200)) { scheduler in
            let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
            let log = EventLog<Int>()
            for number in 0..<4 {
                queue.add(
                    AsyncOperation("\(number)") { context in
                        try await context.sleep(for: .milliseconds(300))
                        log(number)
                    }.unique(by: #function, policy: .replace))
                // The last pause is long enough for the operations that were added before it.
                try await scheduler.clock.sleep(for: .milliseconds(number == 2 ? 301 : scheduler.random(in: 0..<300)))
            }
            await queue.waitUntilIdle()
            try #require(log.events == [2, 3])
        }
    }

    @Test("A cancellation ends the sleep at once")
    func cancel() {
        let stage = TestQueue()
        let operation = sleeping(stage, "awake", for: .seconds(1))
        stage.run(operation)
        operation.cancel()
        #expect(stage.clock.sleeperCount == 0)
        stage.steps.runAll()
        #expect(operation.ending == "cancelled on request")
        #expect(stage.ran == [])
    }

    @Test("When a call that cancels a sleep returns, the clock has no sleeper any more")
    func cancelAtOnce() async {
        let clock = TestClock()
        let isKnown = Gate()
        let sleepers = EventLog<Task<Void, Never>>()
        let counts = EventLog<Int>()
        // The watcher continues inside the call that adds the sleeper.
        let watcher = Task(executorPreference: ImmediateExecutor()) {
            await clock.waitForSleepers(count: 1)
            sleepers.events[0].cancel()
            counts(clock.sleeperCount)
        }
        sleepers(
            Task {
                await isKnown.wait()
                try? await clock.sleep(for: .seconds(1))
            })
        isKnown.open()
        await watcher.value
        await sleepers.events[0].value
        #expect(counts.events == [0])
    }

    @Test("A time limit ends the sleep, on the same clock")
    func timeLimit() {
        let stage = TestQueue()
        let operation = sleeping(stage, "awake", for: .seconds(10)).timeout(.seconds(5))
        stage.run(operation)
        stage.advance(by: .seconds(5))
        #expect(operation.ending == "timed out after 5.0 seconds")
        #expect(stage.clock.sleeperCount == 0)
    }

    @Test("A body that has been cancelled does not start to sleep", arguments: [Duration.zero, .seconds(1)])
    func cancelledBefore(duration: Duration) {
        let stage = TestQueue()
        let operation = AsyncOperation("operation") { [log = stage.log] context in
            context.operation.cancel()
            do { try await context.sleep(for: duration) } catch is CancellationError { log("cancelled") }
        }
        stage.run(operation)
        #expect(stage.ran == ["cancelled"])
    }

    @Test("An unstructured task of a cancelled body does not start to sleep")
    func cancelledBeforeInAnotherTask() {
        let stage = TestQueue()
        let operation = AsyncOperation("operation") { [steps = stage.steps, log = stage.log] context in
            context.operation.cancel()
            await steps.task {
                do { try await context.sleep(for: .seconds(1)) } catch { log("\(type(of: error))") }
            }.value
        }
        stage.run(operation)
        #expect(stage.ran == ["CancellationError"])
    }

    @Test("Child tasks sleep beside one another, and a cancellation of one ends its sleep alone")
    func childTasks() {
        let stage = TestQueue()
        let operation = AsyncOperation("operation") { [log = stage.log] context in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seconds in [3, 1] {
                    group.addTask {
                        try await context.sleep(for: .seconds(seconds))
                        log("\(seconds)")
                    }
                }
                try await group.next()
                group.cancelAll()
            }
            try await context.sleep(for: .seconds(1))
            log("after all")
        }
        stage.run(operation)
        #expect(stage.clock.sleeperCount == 2)
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["1"])
        #expect(stage.clock.sleeperCount == 1, "that of the body itself")
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["1", "after all"])
        #expect(operation.ending == "success")
    }

    @Test("A cancellation of the operation reaches the sleeps of its child tasks")
    func cancelReachesChildTasks() {
        let stage = TestQueue()
        let operation = AsyncOperation("operation") { context in
            async let first: Void = context.sleep(for: .seconds(1))
            async let second: Void = context.sleep(for: .seconds(2))
            _ = try await (first, second)
        }
        stage.run(operation)
        #expect(stage.clock.sleeperCount == 2)
        operation.cancel()
        #expect(stage.clock.sleeperCount == 0)
        stage.steps.runAll()
        #expect(operation.ending == "cancelled on request")
    }

    @Test(
        "A duration that is not positive is over at once",
        arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func nothing(duration: Duration) {
        let stage = TestQueue()
        stage.run(sleeping(stage, "awake", for: duration))
        #expect(stage.ran == ["awake"])
    }

    @Test(
        "However long a sleep is, a cancellation ends it",
        arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 18])
    func enormous(duration: Duration) async {
        let stage = TestQueue()
        let virtual = sleeping(stage, "awake", for: duration)
        stage.run(virtual)
        stage.advance(by: .seconds(1_000_000_000))
        #expect(stage.clock.sleeperCount == 1)
        virtual.cancel()
        stage.steps.runAll()
        #expect(virtual.ending == "cancelled on request")

        let isAsleep = Gate()
        let real = AsyncOperationQueue().add(
            AsyncOperation { context in
                async let sleep: Void = context.sleep(for: duration)
                isAsleep.open()
                try await sleep
            })
        await isAsleep.wait()
        real.cancel()
        await #expect(throws: OperationError.self) { try await real.value }
    }

    @Test("A body can sleep on the system's clock, too")
    func systemClock() async throws {
        let queue = AsyncOperationQueue()
        let time = try await queue.run(
            AsyncOperation { context in
                try await context.clock.measure { try await context.sleep(for: .microseconds(10)) }
            })
        #expect(time >= .microseconds(10))
    }

    @Test("After the body has returned, a sleep is misuse and uses the system's clock")
    func afterTheEnd() {
        let stage = TestQueue()
        let contexts = EventLog<OperationContext>()
        stage.run(AsyncOperation("operation") { context in contexts(context) })
        stage.steps.task { [log = stage.log] in
            do { try await contexts.events[0].sleep(for: .seconds(1)) } catch {
                log((error as? OperationError)?.inShort ?? "\(error)")
            }
        }
        stage.steps.runAll()
        #expect(stage.ran == ["misuse: sleptAfterTheEnd"])
        let clock = contexts.events[0].clock
        let start = clock.now
        stage.clock.advance(by: .seconds(1_000_000))
        #expect(start.duration(to: clock.now) < .seconds(1_000_000))
    }

    @Test("A context for a direct call sleeps on the clock of its queue")
    func directCall() async throws {
        struct Nap: Procedure {
            func execute(in context: OperationContext) async throws -> Duration {
                try await context.clock.measure { try await context.sleep(for: .seconds(5)) }
            }
        }
        let clock = TestClock()
        let queue = AsyncOperationQueue(clock: clock)
        async let nap = Nap().execute(in: OperationContext(queue: queue))
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(5))
        #expect(try await nap == .seconds(5))
    }

    @Test("The clock of a context is that of the queue")
    func clock() {
        let stage = TestQueue()
        stage.clock.advance(by: .seconds(7))
        let operation = AsyncOperation("operation") { [log = stage.log] context in
            let clock = context.clock
            let start = clock.now
            log("begun")
            try await clock.sleep(until: start.advanced(by: .seconds(2)))
            try await clock.sleep(until: start)
            let time = start.duration(to: clock.now)
            log("\(time), \(clock.minimumResolution), \(start < clock.now)")
            let far = start.advanced(by: .seconds(Int64.max)).advanced(by: .seconds(Int64.max))
            log("\(far > start && far.advanced(by: .seconds(Int64.min)) < far)")
        }
        stage.run(operation)
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["begun"])
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["begun", "2.0 seconds, 0.0 seconds, true", "true"])
        #expect(operation.ending == "success")
    }
}
