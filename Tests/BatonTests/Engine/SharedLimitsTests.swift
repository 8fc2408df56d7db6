import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct SharedLimitsTests {
    private typealias Values = SharedLimits.Values

    private static let some: [Values] = [
        Values(),
        Values(limit: .seconds(1)),
        Values(limit: .zero),
        Values(maxAttempts: 3),
        Values(backoff: Backoff.Curve(first: .seconds(1)), maxAttempts: 3),
        Values(backoff: Backoff.Curve(first: .seconds(1)), maxAttempts: 4),
        Values(backoff: Backoff.Curve(first: .seconds(1), factor: 2), maxAttempts: 3),
        Values(backoff: Backoff.Curve(first: .seconds(2), factor: 2), maxAttempts: 3),
        Values(backoff: Backoff.Curve(first: .seconds(2), factor: 2), maxAttempts: 3, limit: .seconds(1)),
        Values(
            backoff: Backoff.Curve(first: .seconds(2), factor: 2), maxAttempts: 3,
            limit: .seconds(1) + .nanoseconds(1)),
    ]

    @Test func equalOnesHaveOneObject() throws {
        let table = InternTable<SharedLimits>()
        let first = try Self.some.map { try #require(table.find($0)) }
        #expect(Set(first).count == Self.some.count)
        #expect(try Self.some.map { try #require(table.find($0)) } == first)
        for values in Self.some {
            #expect(table.find(values)?.use { $0.values == values } == true)
        }
    }

    @Test func aFullTableTakesNoMore() {
        let table = InternTable<SharedLimits>()
        let many = (0..<1_000).map { Values(limit: .milliseconds($0)) }
        let found = many.map { table.find($0) }
        let taken = found.compactMap(\.self)
        let slotCount = InternTable<SharedLimits>.slotCount
        #expect(taken.count > slotCount / 2 && taken.count <= slotCount)
        #expect(Set(taken).count == taken.count)
        #expect(many.map { table.find($0) } == found)
    }

    @Test("Threads that look up the same limits at once get the same entry")
    func whoeverComesFirstFillsASlot() async {
        for _ in 0..<200 {
            let table = InternTable<SharedLimits>()
            let found = await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask { Self.some.map { table.find($0) } }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(found.allSatisfy { $0 == found[0] })
        }
    }

    /// No optional state is created unless an attempt fails or is cut short.
    @Test func anOperationThatSucceedsNeedsNoDetails() {
        let stage = TestQueue()
        let operation = AsyncOperation {}.retry(.exponential(from: .seconds(1)), attempts: 3).timeout(.seconds(5))
        #expect(operation.withLifecycle { $0.optionalState == nil })
        stage.run(operation)
        #expect(operation.withLifecycle { $0.optionalState == nil })
        #expect(operation.attempts.map(\.number) == [1])
        #expect(operation.attempts.first?.error == nil)
    }

    @Test func attemptsOfOneOperationDoNotAffectOthers() {
        let stage = TestQueue()
        func make(_ name: String, failures: Int) -> AsyncOperation<Void> {
            AsyncOperation { context in
                stage.log("\(name) \(context.attempt)")
                if context.attempt <= failures { throw Oops(text: "failure \(context.attempt)") }
            }.retry(.immediately, attempts: 3).timeout(.seconds(5))
        }
        let good = make("good", failures: 0)
        let flaky = make("flaky", failures: 2)
        let bad = make("bad", failures: 9)
        stage.run(good, flaky, bad)
        #expect(stage.ran.filter { $0.hasPrefix("good") } == ["good 1"])
        #expect(stage.ran.filter { $0.hasPrefix("flaky") } == ["flaky 1", "flaky 2", "flaky 3"])
        #expect(good.ending == "success" && flaky.ending == "success" && bad.ending == "failed: failure 3")
        #expect([good, flaky, bad].map { $0.attempts.count } == [1, 3, 3])
    }

    /// In whatever order the modifiers are called, each keeps the settings of the others. The last call of each kind
    /// counts.
    @Test("Each modifier keeps the settings of the others, in any order", arguments: 0..<24)
    func theyBecomeDetailsWhenThereIsMore(order: Int) {
        let stage = TestQueue()
        let operation = AsyncOperation { context in
            stage.log("\(context.attempt)")
            throw Oops(text: "failure")
        }
        var steps: [() -> Void] = [
            { operation.timeout(.seconds(9)).timeout(.seconds(5)) },
            { operation.retry(.constant(.seconds(9)), attempts: 9).retry(.immediately, attempts: 2) },
            { operation.name = "work" },
            { operation.didFinish { _ in stage.log("finished") } },
        ]
        var left = order
        while let count = Optional(steps.count), count > 0 {
            steps.remove(at: left % count)()
            left /= count
        }
        #expect(operation.withLifecycle { $0.timing?.limit } == .seconds(5))
        stage.run(operation)
        #expect(stage.ran == ["1", "2", "finished"])
        #expect(operation.name == "work")
        #expect(operation.ending == "failed: failure")
    }

    /// The limit applies whether or not `explain()` has asked how long the operation has been executing.
    @Test(arguments: [false, true]) func aLimitCutsAnAttemptThatSharesIt(isExplained: Bool) async {
        let clock = TestClock()
        let queue = AsyncOperationQueue(clock: clock)
        let started = Gate()
        let operations = (0..<2).map { number in
            AsyncOperation { context in
                guard number == 0, context.attempt == 1 else { return }
                started.open()
                try await clock.sleep(for: .seconds(60))
            }.retry(.immediately, attempts: 2).timeout(.seconds(5))
        }
        queue.add(operations)
        await started.wait()
        if isExplained { #expect(operations[0].explain().description.contains("executing for")) }
        clock.advance(by: .seconds(5))
        await queue.waitUntilIdle()
        #expect(operations.map(\.ending) == ["success", "success"])
        #expect(
            operations[0].attempts.map { $0.error.map { "\($0)" } ?? "none" } == [
                "timed out after 5.0 seconds", "none",
            ])
        #expect(operations[1].attempts.count == 1)
    }

    @Test("Modifiers have no effect after the operation was added")
    func itIsTooLateAfterTheAdd() {
        let stage = TestQueue()
        let operation = AsyncOperation {}.timeout(.seconds(5))
        stage.queue.add(operation)
        operation.timeout(.seconds(1)).retry(.immediately, attempts: 2)
        #expect(operation.withLifecycle { $0.timing?.limit } == .seconds(5))
        stage.steps.runAll()
        #expect(operation.ending == "success")
    }
}
