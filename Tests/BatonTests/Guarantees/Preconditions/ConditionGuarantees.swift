import BatonTesting
import Testing

@testable import Baton

private struct Asks: OperationCondition {
    let number: Int
    let log: EventLog<String>
    var exclusions: [Exclusion] = []

    func dependency(for operation: AnyOperation) -> AnyOperation? {
        AsyncOperation { [number, log] in
            log("request \(number) begins")
            await Task.yield()
            log("request \(number) ends")
        }
    }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        log("evaluation \(number) begins")
        await Task.yield()
        log("evaluation \(number) ends")
        return .satisfied
    }
}

@Suite(.timeLimit(.minutes(10))) struct ConditionGuarantees {
    /// The dependencies come first, then the operations of the conditions, the evaluations and the body, under many
    /// schedules.
    @Test func G11_theOrderOfThePhases() async throws {
        try await exploring(schedules: tries(300)) { scheduler in
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: scheduler.random(in: 1...3), executor: scheduler)
            let log = EventLog<String>()
            let sources = (0..<2).map { number in
                AsyncOperation {
                    await Task.yield()
                    log("source \(number)")
                }
            }
            let operation = AsyncOperation { log("body") }
            for number in 0..<2 {
                operation.addDependency(sources[number])
                operation.addCondition(Asks(number: number, log: log))
            }
            queue.add([operation, AsyncOperation { log("beside") }] + sources)
            await queue.waitUntilIdle()
            let events = log.events.filter { $0 != "beside" }
            try #require(events.count == 11)
            try #require(Set(events[0..<2]) == ["source 0", "source 1"])
            try #require(events[2..<6].allSatisfy { $0.hasPrefix("request") })
            try #require(events[6..<10].allSatisfy { $0.hasPrefix("evaluation") })
            try #require(events[10] == "body")
        }
    }

    @Test("The first condition in the order of adding that is not satisfied decides, under every schedule")
    func G11_theFirstThatIsNotSatisfiedDecides() async throws {
        try await exploring(schedules: tries(300)) { scheduler in
            let queue = AsyncOperationQueue(executor: scheduler)
            let answers = (0..<4).map { _ in scheduler.random(in: 0..<3) }
            let operation = AsyncOperation {}
            for (number, answer) in answers.enumerated() {
                let pauses = scheduler.random(in: 0..<4)
                operation.addCondition("\(number)") { _ in
                    for _ in 0..<pauses { await Task.yield() }
                    // A condition that is cancelled may answer or throw.
                    if number.isMultiple(of: 2) { try Task.checkCancellation() }
                    if answer == 1 { throw Oops(text: "\(number)") }
                    return answer == 0 ? .satisfied : .skip("\(number)")
                }
            }
            queue.add(operation)
            await queue.waitUntilIdle()
            let first = answers.firstIndex { $0 != 0 }
            let expected = first.map { answers[$0] == 1 ? "condition \($0): \($0)" : "skipped: \($0)" } ?? "success"
            try #require(operation.ending == expected)
        }
    }

    @Test func G11_oneThatThrowsAndOneThatSkips() {
        let stage = TestQueue()
        let failing = stage.noting("failing").addCondition("bad") { _ in throw Oops() }
        let skipped = stage.noting("skipped").addCondition("no") { _ in .skip("closed on Sundays") }
        stage.run(failing, skipped)
        guard case .conditionFailed("bad", let cause)? = failing.error,
            case .skipped(.condition("closed on Sundays"))? = skipped.error
        else {
            Issue.record("\(failing.ending), \(skipped.ending)")
            return
        }
        #expect(cause as? Oops == Oops())
        #expect(stage.ran.isEmpty)
    }

    /// The operation is cancelled at a random time. It has one outcome, and its body does not start after the
    /// cancellation.
    @Test func G15_aCancelWhileAConditionIsEvaluated() async throws {
        try await exploring(schedules: tries(500)) { scheduler in
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: scheduler)
            let log = EventLog<String>()
            let operation = AsyncOperation { log("body") }
            operation.addCondition(Asks(number: 0, log: log))
            operation.didFinish { result in log("finished \((try? result.get()) != nil)") }
            queue.add(operation)
            for _ in 0..<scheduler.random(in: 0...12) { await Task.yield() }
            operation.cancel()
            await queue.waitUntilIdle()
            let events = log.events
            try #require(events.filter { $0.hasPrefix("finished") }.count == 1)
            let succeeded = events.last == "finished true"
            try #require(events.contains("body") == succeeded || operation.isCancelled)
            if let end = events.firstIndex(where: { $0.hasPrefix("finished") }) {
                try #require(!events[end...].contains { $0.hasPrefix("evaluation") || $0.hasPrefix("request") })
                try #require(!events[(end + 1)...].contains("body"))
            }
        }
    }

    @Test func G24_suspendedNoConditionIsEvaluated() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("body").addCondition(Asks(number: 0, log: stage.log))
        stage.run(operation)
        #expect(stage.ran.isEmpty)
        operation.cancel()
        #expect(operation.ending == "cancelled on request")
    }

    @Test func G8_waitingThroughConditionOperationsCounts() {
        struct Brings: OperationCondition {
            let operation: AnyOperation
            func dependency(for operation: AnyOperation) -> AnyOperation? { self.operation }

            func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
        }
        let stage = TestQueue()
        let last = stage.noting("last")
        let middle = stage.noting("middle", after: last)
        let first = stage.noting("first").addCondition(Brings(operation: middle))
        last.addDependency(first)
        stage.run(first, last)
        #expect(first.error?.cycleNames == ["first", "middle", "last"])
        #expect(last.error?.cycleNames == ["first", "middle", "last"])
        #expect(stage.ran.isEmpty)
    }
}
