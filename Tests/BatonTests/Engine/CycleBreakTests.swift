// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// Each test performs the steps of another thread between the first end and the last end of a break.
@Suite("No member of a broken cycle is completed before all have ended")
struct CycleBreakTests {
    private let error = OperationError.dependencyCycle([])

    /// - Parameters:
    ///   - ways: The numbers of the operations that each operation leads to.
    ///   - unadded: The numbers of the operations that nobody has added.
    private func cycleBreak(
        of operations: [AnyOperation], _ ways: [[Int]], unadded: Set<Int> = []
    ) -> CycleBreak {
        var graph = Digraph()
        for way in ways {
            for target in way { graph.addEdge(to: target) }
            graph.closeNode()
        }
        return CycleBreak(
            of: operations, wasUnadded: operations.indices.map { unadded.contains($0) },
            cycles: graph.cycleOfEachNode(root: 0) { _ in true })
    }

    @Test("A thread that links a member which ends in the meantime ends the other members first")
    func G8_aMemberThatIsBeingLinkedWaitsForTheOthers() {
        let (linked, other) = (AsyncOperation("linked") {}, AsyncOperation("other") {})
        linked.addDependency(other)
        other.addDependency(linked)
        let cycleBreak = cycleBreak(of: [linked, other], [[1], [0]])
        let stage = TestQueue(probe: { event in
            guard case .added = event.kind, event.operation == linked.reference else { return }
            // The thread that has found the cycle has reached this step.
            cycleBreak.begin()
            let end = linked.endWhileAdded(with: error)
            #expect(end == nil, "left to the thread that links it")
        })
        stage.run(other)
        stage.run(linked)
        #expect(linked.failure?.cycleNames == [])
        #expect(other.failure?.cycleNames == ["linked", "other"])
        cycleBreak.finish()
        #expect(stage.queue.operationCount == 0)
    }

    @Test("A thread that links a member to a member that has ended in the meantime ends it as well")
    func memberThatIsLinkedToOneThatHasEnded() {
        let former = AsyncOperation("former") {}.unique(by: #function)
        let (linked, other) = (AsyncOperation("linked") {}, AsyncOperation("other") {})
        linked.unique(by: #function, policy: .replace)
        linked.addDependency(other)
        other.addDependency(linked)
        let cycleBreak = cycleBreak(of: [linked, other], [[1], [0]])
        let end = Locked<AnyOperation.EarlyEnd?>(nil)
        let stage = TestQueue(probe: { event in
            // The other thread cancels `former` before it links `linked`.
            guard case .finished = event.kind, event.operation == former.reference else { return }
            cycleBreak.begin()
            let ofOther = other.endWhileAdded(with: error)
            end.withLock { $0 = ofOther }
        })
        former.addDependency(AsyncOperation("absent") {})
        stage.run(former, other)
        stage.run(linked)
        #expect(other.failure?.cycleNames == [])
        #expect(linked.failure?.cycleNames == ["linked", "other"])
        end.withLock { $0.take() }?.complete()
        cycleBreak.finish()
        #expect(stage.queue.operationCount == 0)
    }

    @Test("A cycle that a later add has closed is left to the thread that adds")
    func memberThatIsAddedAfterTheSearchHasReadIt() {
        let (first, late) = (AsyncOperation("first") {}, AsyncOperation("late") {})
        first.addDependency(late)
        late.addDependency(first)
        let read = Locked<WaitExploration?>(nil)
        let results = EventLog<Bool>()
        let stage = TestQueue(probe: { event in
            guard case .added = event.kind, event.operation == late.reference else { return }
            // The other thread has read the graph before, and goes on now.
            guard let exploration = read.withLock({ $0 }) else { return }
            let result = CycleBreaker(exploration, closedBy: [CycleFinder.Suspect(operation: first)]).perform()
            results(result.mustLookAgain || !result.refusals.isEmpty)
        })
        stage.run(first)
        var exploration = WaitExploration(from: [first], .upstreamOfUnadded)
        let isComplete = exploration.run(upTo: nil)
        #expect(isComplete)
        read.withLock { $0 = exploration }
        stage.run(late)
        read.withLock { $0 = nil }
        #expect(results.events == [false])
        #expect(first.failure?.cycleNames == ["first", "late"])
        #expect(late.failure?.cycleNames == ["first", "late"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test("A thread that adds a member of a cycle which is being broken ends the others first")
    func memberThatEndsAtItsAdd() {
        let stage = TestQueue()
        let late = stage.noting("late")
        let first = stage.noting("first", after: late)
        let second = stage.noting("second", after: late)
        late.addDependency(first)
        first.addDependency(second)
        stage.run(first, second)
        let cycleBreak = cycleBreak(of: [late, first, second], [[1], [0, 2], [0]], unadded: [0])
        cycleBreak.begin()
        late.noteBrokenCycle(error, next: first, followers: [])
        let end = first.endWhileAdded(with: error)
        stage.run(late)
        #expect(late.failure?.cycleNames == [])
        #expect(second.failure?.cycleNames == ["first", "second", "late"])
        end?.complete()
        cycleBreak.finish()
        #expect(stage.ran == [])
        #expect(stage.queue.operationCount == 0)
    }

    @Test("A thread that saw a part of the cycles ends the members that another thread has yet to end")
    func searchThatSawAPart() {
        let stage = TestQueue()
        let late = stage.noting("late")
        let shared = stage.noting("shared", after: late)
        let rest = stage.noting("rest", after: shared)
        late.addDependency(rest)
        stage.run(shared, rest)
        let whole = cycleBreak(of: [late, shared, rest], [[2], [0], [1]], unadded: [0])
        whole.begin()
        _ = cycleBreak(of: [shared], [[0]]).perform()
        stage.steps.runAll()
        #expect(shared.failure?.cycleNames == ["shared"])
        #expect(rest.failure?.cycleNames != nil)
        whole.finish()
        stage.run(late)
        #expect(late.failure?.cycleNames != nil)
        #expect(stage.ran == [])
    }

    @Test("A break ends nothing if a member of any of its cycles has finished since the search")
    func memberThatHasFinished() {
        let stage = TestQueue()
        let absent = stage.noting("absent")
        let (one, two) = (stage.noting("one", after: absent), stage.noting("two", after: absent))
        let (three, finished) = (stage.noting("three", after: absent), stage.noting("finished"))
        stage.run(one, two, three, finished)
        // The first cycle is the shorter one, of `one` and `two`.
        let result = cycleBreak(of: [one, two, three, finished], [[1, 2], [0], [3], [0]]).perform()
        if case .changed = result {} else { Issue.record("The break should see that a member has finished.") }
        #expect([one, two, three].allSatisfy { !$0.hasFinished })
        stage.run(absent)
        #expect([one, two, three].allSatisfy { $0.failure == nil })
        #expect(stage.queue.operationCount == 0)
    }

    @Test("A break leaves the members of other breaks alone")
    func breakOfOthers() {
        let stage = TestQueue()
        let (absent, others) = (stage.noting("absent"), [stage.noting("one"), stage.noting("two")])
        let far = stage.noting("far", after: absent)
        others[0].addDependency(others[1])
        others[1].addDependency(others[0])
        stage.run(far)
        let cycleBreak = cycleBreak(of: [far, absent], [[1], [0]])
        cycleBreak.begin()
        stage.queue.add(others)
        #expect(others.allSatisfy { $0.failure?.cycleNames != nil })
        #expect(far.ending == "waiting")
        cycleBreak.finish()
        #expect(far.failure?.cycleNames != nil)
    }
}
