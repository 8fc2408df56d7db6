import BatonTesting
import Testing

@testable import Baton

/// Tests of cycles through bodies that wait.
@Suite(.timeLimit(.minutes(10))) struct EndlessWaitTests {
    /// Returns a description of the error that the wait of a body threw, independently of the body's outcome.
    private func thrown(_ wait: @escaping @Sendable () async throws(OperationError) -> Void) async -> String {
        do throws(OperationError) {
            try await wait()
            return "nothing"
        } catch { return error.cycleNames.map { "cycle \($0.joined(separator: " "))" } ?? error.inShort }
    }

    @Test(arguments: [1, 2]) func aChildThatDependsOnItsParent(width: Int) {
        let stage = TestQueue(width: width)
        let child = stage.noting("child")
        let parent = AsyncOperation("parent") { context in
            await self.thrown { () throws(OperationError) in try await context.run(child) }
        }
        child.addDependency(parent)
        stage.run(parent, stage.noting("beside"))
        #expect(try! parent.result?.get() == "cycle child parent")
        #expect(child.failure?.cycleNames == ["child", "parent"])
        #expect(stage.ran == ["beside"])
    }

    @Test func aGrandchildThatDependsOnItsGrandparent() {
        let stage = TestQueue(width: 1)
        let grandchild = stage.noting("grandchild")
        let child = AsyncOperation("child") { context in
            await self.thrown { () throws(OperationError) in try await context.run(grandchild) }
        }
        let parent = AsyncOperation("parent") { context in try await context.run(child) }
        grandchild.addDependency(parent)
        stage.run(parent)
        #expect(try! parent.result?.get() == "cycle child grandchild parent")
        #expect(grandchild.failure?.cycleNames == ["child", "grandchild", "parent"])
    }

    @Test func aBodyThatAwaitsItsOwnValue() {
        let stage = TestQueue(width: 1)
        let itself = AsyncOperation("itself") { context in
            let own = context.operation as! AsyncOperation<String>
            return await self.thrown { () throws(OperationError) in _ = try await own.value }
        }
        stage.run(itself, stage.noting("beside"))
        #expect(try! itself.result?.get() == "cycle itself")
        #expect(stage.ran == ["beside"])
    }

    @Test func aBodyThatRunsItself() {
        let stage = TestQueue(width: 1)
        let itself = AsyncOperation("itself") { context in
            let own = context.operation as! AsyncOperation<String>
            return await self.thrown { () throws(OperationError) in _ = try await context.run(own) }
        }
        stage.run(itself)
        #expect(try! itself.result?.get() == "cycle itself")
    }

    @Test(arguments: [1, 2]) func twoBodiesThatAwaitEachOther(width: Int) {
        let stage = TestQueue(width: width)
        let others = EventLog<AsyncOperation<String>>()
        let operations = (0..<2).map { number in
            AsyncOperation("\(number)") {
                let other = others.events[1 - number]
                return await self.thrown { () throws(OperationError) in _ = try await other.value }
            }
        }
        for operation in operations { others(operation) }
        stage.run(operations[0], operations[1])
        let answers = operations.map { try! $0.result?.get() }
        #expect(Set(answers) == ["nothing", "cycle 0 1"])
    }

    @Test("If bodies await one another on a cycle, at least one wait fails under every schedule")
    func bodiesOnACycle() async throws {
        try await exploring(schedules: tries(200)) { scheduler in
            let count = scheduler.random(in: 2...4)
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: scheduler.random(in: 1...4), executor: scheduler)
            let others = EventLog<AsyncOperation<String>>()
            let operations = (0..<count).map { number in
                AsyncOperation("\(number)") {
                    let other = others.events[(number + 1) % count]
                    return await self.thrown { () throws(OperationError) in _ = try await other.value }
                }
            }
            for operation in operations { others(operation) }
            queue.add(operations)
            await queue.waitUntilIdle()
            let refused = operations.filter { (try? $0.result?.get())?.hasPrefix("cycle") == true }
            try #require(refused.count >= 1)
        }
    }

    @Test("A body that awaits an operation which depends on it gets an error")
    func awaitsItsDependent() {
        let stage = TestQueue(width: 1)
        let later = AsyncOperation("later") { 1 }
        let body = AsyncOperation("body") {
            await self.thrown { () throws(OperationError) in _ = try await later.value }
        }
        later.addDependency(body)
        stage.run(body, later)
        #expect(try! body.result?.get() == "cycle body later")
        #expect(later.failure?.cycleNames == ["body", "later"])
    }

    @Test("The error of a cycle through a waiting body says how to do without the wait", arguments: [true, false])
    func wayOutOfCyclesThroughBodies(runsLater: Bool) {
        let stage = TestQueue(width: 1)
        let later = AsyncOperation("later") { 1 }
        let body = AsyncOperation("body") { context in
            _ = try await runsLater ? context.run(later) : later.value
        }
        later.addDependency(body)
        if runsLater { stage.run(body) } else { stage.run(body, later) }
        let text = "\(later.error!)"
        #expect(text.contains("Do not await ‘later’ in the body of ‘body’"))
        #expect(text.contains("an operation that depends on both"))
        #expect(!text.contains("Remove one of these dependencies"))
    }

    @Test("The error of a cycle through a group advises to take the child out")
    func wayOutOfCyclesThroughGroups() {
        let stage = TestQueue()
        let child = stage.noting("child")
        let group = GroupOperation("group", child)
        child.addDependency(group)
        stage.run(group)
        #expect(
            "\(child.error!)".hasSuffix(
                "A group waits for its children: take ‘child’ out of the group ‘group’, or remove a dependency"))
    }

    @Test("The error of a cycle through a child that depends on its group says that the group waits for the child")
    func wayOutOfCyclesThroughParents() {
        let stage = TestQueue()
        let child = stage.noting("child")
        let group = GroupOperation("group", child)
        let middle = stage.noting("middle", after: child)
        group.addDependency(middle)
        child.addDependency(group)
        stage.run(group, middle, child)
        let advice =
            ". A group waits for its children: remove the dependency of ‘child’ on its group ‘group’"
        #expect("\(child.error!)".hasSuffix(advice))
        #expect("\(group.error!)".hasSuffix(advice))
    }

    @Test("The error of a cycle through a group that depends on its child says that the group starts the child")
    func wayOutOfCyclesThroughDependenciesOnChildren() {
        let stage = TestQueue()
        let child = stage.noting("child")
        let group = GroupOperation("group", child)
        let middle = stage.noting("middle", after: group)
        group.addDependency(child)
        child.addDependency(middle)
        stage.run(group, middle, child)
        #expect(
            "\(child.error!)".hasSuffix(
                ". A group starts its children, and waits for them: remove the dependency of ‘group’ on its child "
                    + "‘child’"))
    }

    @Test("The error of a cycle of dependencies advises to remove one")
    func wayOutOfCyclesOfDependencies() {
        let stage = TestQueue()
        let (one, other) = (stage.noting("one"), stage.noting("other"))
        one.addDependency(other)
        other.addDependency(one)
        stage.run(one, other)
        #expect("\(one.error!)".hasSuffix(". Remove one of these dependencies"))
    }

    @Test("The error of a cycle in an ordered group advises to change the order as well")
    func wayOutOfCyclesInOrderedGroups() {
        let stage = TestQueue()
        let (one, other) = (stage.noting("one"), stage.noting("other"))
        one.addDependency(other)
        stage.run(GroupOperation(.ordered, one, other))
        #expect("\(one.error!)".hasSuffix(". Remove one of these dependencies, or change the order of the group"))
    }

    @Test(
        "The error of a cycle through a key advises to give one of the operations another key",
        arguments: [UniquenessPolicy.join, .replace])
    func wayOutOfCyclesThroughKeys(policy: UniquenessPolicy) {
        let stage = TestQueue()
        let child = stage.noting("child").unique(by: "\(#function) \(policy)", policy: policy)
        let parent = AsyncOperation("parent") { context in try await context.run(child) }
            .unique(by: "\(#function) \(policy)")
        stage.run(parent)
        let advice = ". ‘child’ has the same key as ‘parent’, and waits for it: give one of them another key"
        #expect("\(child.error!)".hasSuffix(advice))
    }

    @Test("An add can close a cycle through a body that already waits")
    func dependentAddedLater() {
        let stage = TestQueue(width: 1)
        let later = AsyncOperation("later") { 1 }
        let body = AsyncOperation("body") {
            await self.thrown { () throws(OperationError) in _ = try await later.value }
        }
        later.addDependency(body)
        stage.run(body)
        #expect(body.ending == "executing")
        stage.run(later)
        #expect(try! body.result?.get() == "cycle body later")
    }
}
