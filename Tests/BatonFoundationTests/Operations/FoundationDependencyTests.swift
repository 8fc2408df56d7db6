import Baton
import BatonFoundation
import BatonTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct FoundationDependencyTests {
    let foundation = OperationQueue()
    let queue = AsyncOperationQueue()
    let log = EventLog<String>()

    @Test("An operation starts when its Foundation dependency has finished")
    func itStartsWhenTheFoundationOperationHasFinished() async throws {
        let source = HandOperation("source")
        let operation = AsyncOperation("ours") { source.isFinished }.addDependency(source)
        queue.add(operation)
        foundation.addOperation(source)
        await source.started.wait()
        #expect(operation.state == .waiting)
        source.finish()
        #expect(try await operation.value)
    }

    @Test("A Foundation dependency that has finished before is not waited for")
    func oneThatHasFinishedBeforeIsNotWaitedFor() async throws {
        let source = BlockOperation {}
        source.start()
        #expect(try await queue.run(AsyncOperation { 1 }.addDependency(source)) == 1)
        let cancelled = HandOperation()
        cancelled.cancel()
        cancelled.start()
        let after = AsyncOperation { 2 }.addDependency(cancelled, on: .success)
        let failure = await run(after, on: queue).failure
        #expect(failure?.description.hasSuffix("was cancelled, and the dependency asks for a success") == true)
    }

    /// The operation finishes without a KVO notification, as some operations do that are started manually.
    @Test("A Foundation dependency that finishes without a KVO notification is not waited for")
    func oneThatFoundationDoesNotKnowToBeFinishedIsAsked() async throws {
        final class Silent: Foundation.Operation, @unchecked Sendable {
            override var isFinished: Bool { true }
        }
        #expect(try await queue.run(AsyncOperation { 1 }.addDependency(Silent())) == 1)
    }

    @Test func aCancelledOneIsACancelledDependency() async throws {
        let source = HandOperation("source")
        let onSuccess = AsyncOperation("on success") { 1 }.addDependency(source, on: .success)
        let onFailure = AsyncOperation("on failure") { 2 }.addDependency(source, on: .failure)
        let whatever = AsyncOperation("whatever") { 3 }.addDependency(source)
        let strict = AsyncOperation("strict") { 4 }.addDependency(source).addCondition(NoCancelledDependencies())
        queue.add(onSuccess, onFailure, whatever, strict)
        foundation.addOperation(source)
        await source.started.wait()
        source.cancel()
        #expect(try await whatever.value == 3)
        await #expect(throws: OperationError.self) { try await onSuccess.value }
        await #expect(throws: OperationError.self) { try await onFailure.value }
        await #expect(throws: OperationError.self) { try await strict.value }
        for operation in [onSuccess, onFailure] {
            guard case .skipped(.edge(let named, .cancelled))? = operation.error else {
                Issue.record("\(operation)")
                continue
            }
            #expect(named.name == "source")
        }
        #expect(strict.error?.stage == .condition)
    }

    @Test("A Foundation dependency that has finished counts as a success")
    func oneThatHasFinishedHasSucceeded() async throws {
        let source = BlockOperation {}
        let onSuccess = AsyncOperation { 1 }.addDependency(source, on: .success)
        let onFailure = AsyncOperation { 2 }.addDependency(source, on: .failure)
        foundation.addOperation(source)
        #expect(await run(onSuccess, on: queue).success == 1)
        #expect(await run(onFailure, on: queue).failure?.outcomeIsSkip == true)
    }

    @Test("Thousands of operations may depend on one Foundation operation")
    func oneCanBeADependencyOfThousands() async throws {
        let source = HandOperation("source")
        let all = (0..<1000).map { number in AsyncOperation { number }.addDependency(source) }
        queue.add(all)
        foundation.addOperation(source)
        await source.started.wait()
        #expect(queue.operationCount == 1000)
        source.finish()
        for (number, operation) in all.enumerated() { #expect(try await operation.value == number) }
        #expect(source.dependencies.isEmpty)
    }

    @Test("An operation may have many Foundation dependencies")
    func oneOfOursCanHaveManyOfThem() async throws {
        let sources = (0..<100).map { _ in HandOperation() }
        let operation = AsyncOperation { sources.allSatisfy(\.isFinished) }
        for source in sources { operation.addDependency(source) }
        queue.add(operation)
        for source in sources { foundation.addOperation(source) }
        for source in sources {
            await source.started.wait()
            source.finish()
        }
        #expect(try await operation.value)
    }

    @Test func anExplanationNamesWhatNobodyAdds() async {
        let forgotten = HandOperation("forgotten")
        let operation = AsyncOperation("ours") { 1 }.addDependency(forgotten)
        queue.add(operation)
        let standIn = operation.dependencies[0]
        // The stand-in begins to wait on a task of its own.
        while !"\(standIn.explain())".contains("waits for the answer") { await Task.yield() }
        #expect(
            "\(operation.explain())"
                == "‘ours’ waits for ‘forgotten’. ‘forgotten’ waits for the answer of the condition ‘the Foundation "
                + "operation has finished (it has not begun: add it to an OperationQueue that is not "
                + "suspended, or start it)’: its `evaluate` has not returned."
        )
        operation.cancel()
    }

    @Test func withoutANameItIsCalledAfterItsType() {
        let operation = AsyncOperation { 1 }.addDependency(HandOperation())
        #expect(operation.dependencies.map(\.name) == ["HandOperation"])
    }

    @Test("A wait for a Foundation dependency holds no permit")
    func itHoldsNoPermit() async throws {
        let narrow = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let source = HandOperation()
        let operation = AsyncOperation { 1 }.addDependency(source)
        async let value = narrow.run(operation)
        for number in 0..<10 { #expect(try await narrow.run(AsyncOperation { number }) == number) }
        foundation.addOperation(source)
        await source.started.wait()
        source.finish()
        #expect(try await value == 1)
    }

    @Test("The completion block of a Foundation dependency is left alone")
    func itsCompletionBlockIsLeftAlone() async throws {
        let source = HandOperation()
        source.completionBlock = { [log] in log("completed") }
        let operation = AsyncOperation { 1 }.addDependency(source)
        queue.add(operation)
        foundation.addOperation(source)
        await source.started.wait()
        source.finish()
        #expect(try await operation.value == 1)
        await log.waitForCount(1)
        #expect(log.events == ["completed"])
    }

    @Test func afterTheAddItIsMisuse() async throws {
        let misuses = EventLog<Misuse.Kind>()
        let queue = AsyncOperationQueue(isSuspended: true, onMisuse: { misuses($0.kind) })
        let operation = AsyncOperation { 1 }
        queue.add(operation)
        operation.addDependency(HandOperation("late", notingItsRelease: log))
        #expect(misuses.events == [.changedAfterAdding("the dependency on ‘late’")])
        queue.isSuspended = false
        #expect(try await operation.value == 1)
        await log.waitForCount(1)
    }

    // MARK: Lifetime

    @Test func aCancelLetsGoOfOneThatNeverFinishes() async {
        do {
            let operation = AsyncOperation { 1 }.addDependency(HandOperation("source", notingItsRelease: log))
            queue.add(operation)
            operation.cancel()
        }
        await log.waitForCount(1)
        #expect(log.events == ["source was released"])
    }

    @Test("An operation that is released releases its Foundation dependency")
    func oneOfOursThatIsReleasedLetsGoOfIt() async {
        do {
            let operation = AsyncOperation { 1 }
            operation.addDependency(HandOperation("source", notingItsRelease: log))
        }
        await log.waitForCount(1)
        #expect(log.events == ["source was released"])
    }

    @Test("A Foundation dependency does not keep a released dependent alive")
    func itHoldsNothingOfOursWhenThatIsReleased() async {
        let source = HandOperation("source")
        do {
            let witness = Witness("ours", log)
            let operation = AsyncOperation { witness.touch() }
            operation.addDependency(source)
        }
        await log.waitForCount(1)
        #expect(log.events == ["ours was released"])
        source.cancel()
    }

    @Test("A Foundation dependency does not keep a cancelled dependent alive")
    func itHoldsNothingOfOursWhenThatIsCancelled() async {
        let source = HandOperation("source")
        let operation: AsyncOperation<Void>
        do {
            let witness = Witness("ours", log)
            operation = AsyncOperation { witness.touch() }
        }
        operation.addDependency(source)
        queue.add(operation)
        operation.cancel()
        await log.waitForCount(1)
        #expect(log.events == ["ours was released"])
        source.cancel()
    }

    /// On Linux, Foundation would otherwise access a dependent that has been deallocated.
    @Test("A Foundation dependency may finish long after all dependents were cancelled")
    func itMayFinishLongAfterAllOfOursWereCancelled() async {
        for _ in 0..<100 {
            let source = HandOperation("source")
            let standIns = (0..<10).map { _ in
                let operation = AsyncOperation { 1 }.addDependency(source)
                queue.add(operation)
                operation.cancel()
                return Weak(operation)
            }
            #expect(standIns.count == 10)
            OperationQueue().addOperation(source)
            await source.started.wait()
            source.finish()
            await foundationEnd(of: source)
        }
    }

    @Test func aCancelAndTheEndMayCross() async {
        for round in 0..<300 {
            let source = HandOperation("source")
            let operation = AsyncOperation { 1 }.addDependency(source)
            queue.add(operation)
            foundation.addOperation(source)
            await source.started.wait()
            async let cancel: Void = operation.cancel()
            async let finish: Void = source.finish()
            _ = await (cancel, finish)
            let result = await run(operation, on: queue)
            #expect(result.success == 1 || result.cancellation != nil, "round \(round)")
        }
        await isEmpty(foundation)
    }

    @Test func aThousandRoundsLeaveNothing() async {
        for round in 0..<1000 {
            let source = HandOperation("source", notingItsRelease: log)
            let witness = Witness("ours", log)
            let operation = AsyncOperation { witness.touch() }.addDependency(source)
            switch round % 4 {
            case 0:
                queue.add(operation)
                foundation.addOperation(source)
                await source.started.wait()
                source.finish()
            case 1:
                queue.add(operation)
                operation.cancel()
            case 2:
                queue.add(operation)
                foundation.addOperation(source)
                source.cancel()
            default: break
            }
        }
        await log.waitForCount(2000)
        await queue.waitUntilIdle()
        #expect(queue.operationCount == 0)
        await isEmpty(foundation)
    }
}

private struct Weak {
    weak var operation: AnyOperation?
    init(_ operation: AnyOperation) { self.operation = operation }
}

extension Result {
    var success: Success? { try? get() }
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension OperationError {
    var outcomeIsSkip: Bool { if case .skipped = self { true } else { false } }
}
