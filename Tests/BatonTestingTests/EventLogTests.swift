import BatonTesting
import Testing

@Suite struct EventLogTests {
    @Test func keepsTheOrder() {
        let log = EventLog<Int>()
        log(1)
        log.append(2)
        log(3)
        #expect(log.events == [1, 2, 3])
        #expect(log.count == 3)
    }

    @Test("A log that is cleared begins again, and tasks that wait for a count continue to count")
    func clearing() async throws {
        try await SeededScheduler(seed: 1).run { scheduler in
            let log = EventLog<Int>()
            log(1)
            let waiter = Task(executorPreference: scheduler) { await log.waitForCount(3) }
            for _ in 0..<20 { await Task.yield() }
            log(2)
            log.clear()
            #expect(log.events == [] && log.count == 0)
            log(3)
            #expect(await waiter.value == [3])
        }
    }

    @Test("Events that were cleared are not found, and later events are")
    func findingAfterClearing() async {
        let log = EventLog<Int>()
        log(4)
        log.clear()
        log(1)
        log(2)
        let found = await log.first { event in
            if event == 2 {
                log.clear()
                log(3)
                log(4)
            }
            return event == 4
        }
        #expect(found == 4)
        #expect(await log.waitForCount(2) == [3, 4])
    }

    @Test("A waiting task finds an event that is removed before the task runs again")
    func findingARemovedEvent() async throws {
        try await SeededScheduler(seed: 1).run { scheduler in
            let log = EventLog<Int>()
            log(1)
            let waiter = Task(executorPreference: scheduler) { await log.first { $0 == 2 } }
            for _ in 0..<20 { await Task.yield() }
            log(2)
            log.clear()
            log(3)
            #expect(log.events == [3] && log.count == 1)
            // Without the event, the task would wait until it is cancelled.
            for _ in 0..<20 { await Task.yield() }
            waiter.cancel()
            #expect(await waiter.value == 2)
            #expect(await log.waitForCount(1) == [3])
        }
    }

    @Test("A wait for more events than can ever come ends when it is cancelled, even after the log was cleared")
    func waitingForTheLargestCount() async {
        let log = EventLog<Int>()
        log(1)
        log.clear()
        log(2)
        let waiter = Task { await log.waitForCount(.max) }
        waiter.cancel()
        #expect(await waiter.value == [2])
    }

    @Test func losesNothingThatManyTasksNote() async {
        let log = EventLog<Int>()
        await withTaskGroup { group in
            for task in 0..<4 { group.addTask { for event in 0..<250 { log(task * 250 + event) } } }
        }
        #expect(log.events.sorted() == Array(0..<1_000))
    }

    @Test func waitForCountReturnsWhenThereAreThatMany() async throws {
        try await SeededScheduler(seed: 1).run { scheduler in
            let log = EventLog<Int>()
            let waiter = Task(executorPreference: scheduler) { await log.waitForCount(3) }
            for event in 1...3 {
                log(event)
                await Task.yield()
            }
            #expect(await waiter.value == [1, 2, 3])
            #expect(await log.waitForCount(1) == [1, 2, 3])
        }
    }

    @Test func firstWaitsForAnEventThatFulfilsTheCondition() async throws {
        for seed in 0..<10 as Range<UInt64> {
            try await SeededScheduler(seed: seed).run { scheduler in
                let log = EventLog<Int>()
                let waiter = Task(executorPreference: scheduler) { await log.first { $0 > 2 } }
                for event in 1...5 {
                    log(event)
                    await Task.yield()
                }
                #expect(await waiter.value == 3)
                #expect(await log.first { $0 > 3 } == 4)
            }
        }
    }

    @Test func firstAsksAboutEachEventOnce() async throws {
        try await SeededScheduler(seed: 3).run { scheduler in
            let log = EventLog<Int>()
            let asked = EventLog<Int>()
            log(-1)
            log(0)
            let waiter = Task(executorPreference: scheduler) {
                await log.first { event in
                    asked(event)
                    return event == 4
                }
            }
            for event in 1...4 {
                log(event)
                await Task.yield()
                await Task.yield()
            }
            #expect(await waiter.value == 4)
            #expect(asked.events == [-1, 0, 1, 2, 3, 4])
        }
    }

    @Test func aCancelledTaskDoesNotWait() async {
        let log = EventLog<Int>()
        log(1)
        let count = Task { await log.waitForCount(2) }
        let first = Task { await log.first { $0 == 2 } }
        count.cancel()
        first.cancel()
        #expect(await count.value == [1])
        #expect(await first.value == nil)
        #expect(await log.first { $0 == 1 } == 1)
    }

    @Test func anErrorOfTheConditionIsThrown() async {
        struct Refused: Error {}
        let log = EventLog<Int>()
        log(1)
        await #expect(throws: Refused.self) { try await log.first { _ in throw Refused() } }
    }
}
