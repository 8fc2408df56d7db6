import BatonTesting
import Testing

@testable import Baton

/// Tests of the events on each path through the life of an operation.
@Suite(.timeLimit(.minutes(10))) struct EventOrderTests {
    let stage = TestQueue()

    private func events(_ body: (TestQueue) -> Void) -> [String] {
        let notes = stage.noteEvents()
        body(stage)
        stage.steps.runAll()
        return notes.events
    }

    @Test func aRun() {
        #expect(events { $0.queue.add($0.noting("a")) } == ["a added", "a ready", "a started", "a finished success"])
    }

    @Test("An operation that waits for a dependency has these events")
    func oneThatWaits() {
        let seen = events { stage in
            let source = stage.noting("a")
            stage.queue.add(stage.noting("b", after: source), source)
        }
        #expect(
            seen == [
                "b added a", "b waiting", "a added", "a ready", "a started", "a finished success", "b ready",
                "b started",
                "b finished success",
            ])
    }

    @Test("An operation whose dependencies have finished does not publish `waiting`")
    func oneWhoseDependenciesHaveFinishedDoesNotWait() {
        let source = stage.noting("a")
        stage.run(source)
        #expect(
            events { $0.queue.add($0.noting("b", after: source)) }
                == ["b added a", "b ready", "b started", "b finished success"])
    }

    @Test func edgesSayWhatTheyAreFor() {
        let (input, source, other) = (AsyncOperation("input") { 1 }, stage.noting("source"), stage.noting("other"))
        let reader = input.then { $0 }.addDependency(other)
            .addDependency(source, on: .success).addDependency(other, on: .success)
        let edges = EventLog<OperationEvent.Edge>()
        reader.observe { event in
            if case .added(let all) = event.kind { for edge in all { edges(edge) } }
        }
        stage.run(input, source, other, reader)
        #expect(edges.events.map(\.source) == [input, other, source, other].map(\.reference))
        #expect(edges.events.map(\.kind) == [.input, .order(.always), .order(.success), .order(.success)])
    }

    @Test("Operations that never start have these events")
    func oneThatNeverStarts() {
        let seen = events { stage in
            let source = AsyncOperation<Int>("source") { throw Oops() }
            let reader = source.then { $0 }
            reader.name = "reader"
            let skipped = stage.noting("skipped").addDependency(source, on: .success)
            stage.queue.add(source, reader, skipped)
        }
        #expect(seen.filter { $0.hasPrefix("source") }.last == "source finished failure")
        #expect(
            seen.filter { $0.hasPrefix("reader") } == [
                "reader added source", "reader waiting", "reader ready", "reader finished failure",
            ])
        #expect(
            seen.filter { $0.hasPrefix("skipped") } == [
                "skipped added source", "skipped waiting", "skipped ready", "skipped finished skipped",
            ])
    }

    @Test("An operation that is cancelled before its run has these events")
    func oneThatIsCancelledBeforeTheRun() {
        let seen = events { stage in
            let operation = stage.noting("a")
            stage.queue.add(operation)
            operation.cancel()
            operation.cancel()
        }
        #expect(seen == ["a added", "a ready", "a cancel", "a finished cancelled"])
    }

    @Test("An operation that is cancelled during its run has these events")
    func oneThatIsCancelledDuringTheRun() {
        let gate = Gate()
        let notes = stage.noteEvents()
        let operation = stage.waiting("a", at: gate)
        stage.run(operation)
        operation.cancel(reason: .because("of rain"))
        gate.open()
        stage.steps.runAll()
        operation.cancel()
        stage.steps.runAll()
        #expect(
            notes.events == ["a added", "a ready", "a started", "a cancel because of rain", "a finished success"])
    }

    /// A worker has taken up the operation, and has not started its body.
    @Test func aCancelBetweenWorkerAndBodyIsToldAfterTheStart() {
        var life = Lifecycle()
        _ = life.adopt()
        let worker = Worker()
        life.ensureOptionalState().beginOutbox(broadcaster: EventBroadcaster())
        #expect(life.begin(on: worker).isWithOptionalState)
        _ = life.cancel()
        life.noteCancel(.requested)
        #expect(life.outbox?.machine.startPublishing() == nil)
        life.startBody()
        let kinds = life.outbox?.machine.startPublishing()?.kinds.all ?? []
        #expect(kinds.map { OperationEvent.sample(0, $0).inShort } == ["sample started", "sample cancel"])
    }

    @Test func aConditionIsEvaluatedBeforeItIsReady() {
        let seen = events { stage in
            stage.queue.add(stage.noting("a").addCondition("good") { _ in .satisfied })
            stage.queue.add(stage.noting("b").addCondition("bad") { _ in .skip("no") })
        }
        #expect(
            seen.filter { $0.hasPrefix("a") } == [
                "a added", "a evaluating", "a ready", "a started", "a finished success",
            ])
        #expect(seen.filter { $0.hasPrefix("b") } == ["b added", "b evaluating", "b finished skipped"])
    }

    @Test func aCancelDuringTheEvaluation() {
        let gate = Gate()
        let notes = stage.noteEvents()
        let operation = stage.noting("a").addCondition("slow") { _ in
            await gate.wait()
            return .satisfied
        }
        stage.run(operation)
        operation.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(notes.events == ["a added", "a evaluating", "a cancel", "a finished cancelled"])
    }

    @Test("An operation is ready before it waits for an exclusion")
    func oneThatWaitsForAnExclusionIsReady() {
        let gate = Gate()
        let notes = stage.noteEvents()
        let holder = stage.waiting("a", at: gate).addCondition(.mutuallyExclusive("shared"))
        let waiting = stage.noting("b").addCondition(.mutuallyExclusive("shared"))
        stage.run(holder, waiting)
        #expect(
            notes.events == [
                "a added", "a ready", "b added", "b ready", "a acquiring", "a started", "b acquiring",
                "b excluded from ‘shared’ by a",
            ])
        gate.open()
        stage.steps.runAll()
        #expect(notes.events.suffix(4) == ["a finished success", "b granted", "b started", "b finished success"])
    }

    @Test("An operation that requests a free exclusion publishes only that it is acquiring it")
    func freeExclusion() {
        let notes = stage.noteEvents()
        stage.run(stage.noting("a").addCondition(.mutuallyExclusive("free")))
        #expect(notes.events == ["a added", "a ready", "a acquiring", "a started", "a finished success"])
    }

    @Test("An operation that is cancelled while it waits for an exclusion is granted nothing")
    func cancelledInLine() {
        let gate = Gate()
        let notes = stage.noteEvents()
        let waiting = stage.noting("b").addCondition(.mutuallyExclusive("cancelled in line"))
        stage.run(stage.waiting("a", at: gate).addCondition(.mutuallyExclusive("cancelled in line")), waiting)
        waiting.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(!notes.events.contains("b granted") && notes.events.contains("b finished cancelled"))
    }

    @Test("An operation publishes that it waits for a rate, and that the rate allows its start")
    func waitForARate() {
        let stage = TestQueue(width: 1)
        let notes = stage.noteEvents()
        for name in ["a", "b"] {
            stage.queue.add(stage.noting(name).addCondition(.rate("EventOrder", 1, per: .seconds(2))))
        }
        stage.steps.runAll()
        #expect(notes.events.filter { $0.hasPrefix("b") }.last == "b waiting for ‘EventOrder’ (1 in 2 seconds)")
        #expect(!notes.events.contains("b granted"))
        stage.walk(to: .seconds(4))
        #expect(notes.events.suffix(3) == ["b granted", "b started", "b finished success"])
        #expect(!notes.events.contains { $0.hasPrefix("a waiting for") || $0 == "a granted" })
    }

    @Test func childrenNameTheirParents() {
        let parents = EventLog<String>()
        stage.queue.observe { event in
            if case .added = event.kind { parents("\(event.operation.name) in \(event.parent?.name ?? "-")") }
        }
        let group = GroupOperation("group", stage.noting("child"))
        let runs = AsyncOperation("runs") { [stage] context in
            try await context.run(stage.noting("run", after: stage.noting("upstream")))
            try context.produce(stage.noting("product"))
        }
        let rule = stage.noting("withPreconditions").addCondition(DependencyCondition(child: stage.noting("brought")))
        stage.run(group, runs, rule)
        #expect(
            Set(parents.events) == [
                "group in -", "runs in -", "withPreconditions in -", "child in group", "run in runs",
                "upstream in runs",
                "product in -", "brought in withPreconditions",
            ])
    }

    private struct DependencyCondition: OperationCondition {
        let child: AnyOperation

        func dependency(for operation: AnyOperation) -> AnyOperation? { child }

        func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
    }

    @Test func productsAndProgress() {
        let seen = events { stage in
            let operation = AsyncOperation("a") { context in
                context.progress.totalUnitCount = 1000
                context.progress.advance(by: 500)
                context.progress.advance(by: 1)
                try context.produce(stage.noting("product"))
            }
            stage.queue.add(operation)
        }
        #expect(
            seen.filter { $0.hasPrefix("a") } == [
                "a added", "a ready", "a started", "a progress 0.5", "a produced product", "a finished success",
            ])
    }

    @Test func progressThatSomebodyAskedForBeforeTheAdd() {
        let operation = AsyncOperation("a") { context in context.progress.report(completed: 1, of: 2) }
        #expect(operation.progress.fractionCompleted == 0)
        _ = operation.progressUpdates
        let seen = events { $0.queue.add(operation) }
        #expect(seen.contains("a progress 0.5"))
    }

    @Test("An operation that is added to a closed queue has these events")
    func whatIsAddedToAClosedQueue() {
        let notes = stage.noteEvents()
        stage.steps.task { [queue = stage.queue] in await queue.drain() }
        stage.steps.runAll()
        stage.run(stage.noting("a"))
        #expect(notes.events == ["a added", "a finished failure"])
    }

    @Test func aCycleEndsItsMembers() {
        let seen = events { stage in
            let (first, second) = (stage.noting("a"), stage.noting("b"))
            first.addDependency(second)
            second.addDependency(first)
            stage.queue.add(first, second)
        }
        #expect(seen.prefix(4) == ["a added b", "a waiting", "b added a", "b waiting"])
        #expect(seen.dropFirst(4).sorted() == ["a finished failure", "b finished failure"])
    }

    @Test(arguments: [(Double.nan, 0), (-1, 0), (0.129, 12), (1, 100), (.infinity, 100)])
    func everyFractionCanBePrinted(fraction: Double, percent: Int) {
        #expect("\(OperationEvent.Kind.progress(fraction))" == "has done \(percent) %")
    }

    @Test("Every whole percentage is printed without rounding", arguments: 0...100)
    func wholePerCents(percent: Int) {
        let fraction = Double(percent) / 100
        #expect("\(OperationEvent.Kind.progress(fraction))" == "has done \(percent) %")
    }
}
