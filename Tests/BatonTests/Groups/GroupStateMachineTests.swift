import BatonTesting
import Testing

@testable import Baton

struct GroupStateMachineTests {
    private func failure(_ name: String, _ error: OperationError = .failed(Oops())) -> OperationFailure {
        let operation = AsyncOperation<Void>(name) {}
        return OperationFailure(operation: operation.reference, error: error)
    }

    private func machine(_ policy: GroupPolicy, _ children: String...) -> GroupStateMachine<String> {
        var machine = GroupStateMachine<String>(policy: policy)
        for child in children { _ = machine.insert(child) }
        return machine
    }

    private func started(_ policy: GroupPolicy, _ children: String...) -> GroupStateMachine<String> {
        var machine = GroupStateMachine<String>(policy: policy)
        for child in children { _ = machine.insert(child) }
        _ = machine.start()
        _ = machine.didStartChildren()
        return machine
    }

    @Test func placesAreGivenInOrder() {
        var machine = GroupStateMachine<String>(policy: .collectAll)
        #expect(machine.insert("a") == .planned(0))
        #expect(machine.insert("b") == .planned(1))
        guard case .run(["a", "b"]) = machine.start() else {
            Issue.record("it does not run both")
            return
        }
        #expect(machine.insert("c") == .start(2))
        #expect(machine.waitsFor == ["a", "b", "c"])
    }

    @Test("The group's own failure precedes those of its children")
    func itsOwnFailureComesFirst() {
        for policy in GroupPolicy.allCases {
            var machine = started(policy, "a", "b")
            _ = machine.ended(0, policy == .firstSuccess ? failure("a") : nil)
            #expect(machine.fail(failure("group")) == ["b"])
            #expect(machine.fail(failure("again")) == [])
            #expect(machine.insert("c") == .refused)
            #expect(machine.ended(1, failure("b", .cancelled(reason: .requested)), isCutOff: true).hasEnded)
            let expected = policy == .firstSuccess ? ["group", "a"] : ["group"]
            #expect(machine.outcome?.map(\.operation.name) == expected)
            #expect(machine.fail(failure("late")) == [])
        }
    }

    @Test("A failure before the start keeps the children from running")
    func itsOwnFailureBeforeTheStartKeepsChildrenFromRunning() {
        var machine = machine(.collectAll, "a")
        #expect(machine.fail(failure("group")) == ["a"])
        guard case .cancel(["a"]) = machine.start() else {
            Issue.record("it runs it")
            return
        }
    }

    @Test("A group is over when its last child has ended")
    func itIsOverWithTheLast() {
        var machine = started(.collectAll, "a", "b")
        #expect(!machine.ended(1, nil).hasEnded)
        #expect(machine.waitsFor == ["a"])
        #expect(machine.ended(0, nil).hasEnded)
        #expect(machine.outcome == nil)
        #expect(machine.insert("c") == .refused)
    }

    @Test("A group is not over while it starts its children")
    func itIsNotOverWhileItStarts() {
        var machine = machine(.collectAll, "a", "b")
        _ = machine.start()
        #expect(!machine.ended(0, nil).hasEnded)
        #expect(!machine.ended(1, nil).hasEnded)
        #expect(machine.insert("c") == .start(2))
        #expect(machine.didStartChildren() == false)
        #expect(!machine.ended(2, nil).hasEnded)
        #expect(machine.didStartChildren() == true)
        #expect(machine.insert("d") == .refused)
    }

    @Test func withoutChildrenItIsOverWhenItHasStarted() {
        var machine = machine(.collectAll)
        _ = machine.start()
        #expect(machine.didStartChildren() == true)
        #expect(machine.outcome == nil)
    }

    @Test func failuresAreInTheOrderGiven() {
        var machine = started(.collectAll, "a", "b", "c")
        _ = machine.ended(2, failure("c"))
        _ = machine.ended(0, failure("a"))
        _ = machine.ended(1, failure("b", .skipped(.condition("no"))))
        #expect(machine.outcome?.map(\.operation.name) == ["a", "c"])
    }

    @Test func aDecisionClosesItOnce() {
        var machine = started(.failFast, "a", "b", "c")
        #expect(machine.ended(1, failure("b")).cancel == ["a", "c"])
        #expect(machine.insert("d") == .refused)
        #expect(machine.ended(0, failure("a")).cancel.isEmpty)
        #expect(machine.ended(2, failure("c", .cancelled(reason: .requested)), isCutOff: true).hasEnded)
        #expect(machine.outcome?.map(\.operation.name) == ["a", "b"])
    }

