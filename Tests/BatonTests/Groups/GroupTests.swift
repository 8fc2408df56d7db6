import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct GroupTests {
    @Test(
        "A child ends its group with an error of the group's own, which also lists the earlier failures",
        arguments: [false, true])
    func ownError(isOrdered: Bool) {
        struct Offline: Error {}
        let stage = TestQueue(width: 1)
        let failing = AsyncOperation<Void>("failing") { throw Oops() }
        let group =
            isOrdered ? GroupOperation("sync", .ordered, policy: .collectAll) : GroupOperation("sync")
        let child = AsyncOperation("child") { [weak group] in group?.fail(Offline()) }
        let rest = stage.noting("rest")
        for operation in [failing, child, rest] { try? group.add(operation) }
        stage.run(group, stage.noting("cleanup", after: group))
        #expect(group.error?.underlyingError is Offline)
        guard case .groupFailed(let failures)? = group.error else {
            Issue.record("\(group.ending)")
            return
        }
        #expect(failures.map(\.operation.name) == ["sync", "failing"])
        #expect(rest.isCancelled && child.ending == "success")
        #expect(stage.ran == ["cleanup"])
        #expect(throws: OperationError.self) { try group.add(stage.noting("late")) }
    }

    @Test("A group that fails before it starts runs no child, and a failure after its end is ignored")
    func ownErrorEarlyAndLate() {
        let stage = TestQueue(width: 1)
        let early = GroupOperation("early", stage.noting("child"))
        early.fail(Oops())
        stage.run(early)
        #expect(early.error?.underlyingError is Oops)
        let late = GroupOperation("late", stage.noting("other"))
        stage.run(late)
        late.fail(Oops())
        #expect(late.ending == "success")
        let cancelled = GroupOperation("cancelled", stage.noting("never"))
        cancelled.cancel()
        cancelled.fail(Oops())
        stage.run(cancelled)
        #expect(cancelled.ending == "cancelled on request")
        #expect(stage.ran == ["other"])
    }

    private func failing(_ name: String) -> AsyncOperation<Void> { AsyncOperation(name) { throw Oops(text: name) } }

    @Test("A group that fails before it starts does not wait for a child that waits for it", arguments: [false, true])
    func failedBeforeItStartsAndAwaited(inAHandler: Bool) {
        let stage = TestQueue()
        let gate = Gate()
        let groups = EventLog<GroupOperation>()
        let child = AsyncOperation("child") {
            if inAHandler { return }
            await gate.wait()
            try await groups.events[0].waitUntilFinished()
        }
        if inAHandler {
            child.willFinish { _ in
                await gate.wait()
                try? await groups.events[0].waitUntilFinished()
            }
        }
        let group = GroupOperation("group", child)
        groups(group)
        stage.run(child)
        group.fail(Oops())
        gate.open()
        stage.run(group)
        #expect(child.hasFinished && group.hasFinished)
        stage.queue.cancelAll()
    }

    @Test("A group finishes when all of its children have finished")
    func itFinishesWhenAllItsChildrenHave() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let group = GroupOperation("group", stage.noting("one"), stage.waiting("two", at: gate))
        stage.run(group, stage.noting("after", after: group))
        #expect(stage.ran == ["one", "two"])
        #expect(group.state == .executing)
        #expect(group.explain().waitsFor.map(\.name) == ["two"])
        gate.open()
        stage.steps.runAll()
        #expect(group.ending == "success")
        #expect(stage.ran == ["one", "two", "after"])
    }

    @Test("A group holds no permit while its children run")
    func itHoldsNoPermit() {
        let stage = TestQueue(width: 1)
        var group = GroupOperation(stage.noting("innermost"))
        for _ in 0..<1_000 { group = GroupOperation(group) }
        stage.run(group)
        #expect(group.ending == "success")
        #expect(stage.ran == ["innermost"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test func childrenMayDependOnOneAnotherAndNeedWhatNobodyHasAdded() {
        let stage = TestQueue()
        let needed = stage.noting("needed")
        let first = stage.noting("first", after: needed)
        let group = GroupOperation(stage.noting("second", after: first), first)
        stage.run(group)
        #expect(stage.ran == ["needed", "first", "second"])
    }

    @Test("A group without children succeeds, unless it wants a success")
    func emptyGroups() {
        let stage = TestQueue(width: 1)
        let groups = [
            GroupOperation(), GroupOperation([]), GroupOperation(.ordered), GroupOperation(policy: .failFast),
        ]
        stage.run(groups[0], groups[1], groups[2], groups[3])
        #expect(groups.map(\.ending) == ["success", "success", "success", "success"])
        let none = GroupOperation(policy: .firstSuccess)
        stage.run(none)
        #expect(none.ending == "group: ")
    }

    @Test func collectAllNamesAllThatFailed() {
        let stage = TestQueue()
        let cancelled = stage.noting("cancelled")
        cancelled.cancel()
        let skipped = stage.noting("skipped").addCondition("no") { _ in .skip("no") }
        let group = GroupOperation(failing("one"), stage.noting("good"), cancelled, skipped, failing("two"))
        stage.run(group)
        #expect(group.ending == "group: one failed: one; cancelled cancelled on request; two failed: two")
        #expect(stage.ran == ["good"])
        #expect(group.error?.underlyingError as? Oops == Oops(text: "one"))
    }

    @Test func theFirstFailureEndsAGroupThatFailsFast() {
        let stage = TestQueue()
        let gate = Gate()
        let other = AsyncOperation("other") { try await gate.waitUnlessCancelled() }
        let later = stage.noting("later", after: other)
        let group = GroupOperation(other, later, failing("one"), policy: .failFast)
        stage.run(group)
        #expect(group.ending == "group: one failed: one")
        #expect(other.ending == "cancelled with ‘GroupOperation’, its parent")
        #expect(later.error?.outcome == .cancelled)
    }

    @Test func theFirstSuccessEndsAGroupThatWantsOne() {
        let stage = TestQueue()
        let gate = Gate()
        let other = AsyncOperation("other") { try await gate.waitUnlessCancelled() }
        let group = GroupOperation(failing("one"), other, stage.noting("good"), policy: .firstSuccess)
        stage.run(group)
        #expect(group.ending == "success")
        #expect(other.error?.outcome == .cancelled)
        let hopeless = GroupOperation(failing("one"), failing("two"), policy: .firstSuccess)
        stage.run(hopeless)
        #expect(hopeless.ending == "group: one failed: one; two failed: two")
    }

    @Test("A group that wants one success names its children if all were skipped")
    func theFirstSuccessOfSkippedChildren() {
        let stage = TestQueue()
        let skipped = ["one", "two"].map { name in
            stage.noting(name).addCondition("is new") { _ in .skip("\(name) is old") }
        }
        let after = stage.noting("after").addDependency(skipped[1], on: .success)
        let group = GroupOperation("group", [skipped[0], skipped[1], after], policy: .firstSuccess)
        stage.run(group)
        #expect(
            "\(group.error!)" == "has no child that could succeed: ‘one’: skipped by a condition: one is old; "
                + "‘two’: skipped by a condition: two is old; 1 did not run because of them")
        let mixed = GroupOperation(
            stage.noting("three").addCondition("is new") { _ in .skip("old") }, failing("four"), policy: .firstSuccess)
        stage.run(mixed)
        #expect(mixed.ending == "group: four failed: four")
    }

    // MARK: Order

    @Test func anOrderedGroupRunsOneAfterAnother() {
        let stage = TestQueue()
        let gate = Gate()
        let group = GroupOperation(
            .ordered, stage.waiting("one", at: gate), stage.noting("two"), stage.noting("three"))
        stage.run(group)
        #expect(stage.ran == ["one"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["one", "two", "three"])
        #expect(group.ending == "success")
    }

    @Test("The error of a group that was ended from outside does not count the group among its children")
    func failuresOfTheGroupItself() {
        let stage = TestQueue()
        let alone = GroupOperation("alone", stage.noting("child"))
        alone.fail(Oops())
        let both = GroupOperation("both", policy: .collectAll)
        let child = AsyncOperation<Void>("child") { throw Oops() }
        let last = AsyncOperation<Void>("last") { [weak both] in both?.fail(Oops(text: "out of paper")) }
        try! both.add(child)
        try! both.add(last.addDependency(child))
        let outer = GroupOperation("outer", both)
        stage.run(alone, outer)
        #expect("\(alone.error!)" == "the group itself failed: oops")
        let text = "the group itself failed: out of paper; 1 of its children failed as well: ‘child’: oops"
        #expect("\(both.error!)" == text)
        #expect("\(outer.error!)" == "1 of the group failed: ‘both’: \(text)")
        #expect(both.error?.underlyingError as? Oops == Oops(text: "out of paper"))
    }

    @Test func anOrderedGroupWhoseSecondChildFails() {
        for (policy, ran, ending) in [
            (GroupPolicy.failFast, ["one"], "group: two failed: two"),
            (.collectAll, ["one", "three", "four"], "group: two failed: two"),
        ] {
            let stage = TestQueue()
            let third = stage.noting("three")
            let group = GroupOperation(
                .ordered, stage.noting("one"), failing("two"), third, stage.noting("four"), policy: policy)
            stage.run(group)
            #expect(stage.ran == ran)
            #expect(group.ending == ending)
            let skip = "skipped, because ‘two’ failed, and the ordered group goes on only after a success"
            #expect(third.ending == (policy == .failFast ? skip : "success"))
        }
    }

    @Test func anOrderedGroupThatWantsOneSuccess() {
        let stage = TestQueue()
        let group = GroupOperation(
            .ordered, failing("one"), stage.noting("two"), stage.noting("three"), policy: .firstSuccess)
        stage.run(group)
        #expect(stage.ran == ["two"])
        #expect(group.ending == "success")
    }

    // MARK: Adding children to a running group

    @Test func childrenMayBeAddedWhileItRuns() throws {
        let stage = TestQueue(width: 1)
        let group = GroupOperation("group")
        let first = AsyncOperation("first") { [log = stage.log] in
            log("first")
            try group.add(AsyncOperation("second") { log("second") })
        }
        try group.add(first)
        stage.run(group)
        #expect(stage.ran == ["first", "second"])
        #expect(group.ending == "success")
    }

    @Test("A child that ran before its ordered group started is reported", arguments: [false, true])
    func aChildOfAnOrderedGroupThatRanBefore(isOrderedFirst: Bool) {
        let stage = TestQueue(width: 1, isSuspended: true)
        let (backUp, migrate) = (failing("back up"), stage.noting("migrate"))
        let ordered = GroupOperation("ordered", .ordered, backUp, migrate)
        let report = GroupOperation("report", migrate.then("read") { _ in })
        stage.queue.add(isOrderedFirst ? [ordered, report] : [report, ordered])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == (isOrderedFirst ? [] : ["migrate"]))
        let late = Misuse.Kind.addedBeforeOrderedGroup(ordered.reference, before: backUp.reference)
        #expect(stage.misuseKinds == (isOrderedFirst ? [] : [late]))
        #expect(stage.misuses.events.allSatisfy { $0.operation == migrate.reference })
        #expect(ordered.ending == "group: back up failed: back up", "\(ordered.ending)")
    }

    @Test func aChildAddedToAnOrderedGroupComesLast() throws {
        let stage = TestQueue()
        let gate = Gate()
        let group = GroupOperation(.ordered, stage.waiting("one", at: gate), stage.noting("two"))
        stage.run(group)
        try group.add(stage.noting("three"))
        stage.steps.runAll()
        #expect(stage.ran == ["one"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["one", "two", "three"])
    }

    @Test("A child that is given again after its end does not change the order")
    func aChildIsGivenAgainAfterItsEnd() throws {
        let stage = TestQueue()
        let gate = Gate()
        let first = stage.noting("one")
        let group = GroupOperation(.ordered, first, stage.waiting("two", at: gate))
        stage.run(group)
        try group.add(first)
        try group.add(stage.noting("three"))
        stage.steps.runAll()
        #expect(stage.ran == ["one", "two"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["one", "two", "three"])
        #expect(group.ending == "success")
    }

    @Test func aChildAddedToAFinishedOrCancelledGroupIsLeftAlone() {
        let stage = TestQueue()
        let gate = Gate()
        let finished = GroupOperation("finished")
        let cancelled = GroupOperation("cancelled", stage.waiting("one", at: gate))
        let neverAdded = GroupOperation("never added")
        let decided = GroupOperation("decided", failing("bad"), stage.waiting("two", at: gate), policy: .failFast)
        stage.run(finished, cancelled, decided)
        cancelled.cancel()
        neverAdded.cancel()
        for group in [finished, cancelled, neverAdded, decided] {
            let child = stage.noting("child")
            #expect {
                try group.add(child)
            } throws: { error in
                guard case .misuse(let misuse)? = error as? OperationError else { return false }
                return misuse.kind == .groupIsClosed(child.reference) && misuse.operation == group.reference
            }
            #expect(child.state == .created)
            #expect(child.dependencies.isEmpty)
        }
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
        #expect(stage.ran == ["one"])
    }

    // MARK: Width, preconditions, cycles

    @Test("A group runs no more children at a time than its width allows")
    func itsOwnWidth() {
        let stage = TestQueue()
        let gate = Gate()
        let children = (0..<5).map { stage.waiting("\($0)", at: gate) }
        let group = GroupOperation(children, maxConcurrentOperationCount: 2)
        stage.run(group)
        #expect(stage.ran == ["0", "1"])
        let text = "\(children[2].explain())"
        #expect(text.contains("‘2’ waits for the width of the group ‘GroupOperation’ (2 children at a time), after ‘"))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["0", "1", "2", "3", "4"])
        #expect(group.ending == "success")
    }

    @Test("The error of a child that another child awaits names the width of the group, and not an exclusion")
    func deadlockOfItsWidth() {
        let stage = TestQueue()
        let last = stage.noting("last")
        let first = AsyncOperation("first") { [log = stage.log] in
            do throws(OperationError) { try await last.value } catch { log("\(error)") }
        }
        stage.run(GroupOperation("group", [first, last], maxConcurrentOperationCount: 1))
        let text =
            "waits for its turn in the group ‘group’, which runs 1 child at a time, and what runs there waits for it: "
            + "‘last’ → ‘first’ → ‘last’. Let ‘first’ depend on what it awaits, so that it starts later, or raise the "
            + "`maxConcurrentOperationCount` of the group"
        #expect(last.error.map { "\($0)" } == text)
        #expect(stage.ran == [text])
    }

    @Test("The error of a deadlock of an exclusion names the width of a group that is part of it")
    func deadlockOfItsWidthAndAnExclusion() throws {
        let stage = TestQueue()
        let (gate, name) = (Gate(), Names())
        let exclusion = Exclusion.mutuallyExclusive(name("database"))
        // The holder awaits the child that waits for its turn behind the child that needs the exclusion.
        let second = stage.noting("second")
        let holder = AsyncOperation("holder") {
            await gate.wait()
            try await second.value
        }
        let inner = stage.noting("inner").addCondition(exclusion)
        let first = AsyncOperation("first") { context in
            await gate.wait()
            try await context.run(inner)
        }
        stage.run(holder.addCondition(exclusion))
        stage.run(GroupOperation("group", [first, second], maxConcurrentOperationCount: 1))
        gate.open()
        stage.steps.runAll()
        let failed = [inner, second].compactMap { $0.error.map { "\($0)" } }
        #expect(failed.count == 1)
        let text = try #require(failed.first)
        #expect(text.contains("in the group ‘group’, which runs 1 child at a time"), "\(text)")
    }

    @Test("A group with a width of 0 is reported as misuse, and its width is not limited")
    func aWidthOfNothingIsMisuseAndNoLimit() async {
        // The group is in no queue yet, so the misuse goes to standard error.
        let ended = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            _ = GroupOperation("group", [], maxConcurrentOperationCount: 0)
        }
        let text = String(decoding: ended?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("‘group’") && text.contains("maxConcurrentOperationCount cannot be 0"), "\(text)")
        let stage = TestQueue()
        let gate = Gate()
        let children = (0..<3).map { stage.waiting("\($0)", at: gate) }
        stage.run(GroupOperation(children, maxConcurrentOperationCount: 0))
        #expect(stage.ran.count == 3)
        gate.open()
        stage.steps.runAll()
    }

    @Test func aChildThatWasAddedBeforeIsAwaited() {
        let stage = TestQueue()
        let gate = Gate()
        let running = stage.waiting("running", at: gate)
        let finished = stage.noting("finished")
        stage.run(running, finished)
        let group = GroupOperation(running, finished, running)
        stage.run(group)
        #expect(!group.hasFinished)
        gate.open()
        stage.steps.runAll()
        #expect(group.ending == "success")
        #expect(stage.misuses.events.isEmpty)
    }

    @Test func aChildThatDependsOnItsGroup() {
        let stage = TestQueue()
        let child = stage.noting("child")
        let group = GroupOperation("group", child, stage.noting("other"))
        child.addDependency(group)
        stage.run(group)
        #expect(child.error?.cycleNames == ["child", "group"])
        #expect(group.ending.hasPrefix("group: child cycle"))
        #expect(stage.ran == ["other"])
    }

    @Test func aGroupInItself() throws {
        let stage = TestQueue()
        let group = GroupOperation("group")
        try group.add(group)
        stage.run(group, stage.noting("beside"))
        #expect(group.ending == "group: group cycle group")
        #expect(stage.ran == ["beside"])
    }

    @Test func twoGroupsThatHoldEachOther() throws {
        let stage = TestQueue()
        let one = GroupOperation("one")
        let two = GroupOperation("two", one)
        try one.add(two)
        stage.run(one)
        #expect(one.hasFinished && two.hasFinished)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func childrenRunWhileTheQueueIsSuspended() {
        let stage = TestQueue()
        let gate = Gate()
        let group = GroupOperation(.ordered, stage.waiting("one", at: gate), stage.noting("two"))
        stage.run(group)
        stage.queue.isSuspended = true
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["one", "two"])
        #expect(group.ending == "success")
    }

    @Test func aGroupRunByABody() {
        let stage = TestQueue(width: 1)
        let parent = AsyncOperation { context in
            try await context.run(GroupOperation(stage.noting("one"), stage.noting("two")))
        }
        stage.run(parent)
        #expect(parent.ending == "success")
        #expect(stage.ran == ["one", "two"])
    }

    @Test func nothingIsKeptAfterTheFinish() {
        let tokens = Tokens()
        let stage = TestQueue()
        let group = GroupOperation((0..<3).map { _ in AsyncOperation { [token = tokens.make()] in token } })
        stage.run(group)
        #expect(group.ending == "success")
        #expect(tokens.alive == 0)
        let ordered = GroupOperation(.ordered, (0..<3).map { _ in AsyncOperation { [token = tokens.make()] in token } })
        stage.run(ordered)
        #expect(tokens.alive == 0)
    }

    @Test("An ordered group runs very many children")
    func veryManyChildren() {
        let stage = TestQueue(width: 1)
        let tally = Tally()
        let group = GroupOperation(.ordered, (0..<veryMany).map { _ in AsyncOperation { tally.add() } })
        stage.run(group)
        #expect(group.ending == "success")
        #expect(tally.count == veryMany)
    }
}
