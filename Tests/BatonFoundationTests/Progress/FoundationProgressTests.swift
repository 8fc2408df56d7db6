import Baton
import BatonFoundation
import BatonTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct FoundationProgressTests {
    let queue = AsyncOperationQueue()
    let log = EventLog<String>()

    /// Gates that separate the steps of a body, so that the test can check the progress after each.
    struct Steps: Sendable {
        let gates: [Gate]
        init(_ count: Int) { gates = (0..<count).map { _ in Gate() } }
    }

    @Test("A Foundation progress follows the operation")
    func itFollowsTheOperation() async throws {
        let steps = Steps(3)
        let operation = AsyncOperation("ours") { context in
            await steps.gates[0].wait()
            context.progress.report(completed: 3, of: 10)
            await steps.gates[1].wait()
            context.progress.report(completed: 10, of: 10)
            await steps.gates[2].wait()
        }
        let progress = operation.foundationProgress
        #expect(progress.isIndeterminate && progress.isCancellable && !progress.isPausable)
        queue.add(operation)
        steps.gates[0].open()
        await says(progress, 3, of: 10)
        #expect(progress.fractionCompleted == 0.3)
        steps.gates[1].open()
        // All units are completed, but the operation has not finished.
        await says(progress, 9999, of: 10000)
        #expect(!progress.isFinished)
        steps.gates[2].open()
        try await operation.value
        await says(progress, 10, of: 10)
        #expect(progress.isFinished && !progress.isCancelled)
    }

    @Test("A Foundation progress counts the progress of children")
    func itCountsWhatChildrenHaveReached() async throws {
        let gate = Gate()
        let child = AsyncOperation("child") { context in
            context.progress.report(completed: 1, of: 4)
            await gate.wait()
        }
        let group = GroupOperation(child, AsyncOperation("other") { await gate.wait() })
        let progress = group.foundationProgress
        queue.add(group)
        await says(progress, 250, of: 2000)
        gate.open()
        try await group.value
        await says(progress, 2, of: 2)
    }

    @Test("The progress of an operation that never sets a total is finished at the end", arguments: [0, 7])
    func oneThatNeverSaysItsTotalIsFinishedInTheEnd(count: Int) async throws {
        let operation = AsyncOperation("ours") { context in context.progress.completedUnitCount = count }
        let progress = operation.foundationProgress
        try await queue.run(operation)
        await says(progress, Int64(max(count, 1)), of: Int64(max(count, 1)))
        #expect(progress.isFinished && progress.fractionCompleted == 1)
    }

    @Test func aFailureLeavesItWhereItWas() async {
        let operation = AsyncOperation("ours") { context in
            context.progress.report(completed: 3, of: 10)
            throw Oops()
        }
        let progress = operation.foundationProgress
        await run(operation, on: queue)
        await says(progress, 3, of: 10)
        #expect(!progress.isFinished && !progress.isCancelled)
    }

    @Test("A Foundation progress shows an operation that has finished before")
    func oneThatHasFinishedBeforeIsShown() async throws {
        let operation = AsyncOperation("ours") { context in context.progress.report(completed: 3, of: 10) }
        try await queue.run(operation)
        let progress = operation.foundationProgress
        #expect(progress.completedUnitCount == 10 && progress.totalUnitCount == 10)
    }

    @Test("A Foundation progress counts in a parent progress")
    func itCountsInAParent() async throws {
        let gate = Gate()
        let operations = (0..<20).map { number in
            AsyncOperation("ours \(number)") { context in
                context.progress.report(completed: 1, of: 2)
                await gate.wait()
            }
        }
        let parent = Progress.discreteProgress(totalUnitCount: -1)
        parent.totalUnitCount = 20
        let children = operations.map(\.foundationProgress)
        for child in children { parent.addChild(child, withPendingUnitCount: 1) }
        queue.add(operations)
        for child in children { await says(child, 1, of: 2) }
        #expect(abs(parent.fractionCompleted - 0.5) < 1e-9)
        gate.open()
        for operation in operations { try await operation.value }
        for child in children { await says(child, 2, of: 2) }
        #expect(parent.isFinished)
        #expect(parent.completedUnitCount == 20)
    }

    @Test("A Foundation progress does not become a child of the current progress")
    func itIsNoChildOfWhatIsCurrentWhereItIsMade() {
        let current = Progress.discreteProgress(totalUnitCount: -1)
        current.totalUnitCount = 10
        current.becomeCurrent(withPendingUnitCount: 10)
        let progress = AsyncOperation {}.foundationProgress
        progress.completedUnitCount = 1
        progress.totalUnitCount = 2
        #expect(current.fractionCompleted == 0)
        current.resignCurrent()
    }

    // MARK: Cancelling

    @Test(arguments: [true, false]) func cancellingItCancelsTheOperation(throughParent: Bool) async {
        let gate = Gate()
        let operation = AsyncOperation("ours") { try await gate.waitUnlessCancelled() }
        let progress = operation.foundationProgress
        let parent = Progress.discreteProgress(totalUnitCount: -1)
        parent.totalUnitCount = 1
        if throughParent { parent.addChild(progress, withPendingUnitCount: 1) }
        queue.add(operation)
        await gate.waitForWaiters(count: 1)
        if throughParent { parent.cancel() } else { progress.cancel() }
        let result = await run(operation, on: queue)
        #expect(result.cancellation == "because its progress in Foundation was cancelled")
    }

    @Test func cancellingTheOperationCancelsIt() async {
        let operation = AsyncOperation("ours") { 7 }
        let progress = operation.foundationProgress
        let cancelled = Gate()
        operation.cancel()
        operation.didCancel { _ in cancelled.open() }
        await cancelled.wait()
        #expect(progress.isCancelled)
    }

    // MARK: Lifetime

    @Test("An operation has the same Foundation progress as long as somebody retains it")
    func itIsTheSameOneAsLongAsSomebodyKeepsIt() {
        let operation = AsyncOperation("ours") { 7 }
        let progress = operation.foundationProgress
        #expect(operation.foundationProgress === progress)
        #expect(AsyncOperation("other") { 7 }.foundationProgress !== progress)
    }

    @Test("A Foundation progress does not retain the operation")
    func itDoesNotKeepTheOperation() {
        var operation: AsyncOperation<Int>? = AsyncOperation("ours") { 7 }
        weak let held = operation
        let progress = operation?.foundationProgress
        operation = nil
        #expect(held == nil)
        progress?.cancel()
    }

    @Test func theOperationDoesNotKeepIt() async {
        let operation = AsyncOperation("ours") { 7 }
        weak let held = operation.foundationProgress
        #expect(held == nil)
        // A task that is about to publish a report may still retain the progress.
        for _ in 0..<100 { _ = operation.foundationProgress }
        #expect(await run(operation, on: queue).success == 7)
    }

    /// A call of `report(completed:of:)`.
    struct Report: Sendable {
        let completed: Int
        let total: Int?
        init(_ completed: Int, of total: Int?) { (self.completed, self.total) = (completed, total) }
    }

    /// If a progress seemed to be finished, its parent would count it permanently.
    @Test(arguments: [
        [Report(5, of: nil), Report(1, of: 3)], [Report(5, of: 10), Report(12, of: nil)],
        [Report(5, of: 10), Report(2, of: 3)], [Report(1, of: 3), Report(5, of: 10)],
    ])
    func itNeverSeemsToBeFinishedInBetween(_ reports: [Report]) async throws {
        let steps = Steps(2)
        let operation = AsyncOperation("ours") { context in
            for (report, gate) in zip(reports, steps.gates) {
                context.progress.report(completed: report.completed, of: report.total)
                await gate.wait()
            }
        }
        let parent = Progress(totalUnitCount: 10)
        let progress = operation.foundationProgress
        parent.addChild(progress, withPendingUnitCount: 10)
        queue.add(operation)
        await says(progress, Int64(reports[0].completed), of: Int64(reports[0].total ?? -1))
        steps.gates[0].open()
        await says(progress, Int64(reports[1].completed), of: Int64(reports[1].total ?? -1))
        #expect(!parent.isFinished && parent.completedUnitCount == 0)
        steps.gates[1].open()
        try await operation.value
    }

    /// Returns when the progress has these counts. It polls, because Foundation sends no notifications on Linux.
    private func says(_ progress: Progress, _ completed: Int64, of total: Int64) async {
        while progress.completedUnitCount != completed || progress.totalUnitCount != total { await Task.yield() }
    }
}
