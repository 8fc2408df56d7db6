import BatonTesting
import Testing

@testable import Baton

/// The ways in which a group ends before it starts, other than a cancellation.
enum UnstartedEnd: CaseIterable {
    case condition, failedCondition, edge, rejected, waitingLimit, replaced, cycle

    /// True if the group ends while it is added.
    var isAtAdd: Bool { self == .rejected || self == .cycle }

    /// Makes `group` end in this way when it is added, or when `clock` is advanced by a second.
    func prepare(_ group: GroupOperation, on stage: TestQueue) {
        switch self {
        case .condition: group.addCondition("no") { _ in .skip("no") }
        case .failedCondition: group.addCondition("no") { _ in throw Oops() }
        case .edge:
            let check = stage.noting("check")
            stage.queue.add(check)
            group.addDependency(check, on: .failure)
        case .rejected:
            let key = Names()("rejected")
            stage.queue.add(
                AsyncOperation("older") {}.unique(by: key, in: "", policy: .reject).addDependency(
                    AsyncOperation("never") {}))
            group.unique(by: key, in: "", policy: .reject)
        case .waitingLimit:
            group.addDependency(AsyncOperation("never") {}).timeout(waiting: .seconds(1))
        case .replaced:
            let key = Names()("replaced")
            group.unique(by: key, in: "", policy: .replace).addDependency(AsyncOperation("never") {})
            let newer = AsyncOperation("newer") {}.unique(by: key, in: "", policy: .replace)
            newer.addDependency(AsyncOperation("never") {})
            stage.queue.add(AsyncOperation("adding") { [queue = stage.queue] in queue.add(newer) }.delay(.seconds(1)))
        case .cycle:
            let other = stage.noting("other", after: group)
            group.addDependency(other)
            stage.queue.add(other)
        }
    }
}

@Suite("A group that ends before it starts ends only children that nothing else runs") struct UnstartedGroupTests {
    @Test(
        "A child that a reader has brought along stays, in whichever order the two are added",
        arguments: UnstartedEnd.allCases.filter { !$0.isAtAdd }, [false, true])
    func G19_aChildOfAReaderStays(end: UnstartedEnd, isGroupFirst: Bool) {
        let stage = TestQueue(width: 1, isSuspended: true)
        let shared = AsyncOperation("shared") { 1 }
        let reader = shared.then("reader") { $0 + 1 }
        let own = stage.noting("own")
        let group = GroupOperation("group", GroupOperation("inner", shared, own), shared)
        end.prepare(group, on: stage)
        stage.queue.add(isGroupFirst ? [group, reader] : [reader, group])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        stage.advance(by: .seconds(1))
        #expect(group.hasFinished && !["success", "failed"].contains(group.ending), "\(group.ending)")
        #expect(shared.ending == "success", "\(shared.ending)")
        #expect(reader.ending == "success", "\(reader.ending)")
        #expect(own.ending == "cancelled with ‘inner’, its parent", "\(own.ending)")
        #expect(stage.misuses.count == 0)
        stage.endRest()
    }

    @Test("A child that runs goes on", arguments: UnstartedEnd.allCases)
    func G19_aChildThatRunsGoesOn(end: UnstartedEnd) {
        let stage = TestQueue()
        let gate = Gate()
        let shared = stage.waiting("shared", at: gate)
        stage.run(GroupOperation("first", shared))
        let second = GroupOperation("second", shared)
        end.prepare(second, on: stage)
        stage.run(second)
        stage.advance(by: .seconds(1))
        #expect(second.hasFinished, "\(second.ending)")
        #expect(!shared.isCancelled && shared.state == .executing)
        gate.open()
        stage.steps.runAll()
        #expect(shared.ending == "success")
        stage.endRest()
    }

    @Test("A child of two groups ends with the last of them that does not start")
    func G19_aChildOfTwoGroups() {
        let stage = TestQueue(isSuspended: true)
        let (run, dropped) = (stage.noting("run"), stage.noting("dropped"))
        let first = GroupOperation("first", run, dropped).addCondition("no") { _ in .skip("no") }
        let second = GroupOperation("second", GroupOperation("inner", run), run)
        let third = GroupOperation("third", dropped, dropped).addCondition("no") { _ in .skip("no") }
        do { _ = GroupOperation("released", dropped) }
        stage.run(first)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(run.state == .created && dropped.state == .created)
        stage.run(second, third)
        #expect(second.ending == "success")
        #expect(run.ending == "success")
        #expect(dropped.ending == "cancelled with ‘third’, its parent", "\(dropped.ending)")
    }

    @Test(
        "A child that depends on its group is on no cycle before the group starts, whatever else is added with it",
        arguments: ["gcab", "cgab", "abgc", "abcg", "acbg", "agbc", "cabg", "gabc"])
    func childThatDependsOnItsGroup(order: String) {
        let stage = TestQueue()
        let check = stage.noting("check")
        let child = stage.noting("child")
        let group = GroupOperation("group", child).addDependency(check, on: .failure)
        child.addDependency(group, on: .always)
        let (a, b) = (stage.noting("a"), stage.noting("b"))
        a.addDependency(b)
        b.addDependency(a)
        let operations: [Character: AnyOperation] = ["g": group, "c": child, "a": a, "b": b]
        stage.queue.add([check] + order.map { operations[$0]! })
        stage.steps.runAll()
        #expect([a, b].allSatisfy { if case .dependencyCycle = $0.error { true } else { false } })
        #expect(group.error?.outcome == .skipped, "\(group.ending)")
        #expect(stage.ran == ["check", "child"], "\(child.ending)")
    }

    @Test("The cancellation of a group also cancels children that others have added, before and after the start")
    func G19_aCancelledGroup() {
        for starts in [false, true] {
            let stage = TestQueue()
            let gate = Gate()
            let shared = stage.waiting("shared", at: gate)
            let group = GroupOperation("group", shared)
            if !starts { group.addDependency(AsyncOperation("never") {}) }
            stage.run(shared, group)
            #expect(group.state == (starts ? .executing : .waiting))
            group.cancel()
            #expect(shared.isCancelled)
            gate.open()
            stage.steps.runAll()
        }
    }

    @Test("A group whose time limit ends while its condition is evaluated leaves children alone that others have added")
    func whileEvaluating() {
        let stage = TestQueue()
        let (gate, open) = (Gate(), Gate())
        let shared = stage.waiting("shared", at: gate)
        let own = stage.noting("own")
        let group = GroupOperation("group", shared, own)
            .addCondition("slow") { _ in
                await open.wait()
                return .satisfied
            }
            .timeout(waiting: .seconds(1))
        stage.run(shared, group)
        #expect(group.state == .evaluating, "\(group.state)")
        stage.advance(by: .seconds(1))
        #expect(!shared.isCancelled)
        open.open()
        stage.steps.runAll()
        #expect(group.hasFinished && !shared.isCancelled)
        #expect(own.error?.outcome == .cancelled)
        gate.open()
        stage.steps.runAll()
        #expect(shared.ending == "success")
    }
}

extension TestQueue {
    /// Ends the operations that wait for something that never comes, so that they do not keep the queue alive.
    fileprivate func endRest() {
        queue.cancelAll()
        steps.runAll()
        #expect(queue.operationCount == 0)
    }
}