    @Test func inOrderADecisionCancelsNothing() {
        var machine = GroupStateMachine<String>(policy: .failFast, cancelsRest: false)
        _ = machine.insert("a")
        _ = machine.insert("b")
        _ = machine.start()
        _ = machine.didStartChildren()
        #expect(machine.ended(0, failure("a")).cancel.isEmpty)
        #expect(machine.insert("c") == .start(2))
    }

    @Test("With `firstSuccess`, one success is enough")
    func oneSuccessIsEnough() {
        var machine = started(.firstSuccess, "a", "b")
        #expect(machine.ended(0, failure("a")).cancel.isEmpty)
        #expect(machine.ended(1, nil).hasEnded)
        #expect(machine.outcome == nil)
    }

    @Test func cancelledBeforeTheStart() {
        var machine = machine(.collectAll, "a")
        #expect(machine.cancel() == ["a"])
        #expect(machine.insert("b") == .refused)
        guard case .cancel(["a"]) = machine.start() else {
            Issue.record("it runs a child")
            return
        }
        #expect(machine.didStartChildren() == false)
        let cut = failure("a", .cancelled(reason: .requested))
        #expect(machine.ended(0, cut, isCutOff: true).hasEnded)
        #expect(machine.outcome?.isEmpty == true)
    }

    @Test func cancelledWhileItCloses() {
        var machine = started(.failFast, "a", "b")
        #expect(machine.ended(0, failure("a")).cancel == ["b"])
        #expect(machine.cancel().isEmpty)
    }

    @Test("A group stores no more entries than its unfinished children need, and keeps their order")
    func storedEntries() {
        var random = SeededGenerator(seed: 1)
        var children = UnfinishedOperations<Int>()
        var model: [Int] = []
        var givenCount = 0
        func give() {
            let place = children.append(givenCount)
            #expect(place == givenCount)
            model.append(place)
            givenCount += 1
        }
        for _ in 0..<1_000 { give() }
        for step in 0..<10_000 {
            // The first child hangs, and the others end in a random order, in the order given, or in the reverse order.
            if model.count > 1 {
                let index =
                    switch step / 1_000 % 3 {
                    case 0: Int.random(in: 1..<model.count, using: &random)
                    case 1: 1
                    default: model.count - 1
                    }
                children.remove(model.remove(at: index))
            }
            if step % 3 > 0 || step < 2_000 { give() }
            #expect(children.entryCount <= 2 * model.count + 16)
        }
        #expect(children.latest(.max).reversed() == children.all)
        #expect(children.all == model && model.first == 0)
        #expect(children.endedCount == givenCount - model.count)
        #expect(children.latest(1) == model.suffix(1))
        for place in model { children.remove(place) }
        #expect(children.count == 0 && children.entryCount == 0)
    }

    @Test("An operation can be removed once, and the operations after a place are found although it is empty")
    func removalAndOperationsAfterAPlace() {
        var operations = UnfinishedOperations<Int>()
        for number in 0..<100 { #expect(operations.append(number) == number) }
        for number in 0..<100 where number % 10 != 7 { #expect(operations.remove(number) == number) }
        #expect(operations.remove(8) == nil && operations.remove(100) == nil)
        #expect(operations.count == 10)
        #expect(operations.all(after: 70) == [77, 87, 97])
        #expect(operations.all(after: 77) == [87, 97])
        #expect(operations.all(after: 97) == [] && operations.all(after: 200) == [])
    }

    @Test("Children that end in any order leave the others in the order given")
    func orderOfTheRest() {
        var machine = GroupStateMachine<Int>(policy: .collectAll)
        _ = machine.start()
        for child in 0..<100 { _ = machine.insert(child) }
        for child in 0..<100 where child % 10 != 7 { _ = machine.ended(child, nil) }
        #expect(machine.waitsFor == Array(stride(from: 7, to: 100, by: 10)))
        #expect(machine.insert(100) == .start(100))
        #expect(machine.waitsFor(first: 2, includesPlanned: false) == [100, 97])
        #expect(machine.progressCounts.ended == 90)
        for child in machine.waitsFor { _ = machine.ended(child, nil) }
        #expect(machine.waitsFor.isEmpty)
    }

    @Test func endedWithoutAStart() {
        var machine = machine(.collectAll, "a", "b")
        #expect(machine.parentEnded() == ["a", "b"])
        #expect(machine.parentEnded().isEmpty)
        #expect(machine.insert("c") == .refused)
    }

    @Test func endedAfterTheRun() {
        var machine = started(.collectAll, "a")
        _ = machine.ended(0, nil)
        #expect(machine.parentEnded().isEmpty)
    }
}
