import BatonTesting
import Testing

@testable import Baton

/// Tests of names and keys that count within a scope.
@Suite(.timeLimit(.minutes(10))) struct ScopeTests {
    private let name = Names("ScopeTests")("x")
    private let steps = StepExecutor()
    private let gate = Gate()

    private func stage(within scope: OperationScope) -> TestQueue {
        let stage = TestQueue(on: steps)
        stage.queue.scope = scope
        return stage
    }

    /// Adds a holder to the first queue, and an operation that wants the same name to the second one. Returns true if
    /// both run at the same time.
    private func bothRun(
        _ first: TestQueue, _ holding: Exclusion, _ second: TestQueue, _ wanting: Exclusion
    ) -> Bool {
        first.run(first.waiting("holder", at: gate).addCondition(holding))
        second.run(second.noting("other").addCondition(wanting))
        #expect(first.ran == ["holder"])
        let bothRun = second.ran == ["other"]
        gate.open()
        steps.runAll()
        #expect(second.ran == ["other"])
        return bothRun
    }

    // MARK: Exclusions

    @Test("Two queues with scopes of their own can hold the same name at the same time", arguments: [true, false])
    func queuesCountByThemselves(isLimited: Bool) {
        let x: Exclusion = isLimited ? .limited(name, to: 1) : .mutuallyExclusive(name)
        #expect(bothRun(stage(within: .queue), x, stage(within: .queue), x))
    }

    @Test("Operations of one queue with a scope of its own exclude one another")
    func oneQueueKeepsApart() {
        let one = stage(within: .queue)
        one.run(one.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name)))
        one.run(one.noting("other").addCondition(.mutuallyExclusive(name)))
        #expect(one.ran == ["holder"])
        gate.open()
        steps.runAll()
        #expect(one.ran == ["holder", "other"])
    }

    @Test("Queues that share a scope exclude one another, and no other queue")
    func sharedScopesMeet() {
        let scope = OperationScope("imports")
        let x = Exclusion.mutuallyExclusive(name)
        #expect(!bothRun(stage(within: scope), x, stage(within: scope), x))
    }

    @Test("Two scopes with the same name are different scopes")
    func scopesOfOneNameAreTwo() {
        let x = Exclusion.mutuallyExclusive(name)
        #expect(OperationScope("imports") != OperationScope("imports"))
        #expect(bothRun(stage(within: OperationScope("imports")), x, stage(within: OperationScope("imports")), x))
    }

    @Test("A name within a scope is independent of the same name within the process")
    func scopeAndProcessDoNotMeet() {
        let x = Exclusion.mutuallyExclusive(name)
        #expect(bothRun(stage(within: OperationScope("imports")), x, stage(within: .process), x))
    }

    @Test("An exclusion overrides the scope of its queue")
    func exclusionsOverride() {
        let scope = OperationScope("imports")
        let x = Exclusion.mutuallyExclusive(name)
        #expect(
            !bothRun(stage(within: scope), x, stage(within: .process), .mutuallyExclusive(name, within: scope)))
    }

    @Test("An exclusion within the process conflicts with those of queues without a scope")
    func exclusionsOverrideWithTheProcess() {
        let x = Exclusion.limited(name, to: 1)
        #expect(
            !bothRun(stage(within: .queue), .limited(name, to: 1, within: .process), stage(within: .process), x))
    }

    @Test("A name that is requested with and without its scope counts once")
    func theSameNameIsOne() {
        let scope = OperationScope("imports")
        let one = stage(within: scope)
        let both = one.waiting("both", at: gate)
        both.addCondition(.mutuallyExclusive(name, mode: .shared))
        both.addCondition(.mutuallyExclusive(name, within: scope))
        one.run(both)
        one.run(one.noting("reader").addCondition(.mutuallyExclusive(name, mode: .shared)))
        #expect(one.ran == ["both"])
        gate.open()
        steps.runAll()
        #expect(one.ran == ["both", "reader"])
    }

    @Test("A child shares the name that its parent holds in the scope")
    func childrenShare() {
        let one = stage(within: OperationScope("imports"))
        let x = Exclusion.mutuallyExclusive(name)
        let parent = AsyncOperation { context in
            try await context.run(one.noting("child").addCondition(x))
            one.log("parent")
        }
        one.run(parent.addCondition(x))
        #expect(one.ran == ["child", "parent"])
    }

    @Test(
        "A claim stays in its scope when its queue gets another one, and when the scope is no longer referenced"
    )
    func scopesMayChangeAndGo() {
        let one = stage(within: OperationScope("imports"))
        let x = Exclusion.mutuallyExclusive(name)
        one.run(one.waiting("holder", at: gate).addCondition(x))
        one.run(one.noting("waiting").addCondition(x))
        one.queue.scope = .queue
        one.run(one.noting("elsewhere").addCondition(x))
        #expect(one.ran == ["holder", "elsewhere"])
        gate.open()
        steps.runAll()
        #expect(one.ran == ["holder", "elsewhere", "waiting"])
    }

    @Test("An explanation names the scope")
    func explanationsNameTheScope() {
        let one = stage(within: OperationScope("imports"))
        let x = Exclusion.mutuallyExclusive("gpu")
        let waiting = one.noting("waiting").addCondition(x)
        one.run(one.waiting("holder", at: gate).addCondition(x))
        one.run(waiting)
        #expect(waiting.explain().description.contains("the exclusion ‘gpu’ within ‘imports’"))
        gate.open()
        steps.runAll()
    }

    // MARK: Unique operations

    @Test("A key counts in the scope of its queue, or in the scope that is given with it")
    func keysCountInTheirScope() {
        let scope = OperationScope("imports")
        let (first, second) = (stage(within: scope), stage(within: .queue))
        func download(_ stage: TestQueue, within own: OperationScope? = nil) -> AsyncOperation<Void> {
            stage.waiting("download", at: gate).unique(by: name, within: own)
        }
        first.run(download(first))
        let again = download(first)
        first.run(again)
        #expect(again.ending.hasPrefix("skipped"))
        let elsewhere = download(second)
        second.run(elsewhere)
        #expect(second.ran == ["download"])
        let override = download(second, within: scope)
        second.run(override)
        #expect(override.ending.hasPrefix("skipped"))
        gate.open()
        steps.runAll()
        let later = download(first)
        first.run(later)
        #expect(later.ending == "success")
    }

    // MARK: Seeded schedules

    @Test("Operations of a seeded schedule are independent of operations outside it")
    func schedulesMeetNobody() async throws {
        let outside = stage(within: .process)
        outside.run(outside.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name)))
        try await exploring(schedules: 20) { [name] scheduler in
            let queues = (0..<2).map { _ in AsyncOperationQueue(executor: scheduler) }
            let inside = EventLog<String>()
            let operations = (0..<6).map { number in
                AsyncOperation {
                    inside("begins")
                    await Task.yield()
                    inside("ends")
                }
                .addCondition(.mutuallyExclusive(name))
            }
            for (index, operation) in operations.enumerated() { operation.add(to: queues[index % 2]) }
            for operation in operations { try await operation.value }
            // The two queues of one schedule share the scope, so their operations exclude one another.
            try #require(inside.events == (0..<6).flatMap { _ in ["begins", "ends"] })
        }
        gate.open()
        steps.runAll()
    }
}
