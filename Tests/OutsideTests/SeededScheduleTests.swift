import Baton
import BatonTesting
import Testing

@Suite("Failures of seeded schedules")
struct SeededScheduleTests {
    private struct Oops: Error {}

    @Test("A failure is thrown, and is not printed as well")
    func failureIsPrintedOnce() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let failure = await #expect(throws: ScheduleFailure.self) {
                try await exploring(seed: 7) { _ in throw Oops() }
            }
            precondition("\(failure!)".contains("BATON_SEED=7"))
        }
        #expect(!String(decoding: try #require(result).standardOutputContent, as: UTF8.self).contains("under seed"))
    }

    @Test("The description of a failed requirement does not contain its macro expansion")
    func requirement() async throws {
        try await withKnownIssue {
            do {
                try await exploring(seed: 7) { scheduler in
                    let sum = 1 + scheduler.random(in: 1..<2)
                    try #require(sum == 3)
                }
            } catch {
                #expect("\(error)".count < 300 && !"\(error)".contains("__"), "\(error)")
                throw error
            }
        } matching: { issue in
            // The known issues are the requirement and the error of the body, but not the expectation about the text.
            !"\(issue)".contains("count < 300")
        }
    }

    @Test("A schedule that is stuck names the operations and what they wait for")
    func stuckNamesOperations() async throws {
        let error = await #expect(throws: ScheduleError.self) {
            try await SeededScheduler(seed: 1).run { scheduler in
                let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
                let forgotten = AsyncOperation("forgotten") {}
                let waiting = AsyncOperation("waiting") {}.addDependency(forgotten)
                queue.add(waiting)
                _ = try? await waiting.value
            }
        }
        let text = "\(try #require(error))"
        #expect(text.contains("stuck under seed 1"))
        #expect(text.contains("‘forgotten’"), "\(text)")
        #expect(error == .stuck(seed: 1))
    }

    @Test("The failure of a stuck schedule names its seed once, and ends with one explanation")
    func stuckEndsWithTheExplanation() async throws {
        let texts = Guarded<[String]>([])
        let error = await #expect(throws: ScheduleFailure.self) {
            try await exploring(schedules: 3) { scheduler in
                let queues = (0..<2).map { _ in
                    AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
                }
                let forgotten = AsyncOperation("forgotten") {}
                // Operations of two queues wait for each other, and ultimately for an operation that is never added.
                let near = AsyncOperation("near") {}.addDependency(forgotten)
                let middle = AsyncOperation("middle") {}.addDependency(near)
                let far = AsyncOperation("far") {}.addDependency(middle)
                queues[0].add(near)
                queues[1].add(middle)
                queues[0].add(far)
                texts.withLock { $0 = [far.explain().description] }
                _ = try? await far.value
            }
        }
        let text = "\(try #require(error))"
        let explanation = try #require(texts.withLock { $0 }.first)
        #expect(text.hasSuffix("\n- \(explanation)"), "\(text)")
        for word in ["stuck", "under seed 1", "‘forgotten’ was not added"] {
            #expect(text.ranges(of: word).count == 1, "\(word) in \(text)")
        }
        #expect(text.contains("BATON_SEED=1"))
    }

    @Test("Ten of very many stuck operations are explained")
    func stuckExplainsEnough() async throws {
        let gate = Gate()
        let error = await #expect(throws: ScheduleError.self) {
            try await SeededScheduler(seed: 1).run { scheduler in
                let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
                for number in 0..<25 { queue.add("body \(number)") { await gate.wait() } }
                await queue.waitUntilIdle()
            }
        }
        gate.open()
        guard case .stuck(_, let waits)? = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(waits.count == 11)
        #expect(waits.last == "Other operations have not finished either.")
        #expect(Set(waits).count == 11)
    }

    @Test("A queue without the scheduler as its executor is named as a possible cause")
    func stuckBehindAnotherExecutor() async throws {
        let gate = Gate()
        let error = await #expect(throws: ScheduleError.self) {
            try await SeededScheduler(seed: 1).run { scheduler in
                let queue = AsyncOperationQueue(clock: scheduler.clock)
                queue.add("elsewhere") { await gate.wait() }
                await queue.waitUntilIdle()
            }
        }
        gate.open()
        #expect(error == .stuck(seed: 1))
        #expect("\(try #require(error))".contains("a queue that was made without `executor: scheduler`"))
    }

    @Test("A body elsewhere that holds an exclusion is named as a possible cause")
    func stuckBehindAnExclusion() async throws {
        let gate = Gate()
        let holder = AsyncOperation("holder of another test") { await gate.wait() }
            .addCondition(.limited("SeededScheduleTests", to: 1))
        AsyncOperationQueue.shared.add(holder)
        await gate.waitForWaiters(count: 1)
        let error = await #expect(throws: ScheduleError.self) {
            try await SeededScheduler(seed: 1).run { scheduler in
                let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
                let mine = AsyncOperation("mine") {}
                    .addCondition(.limited("SeededScheduleTests", to: 1, within: .process))
                queue.add(mine)
                _ = try? await mine.value
            }
        }
        let text = "\(try #require(error))"
        #expect(text.contains("‘holder of another test’"), "\(text)")
        #expect(text.contains("exclusion") && text.contains("another test"), "\(text)")
        gate.open()
        _ = try await holder.value
    }

    @Test("Two seeded schedules that run at once do not join each other's operations", arguments: [true, false])
    func identitiesAreTheirOwn(isOutsideSeeded: Bool) async throws {
        let gate = Gate()
        let outside =
            isOutsideSeeded
            ? nil
            : AsyncOperation("outside") { () async -> Int in
                await gate.wait()
                return -1
            }.unique(by: "SeededScheduleTests", policy: .join)
        if let outside {
            AsyncOperationQueue.shared.add(outside)
            await gate.waitForWaiters(count: 1)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...8 {
                group.addTask {
                    try await exploring(schedules: 20) { scheduler in
                        let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
                        let operations = (0..<3).map { _ in
                            AsyncOperation { () async throws -> Int in
                                try await scheduler.clock.sleep(for: .seconds(1))
                                return number
                            }.unique(by: "SeededScheduleTests", policy: .join)
                        }
                        queue.add(operations)
                        for operation in operations { try #require(try await operation.value == number) }
                    }
                }
            }
            try await group.waitForAll()
        }
        gate.open()
        _ = try await outside?.value
    }

    @Test("The handlers of a child that is cancelled with its group before the start run on the scheduler")
    func handlersOfUnaddedChild() async throws {
        try await exploring(schedules: 20) { scheduler in
            let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
            let handlerHasRun = Gate()
            let child = AsyncOperation("child") { 1 }
            child.willFinish { _ in await Task.yield() }.didFinish { _ in
                await Task.yield()
                handlerHasRun.open()
            }
            let after = AsyncOperation("after") {}.addDependency(child)
            let group = GroupOperation("group", GroupOperation(child))
            queue.isSuspended = true
            queue.add(group, after)
            group.cancel()
            queue.isSuspended = false
            try await after.value
            await handlerHasRun.wait()
        }
    }

    @Test("The handlers of a dependency that is cancelled, and that nobody has added, run on the scheduler")
    func handlersOfUnaddedDependency() async throws {
        try await exploring(schedules: 20) { scheduler in
            let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
            let handlerHasRun = Gate()
            let source = AsyncOperation("source") {}.willFinish { _ in }.didFinish { _ in handlerHasRun.open() }
            let operation = AsyncOperation("operation") {}.addDependency(source)
            queue.add(operation)
            operation.cancel(includingDependencies: true)
            await handlerHasRun.wait()
        }
    }

    private struct YieldingObserver: OperationObserver {
        let gate = Gate()

        func observe(_ event: OperationEvent) async {
            await Task.yield()
            if case .finished = event.kind { gate.open() }
        }
    }

    @Test("An observer that an operation gets before its add is called on the scheduler", arguments: [true, false])
    func observersOfUnaddedOperation(isAddedLater: Bool) async throws {
        try await exploring(schedules: 20) { scheduler in
            let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
            let observer = YieldingObserver()
            let operation = AsyncOperation("operation") {}.addObserver(observer)
            if isAddedLater { queue.add(operation) } else { operation.cancel() }
            await observer.gate.wait()
        }
    }

    /// Returns the order in which bodies run in a graph that has too many waits for an immediate deadlock search.
    private func order(seed: UInt64) async throws -> [Int] {
        let log = Guarded<[Int]>([])
        try await SeededScheduler(seed: seed).run { scheduler in
            let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
            let sources = (0..<400).map { number in
                AsyncOperation {
                    await Task.yield()
                    log.withLock { $0.append(number) }
                }
            }
            let target = AsyncOperation {}
            for source in sources { target.addDependency(source) }
            let waiter = AsyncOperation { try await target.value }
            let dependents = (0..<400).map { number in
                AsyncOperation { log.withLock { $0.append(number) } }.addDependency(waiter)
            }
            queue.add([waiter, target] + sources + dependents)
            await queue.waitUntilIdle()
        }
        return log.withLock { $0 }
    }

    @Test("A schedule does not depend on waits elsewhere in the process")
    func whatWaitsElsewhere() async throws {
        let alone = try await order(seed: 5)
        let gate = Gate()
        let queue = AsyncOperationQueue()
        let awaited = AsyncOperation { await gate.wait() }
        let name = Exclusion.mutuallyExclusive("SeededScheduleTests")
        let holder = AsyncOperation { try await $0.run(awaited) }.addCondition(name)
        let second = AsyncOperation {}.addCondition(name)
        queue.add([holder, second])
        await gate.waitForWaiters(count: 1)
        let beside = try await order(seed: 5)
        #expect(alone.count == 800 && alone == beside)
        gate.open()
        try await second.value
    }
}
