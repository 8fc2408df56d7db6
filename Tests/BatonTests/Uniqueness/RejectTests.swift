import BatonTesting
import Testing

@testable import Baton

private struct Work: Procedure {
    let log: EventLog<String>
    func execute(in context: OperationContext) async throws { log("work") }
}

private struct OtherWork: Procedure {
    let log: EventLog<String>
    func execute(in context: OperationContext) async throws { log("other work") }
}

@Suite(.timeLimit(.minutes(10))) struct RejectTests {
    @Test func aDuplicateOfAnUnfinishedOneIsSkipped() {
        let stage = TestQueue()
        let gate = Gate()
        let first = stage.waiting("first", at: gate).unique(by: #function)
        let second = stage.noting("second").unique(by: #function)
        stage.run(first, second)
        #expect(stage.ran == ["first"])
        #expect(second.ending == "skipped, because ‘first’ does the same already")
        #expect(second.error?.publisher == "first")
        gate.open()
        stage.steps.runAll()
        #expect(first.ending == "success")
        #expect(stage.queue.operationCount == 0)
        #expect(stage.misuseKinds == [])
    }

    @Test("A duplicate is rejected from the add on, on any queue")
    func itIsADuplicateFromTheAddOnWhateverTheQueue() {
        let (here, there) = (TestQueue(isSuspended: true), TestQueue())
        let first = here.noting("first").unique(by: #function)
        let second = there.noting("second").unique(by: #function)
        here.queue.add(first)
        there.queue.add(second)
        #expect(second.ending == "skipped, because ‘first’ does the same already", "Decided by the add.")
        here.queue.isSuspended = false
        here.steps.runAll()
        #expect(here.ran == ["first"])
    }

    @Test("An operation that nobody has added rejects no other")
    func oneThatNobodyAddedKeepsNobodyOut() {
        let stage = TestQueue()
        let unadded = stage.noting("unadded").unique(by: #function)
        stage.run(stage.noting("added").unique(by: #function))
        #expect(stage.ran == ["added"])
        withExtendedLifetime(unadded) {}
    }

    @Test func theOrderOfTheArrayDecides() {
        let stage = TestQueue()
        let all = ["a", "b", "c"].map { stage.noting($0).unique(by: #function) }
        stage.queue.add(all)
        stage.steps.runAll()
        #expect(stage.ran == ["a"])
        #expect(all.map(\.outcomeKind) == [.success, .skipped, .skipped])
    }

    @Test("The dependents of a duplicate follow the usual rules")
    func itsDependentsFollowTheUsualRules() {
        let stage = TestQueue()
        let gate = Gate()
        let first = stage.waiting("first", at: gate).unique(by: #function)
        let second = AsyncOperation("second") { 1 }.unique(by: #function)
        let reader = second.then { _ in }
        reader.name = "reader"
        let after = stage.noting("after", after: second)
        let onSuccess = stage.noting("on success").addDependency(second, on: .success)
        stage.run(first, second, reader, after, onSuccess)
        #expect(stage.ran == ["first", "after"])
        #expect(onSuccess.error?.outcome == .skipped)
        #expect(reader.ending.hasPrefix("needs second via second"))
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    enum End: CaseIterable {
        case success, failure, cancelInRun, cancelBefore, unmetPolicy, closedDoor, cycle, release, missingInput
    }

    @Test(arguments: End.allCases, UniquenessPolicy.allCases)
    func theIdentityIsFreeAgainWhateverTheEnd(end: End, policy: UniquenessPolicy) async {
        let stage = TestQueue(isSuspended: end == .cancelBefore)
        let key = "\(#function) \(end) \(policy)"
        let failing = AsyncOperation<Int>("failing") { throw Oops() }
        var first = AsyncOperation("first") { [log = stage.log] in log("first") }
        switch end {
        case .success: stage.run(first.unique(by: key, policy: policy))
        case .failure:
            first = AsyncOperation("first") { throw Oops() }
            stage.run(first.unique(by: key, policy: policy))
        case .cancelInRun:
            first = AsyncOperation("first") { context in context.operation.cancel() }
            stage.run(first.unique(by: key, policy: policy))
        case .cancelBefore:
            stage.queue.add(first.unique(by: key, policy: policy))
            first.cancel()
            stage.queue.isSuspended = false
        case .unmetPolicy:
            stage.run(first.unique(by: key, policy: policy).addDependency(failing, on: .success), failing)
        case .missingInput:
            first = failing.then { _ in }
            stage.run(first.unique(by: key, policy: policy), failing)
        case .closedDoor:
            let closed = TestQueue()
            closed.steps.task { await closed.queue.drain() }
            closed.steps.runAll()
            closed.run(first.unique(by: key, policy: policy))
            #expect(first.ending == "queueShutDown")
        case .cycle: stage.run(first.unique(by: key, policy: policy).addDependency(first))
        case .release:
            let queue = AsyncOperationQueue(isSuspended: true)
            queue.add(first.unique(by: key, policy: policy))
        }
        #expect(first.hasFinished, "\(first)")
        let second = stage.noting("second").unique(by: key, policy: policy)
        stage.run(second)
        #expect(stage.ran.last == "second")
        #expect(second.ending == "success")
    }

    @Test func theBodyOfADependentFindsTheIdentityFree() {
        let stage = TestQueue()
        let first = stage.noting("first").unique(by: #function)
        let after = AsyncOperation("after") { [stage] in
            stage.queue.add(stage.noting("second").unique(by: #function))
        }.addDependency(first)
        stage.run(first, after)
        #expect(stage.ran == ["first", "second"])
    }

    /// The dependent is on another queue, whose worker starts it while the first operation still releases its other
    /// dependents.
    @Test(arguments: UniquenessPolicy.allCases)
    func aDependentThatRunsInsideTheFinishFindsItFreeToo(policy: UniquenessPolicy) {
        let stage = TestQueue()
        let key = "\(#function) \(policy)"
        let first = stage.noting("first").unique(by: key)
        let second = stage.noting("second").unique(by: key, policy: policy)
        let elsewhere = AsyncOperationQueue(executor: ImmediateExecutor())
        elsewhere.add(AsyncOperation { [queue = stage.queue] in queue.add(second) }.addDependency(first))
        stage.run(first)
        #expect(stage.ran == ["first", "second"])
        #expect(second.ending == "success")
    }

    // MARK: Deduplication

    @Test func theIdentityIsTheTypeOfTheProcedureAndTheKey() {
        let stage = TestQueue(isSuspended: true)
        let operations: [AnyOperation] = [
            AsyncOperation(Work(log: stage.log)).unique(by: #function),
            AsyncOperation(OtherWork(log: stage.log)).unique(by: #function),
            AsyncOperation(Work(log: stage.log)).unique(by: #function + "2"),
            AsyncOperation(Work(log: stage.log)).unique(by: #function),
        ]
        stage.queue.add(operations)
        #expect(operations.map { $0.error?.outcome } == [nil, nil, nil, .skipped])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["work", "other work", "work"])
    }

    @Test func closuresShareTheNamespaceWithoutAName() {
        let stage = TestQueue(isSuspended: true)
        let operations: [AnyOperation] = [
            AsyncOperation { 1 }.unique(by: #function), AsyncOperation { "one" }.unique(by: #function),
            AsyncOperation(Work(log: stage.log)).unique(by: #function, in: ""),
            AsyncOperation(Work(log: stage.log)).unique(by: #function),
        ]
        stage.queue.add(operations)
        #expect(operations.map { $0.error?.outcome } == [nil, .skipped, .skipped, nil])
        stage.queue.cancelAll()
    }

    @Test func aNamespaceOfThatNameIsSharedByAll() {
        let stage = TestQueue(isSuspended: true)
        let operations: [AnyOperation] = [
            AsyncOperation { 1 }.unique(by: 1, in: #function),
            AsyncOperation { 1 }.unique(by: 1, in: #function + "2"),
            AsyncOperation(Work(log: stage.log)).unique(by: 1, in: #function),
            AsyncOperation { 1 }.unique(by: 1.0, in: #function),
        ]
        stage.queue.add(operations)
        #expect(
            operations.map { $0.error?.outcome } == [nil, nil, .skipped, nil],
            "Keys of different types are not equal.")
        stage.queue.cancelAll()
    }

    // MARK: Calls of `unique`

    @Test func theLastCallCounts() {
        let stage = TestQueue(isSuspended: true)
        let first = stage.noting("first").unique(by: #function)
        let second = stage.noting("second").unique(by: #function, policy: .join).unique(by: #function + "2")
        stage.queue.add(first, second)
        #expect(second.state == .ready)
        stage.queue.cancelAll()
    }

    @Test func afterTheAddItIsMisuse() {
        let stage = TestQueue()
        let gate = Gate()
        let first = stage.waiting("first", at: gate)
        stage.run(first)
        first.unique(by: #function)
        stage.run(stage.noting("second").unique(by: #function))
        #expect(stage.ran == ["first", "second"])
        #expect(stage.misuseKinds == [.changedAfterAdding("its uniqueness")])
        #expect(stage.misuses.events.first?.callSite?.contains("RejectTests.swift") == true)
        gate.open()
        stage.steps.runAll()
    }

    @Test func addedTwiceItIsMisuseAndNoDuplicateOfItself() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("operation").unique(by: #function)
        stage.queue.add(operation)
        stage.queue.add(operation)
        operation.add(to: stage.queue)
        #expect(stage.misuseKinds == [.addedTwice, .addedTwice])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(operation.ending == "success")
    }
}
