import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ProgressTests {
    private let stage = TestQueue()

    @Test func withoutReportsItIs0AndThen1() {
        let gate = Gate()
        let operation = stage.waiting("a", at: gate)
        #expect("\(operation.progress)" == "0 %")
        stage.run(operation)
        #expect("\(operation.progress)" == "0 %")
        gate.open()
        stage.steps.runAll()
        #expect("\(operation.progress)" == "100 %")
        #expect(operation.progress.isFinished)
        #expect(operation.withLifecycle { $0.optionalState?.progress } == nil, "Reading it makes nothing.")
    }

    @Test func theBodyReports() {
        let gate = Gate()
        let seen = EventLog<String>()
        let operation = AsyncOperation { context in
            context.progress.totalUnitCount = 10
            context.progress.completedUnitCount = 2
            context.progress.advance()
            seen("\(context.progress.completedUnitCount) of \(context.progress.totalUnitCount ?? -1)")
            await gate.wait()
            context.progress.report(completed: 5, of: 8)
            throw Oops()
        }
        stage.run(operation)
        #expect(seen.events == ["3 of 10"])
        #expect("\(operation.progress)" == "3 of 10 (30 %)")
        #expect(!operation.progress.isFinished)
        gate.open()
        stage.steps.runAll()
        #expect("\(operation.progress)" == "5 of 8 (62 %)", "A failure leaves it where it was.")
        #expect(operation.progress.isFinished)
    }

    @Test func aReportAfterTheEndChangesNothing() {
        let contexts = EventLog<OperationContext>()
        let operation = AsyncOperation { context in
            context.progress.report(completed: 1, of: 2)
            contexts(context)
            throw Oops()
        }
        stage.run(operation)
        let reporter = contexts.events[0].progress
        reporter.advance()
        reporter.totalUnitCount = 100
        reporter.completedUnitCount = 7
        reporter.report(completed: 7, of: 8)
        reporter.addChild(AsyncOperation {}, weight: 3)
        #expect("\(operation.progress)" == "1 of 2 (50 %)")
    }

    @Test func aCancelBeforeTheRunIsTheEnd() {
        let operation = AsyncOperation {}
        let state = operation.progressState
        operation.cancel()
        #expect(state.value.isFinished)
        #expect(operation.progress.fractionCompleted == 0)
        let added = AsyncOperation {}
        let stateOfAdded = added.progressState
        stage.queue.isSuspended = true
        stage.queue.add(added)
        added.cancel()
        #expect(stateOfAdded.value.isFinished)
    }

    @Test func progressAfterTheFinishIsFinished() {
        let success = AsyncOperation {}
        let failure = AsyncOperation { throw Oops() }
        stage.run(success, failure)
        #expect("\(success.progressState.value) \(success.progressState.value.isFinished)" == "100 % true")
        #expect("\(failure.progressState.value) \(failure.progressState.value.isFinished)" == "0 % true")
    }

    /// The probe is called after the outcome is decided and before its readers continue.
    @Test func progressIsFinishedBeforeTheOutcomeIsPublished() {
        let log = EventLog<String>()
        let operations = EventLog<AnyOperation>()
        let stage = TestQueue { event in
            guard case .finished = event.kind else { return }
            let operation = operations.events[0]
            log("\(operation.state) \(operation.progress) \(operation.progress.isFinished)")
        }
        let operation = AsyncOperation { context in context.progress.totalUnitCount = 3 }
        operations(operation)
        stage.run(operation)
        #expect(log.events == ["finished 3 of 3 (100 %) true"])
    }

    @Test func aDirectCallReportsToItsStandIn() async throws {
        struct Counting: Procedure {
            func execute(in context: OperationContext) async throws {
                context.progress.report(completed: 1, of: 4)
                try await context.run(AsyncOperation {}, weight: 2)
            }
        }
        let context = OperationContext(queue: AsyncOperationQueue())
        try await Counting().execute(in: context)
        #expect("\(context.operation.progress)" == "3 of 4 (75 %)")
        #expect(!context.operation.progress.isFinished)
    }

    @Test func childTasksAdvanceTogether() async {
        let updates = EventLog<OperationProgress>()
        let before = EventLog<String>()
        let queue = AsyncOperationQueue()
        let operation = AsyncOperation { context in
            let progress = context.progress
            progress.totalUnitCount = 20_000
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { for _ in 0..<1250 { progress.advance() } }
                }
            }
            before("\(context.operation.progress)")
        }
        let reader = Task {
            for await progress in operation.progressUpdates { updates(progress) }
        }
        queue.add(operation)
        await reader.value
        #expect(before.events == ["10000 of 20000 (50 %)"])
        let events = updates.events
        #expect(events.last?.isFinished == true)
        #expect(events.last?.fractionCompleted == 1)
        #expect(events.filter(\.isFinished).count == 1)
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.fractionCompleted <= $1.fractionCompleted && $0 != $1 })
        await queue.waitUntilIdle()
    }
}
