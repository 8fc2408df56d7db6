import Baton
import BatonFoundation
import BatonTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct FollowedProgressTests {
    let queue = AsyncOperationQueue()
    let clock = TestClock()

    @Test("A followed progress is reported once in each interval")
    func itIsReportedInEachInterval() async throws {
        let (progress, gate) = (Progress.discreteProgress(totalUnitCount: -1), Gate())
        let operation = AsyncOperation("ours") { [clock] context in
            await context.follow(progress, every: .seconds(1), clock: clock) { await gate.wait() }
        }
        queue.add(operation)
        await clock.waitForSleepers(count: 1)
        #expect(operation.progress.totalUnitCount == nil)
        progress.totalUnitCount = 10
        progress.completedUnitCount = 3
        #expect(operation.progress.fractionCompleted == 0)
        clock.advance(by: .seconds(1))
        await clock.waitForSleepers(count: 1)
        #expect("\(operation.progress)" == "3 of 10 (30 %)")
        gate.open()
        try await operation.value
        #expect(clock.sleeperCount == 0)
    }

    @Test func theLastWordIsHeardWhateverTheInterval() async throws {
        let progress = Progress.discreteProgress(totalUnitCount: -1)
        let seen = EventLog<OperationProgress>()
        let operation = AsyncOperation("ours") { [clock] context in
            let value = await context.follow(progress, clock: clock) {
                progress.totalUnitCount = 4
                progress.completedUnitCount = 3
                return 7
            }
            seen(context.operation.progress)
            return value
        }
        #expect(try await queue.run(operation) == 7)
        #expect(seen.events.map(\.description) == ["3 of 4 (75 %)"])
    }

    /// AddressSanitizer finds a use of the released queue.
    @Test("A context that is kept follows a progress after the release of its queue")
    func keptContext() async throws {
        let contexts = EventLog<OperationContext>()
        do {
            let queue = AsyncOperationQueue()
            try await queue.run(AsyncOperation("ours") { context in contexts(context) })
            await queue.waitUntilIdle()
        }
        let progress = Progress.discreteProgress(totalUnitCount: 1)
        #expect(await contexts.events[0].follow(progress, clock: clock) { 7 } == 7)
    }

    @Test func unitsOfItsChildrenCount() async throws {
        let progress = Progress.discreteProgress(totalUnitCount: -1)
        let child = Progress.discreteProgress(totalUnitCount: -1)
        progress.totalUnitCount = 2
        child.totalUnitCount = 4
        progress.addChild(child, withPendingUnitCount: 1)
        child.completedUnitCount = 1
        let operation = AsyncOperation("ours") { [clock] context in
            await context.follow(progress, clock: clock) {}
            return context.operation.progress
        }
        let seen = try await queue.run(operation)
        #expect(seen.fractionCompleted == 0.125)
        #expect(seen.completedUnitCount == 250 && seen.totalUnitCount == 2000)
    }

    @Test func aCancelReachesIt() async {
        let (progress, gate) = (Progress.discreteProgress(totalUnitCount: -1), Gate())
        let operation = AsyncOperation("ours") { [clock] context in
            try await context.follow(progress, clock: clock) { try await gate.waitUnlessCancelled() }
        }
        queue.add(operation)
        await gate.waitForWaiters(count: 1)
        operation.cancel()
        #expect(await run(operation, on: queue).cancellation == "on request")
        #expect(progress.isCancelled)
    }

    @Test("Cancelling a followed progress cancels the operation")
    func itsCancelReachesTheOperation() async {
        let (progress, gate) = (Progress.discreteProgress(totalUnitCount: -1), Gate())
        let operation = AsyncOperation("ours") { [clock] context in
            try await context.follow(progress, clock: clock) { try await gate.waitUnlessCancelled() }
        }
        queue.add(operation)
        await clock.waitForSleepers(count: 1)
        progress.cancel()
        clock.advance(by: .milliseconds(100))
        #expect(
            await run(operation, on: queue).cancellation == "because the progress that it follows was cancelled")
    }

    @Test func anErrorOfTheBodyIsThrown() async {
        let operation = AsyncOperation("ours") { [clock] context in
            try await context.follow(Progress.discreteProgress(totalUnitCount: -1), clock: clock) { throw Oops() }
        }
        #expect(await run(operation, on: queue).failure?.underlyingError as? Oops == Oops())
        #expect(clock.sleeperCount == 0)
    }

    @Test(arguments: [.zero, .seconds(-1)] as [Duration]) func anIntervalThatIsNoneIsAMillisecond(_ interval: Duration)
        async throws
    {
        let (progress, gate) = (Progress.discreteProgress(totalUnitCount: -1), Gate())
        let operation = AsyncOperation("ours") { [clock] context in
            await context.follow(progress, every: interval, clock: clock) { await gate.wait() }
        }
        queue.add(operation)
        await clock.waitForSleepers(count: 1)
        #expect(clock.nextDeadline == clock.now.advanced(by: .milliseconds(1)))
        gate.open()
        try await operation.value
    }
}
