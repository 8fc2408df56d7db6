// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct OutcomeGuarantees {
    @Test func G1_theOutcomeIsPublishedOnceAndNeverChanges() throws {
        let finishes = EventLog<String>()
        let stage = TestQueue(probe: {
            if case .finished(let outcome, _) = $0.kind { finishes("\($0.operation.name) \(outcome)") }
        })
        let number = AsyncOperation("number") { 7 }
        let failing = AsyncOperation<Int>("failing") { throw Oops() }
        #expect(number.result == nil)
        stage.run(number, failing)
        #expect(try number.result?.get() == 7)
        for operation in [number, failing] {
            let before = operation.ending
            operation.cancel()
            stage.queue.cancelAll()
            stage.run(operation)
            #expect(operation.ending == before)
            #expect(!operation.isCancelled)
        }
        #expect(finishes.events == ["number success", "failing failure"])
    }

    /// Another thread cancels the operation while it finishes. There is one outcome, one finish and one call of the
    /// handler.
    @Test func G1_aCancelThatRacesWithTheFinishGivesOneOutcome() async {
        let finishes = EventLog<UInt64>()
        let handled = EventLog<String>()
        let queue = AsyncOperationQueue(probe: { if case .finished = $0.kind { finishes($0.operation.id) } })
        var seen: [(AsyncOperation<Int>, String)] = []
        for number in 0..<500 {
            let operation = AsyncOperation { number }
            operation.didFinish { handled("\($0)") }
            queue.add(operation)
            async let cancelled: Void = operation.cancel()
            _ = try? await operation.value
            seen.append((operation, operation.ending))
            await cancelled
        }
        await queue.waitUntilIdle()
        for (operation, ending) in seen { #expect(operation.ending == ending) }
        #expect(finishes.count == 500)
        #expect(Set(finishes.events).count == 500)
        #expect(handled.count == 500)
    }

    @Test func G2_theBodyRunsOnceAndNeverAfterTheOutcome() {
        let stage = TestQueue(width: 4)
        let operation = stage.noting("once")
        let cancelled = stage.noting("never")
        stage.queue.add(operation, cancelled)
        cancelled.cancel()
        stage.queue.add(operation)
        stage.steps.task { [queue = stage.queue] in _ = try? await queue.run(operation) }
        stage.steps.runAll()
        stage.run(operation, cancelled)
        #expect(stage.ran == ["once"])
        #expect(cancelled.ending == "cancelled on request")
    }

    @Test func G2_manyAddersRunItOnce() async {
        let runs = EventLog<Int>()
        let queue = AsyncOperationQueue(onMisuse: { _ in })
        for number in 0..<100 {
            let operation = AsyncOperation { runs(number) }
            await withTaskGroup { group in
                for _ in 0..<4 { group.addTask { _ = try? await queue.run(operation) } }
                group.addTask { queue.add(operation) }
            }
        }
        #expect(runs.events == Array(0..<100))
    }

    @Test func G3_dependentNeverStartsBeforeItsDependencies() async throws {
        try await exploring(schedules: tries(200)) { scheduler in
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4, executor: scheduler)
            let violations = EventLog<String>()
            var operations: [AsyncOperation<Void>] = []
            for number in 0..<30 {
                let sources = Set((0..<3).map { _ in scheduler.random(in: 0...max(0, number - 1)) })
                    .filter { $0 < number }.map { operations[$0] }
                let operation = AsyncOperation("\(number)") {
                    for source in sources where source.result == nil { violations("\(number)") }
                    await Task.yield()
                }
                for source in sources { operation.addDependency(source) }
                operations.append(operation)
            }
            var generator = scheduler.makeGenerator()
            queue.add(operations.shuffled(using: &generator))
            await queue.waitUntilIdle()
            try #require(violations.events == [])
            try #require(operations.allSatisfy { $0.ending == "success" })
        }
    }

    /// Dependents, readers and tasks that await the operation find its output.
    @Test func G3_theOutputIsThereWhenADependentIsReleased() {
        let stage = TestQueue(width: 1)
        let source = AsyncOperation("source") { 41 }
        let seen = EventLog<String>()
        let dependent = AsyncOperation("dependent") { seen("\(source.ending) \((try? source.result?.get()) ?? 0)") }
        dependent.addDependency(source)
        let reader = source.then { $0 + 1 }
        stage.run(dependent, reader, source)
        #expect(seen.events == ["success 41"])
        #expect(try! reader.result?.get() == 42)
    }

    /// On this executor a dependent runs inside the step that releases it.
    @Test func G3_theOutcomeIsPublishedBeforeADependentIsReleased() async {
        let executor = ImmediateExecutor()
        let seen = EventLog<String>()
        let gate = Gate()
        let queue = AsyncOperationQueue(executor: executor)
        let elsewhere = AsyncOperationQueue(executor: executor)
        let source = AsyncOperation("source") {
            await gate.wait()
            return 41
        }
        for number in 0..<6 {
            let dependent = AsyncOperation("\(number)") { seen("\(source.ending) \((try? source.result?.get()) ?? 0)") }
            dependent.addDependency(source)
            (number < 3 ? queue : elsewhere).add(dependent)
        }
        queue.add(source)
        gate.open()
        await queue.waitUntilIdle()
        await elsewhere.waitUntilIdle()
        #expect(seen.events == Array(repeating: "success 41", count: 6))
    }

    @Test func G3_oneOfManyDependenciesIsNotEnough() {
        let stage = TestQueue()
        let gates = (0..<3).map { _ in Gate() }
        let sources = gates.enumerated().map { stage.waiting("\($0)", at: $1) }
        let last = stage.noting("last", after: sources[0], sources[1], sources[2])
        stage.run(last, sources[0], sources[1], sources[2])
        for gate in gates {
            #expect(last.ending == "waiting")
            gate.open()
            stage.steps.runAll()
        }
        #expect(last.ending == "success")
        #expect(stage.ran == ["0", "1", "2", "last"])
    }
}
