import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct CycleTests {
    /// Makes operations of which each depends on the next one, and the last one on the first.
    private func makeCycle(of count: Int, on stage: TestQueue) -> [AsyncOperation<Void>] {
        let members = (0..<count).map { stage.noting("\($0)") }
        for (index, member) in members.enumerated() { member.addDependency(members[(index + 1) % count]) }
        return members
    }

    @Test(
        "Every member of a cycle fails with its path", arguments: [1, 2, 3, 100],
        ["one by one", "backwards", "at once"])
    func membersFailWithThePath(count: Int, order: String) {
        let stage = TestQueue()
        let members = makeCycle(of: count, on: stage)
        switch order {
        case "at once": stage.queue.add(members)
        case "backwards": for member in members.reversed() { stage.queue.add(member) }
        default: for member in members { stage.queue.add(member) }
        }
        for member in members {
            guard case .dependencyCycle(let path)? = member.failure else {
                Issue.record("\(member.ending)")
                continue
            }
            let numbers = path.compactMap { Int($0.name) }
            #expect(numbers.count == count)
            for (number, next) in zip(numbers, numbers.dropFirst() + numbers.prefix(1)) {
                #expect(next == (number + 1) % count, "Each member waits for the next one.")
            }
        }
        stage.steps.runAll()
        #expect(stage.ran == [])
        #expect(stage.queue.operationCount == 0)
    }

    @Test("An operation that depends on itself fails")
    func dependsOnItself() {
        let stage = TestQueue()
        let operation = stage.noting("operation")
        operation.addDependency(operation)
        stage.run(operation)
        #expect(operation.ending == "cycle operation")
    }

    @Test("Operations that depend on members of a cycle start or fail when the members have failed")
    func dependentsOfMembers() {
        let stage = TestQueue()
        let members = makeCycle(of: 3, on: stage)
        let before = stage.noting("outside", after: members[0], members[1])
        let reader = members[2].then { _ in }
        reader.name = "reader"
        let last = stage.noting("last", after: before, reader)
        stage.queue.add(before, reader, last)
        stage.queue.add(members)
        stage.steps.runAll()
        #expect(stage.ran == ["outside", "last"])
        #expect(reader.ending.hasPrefix("needs 2 via 2: cycle"))
    }

    @Test("A cycle is also found if `run` or `add(to:includingDependencies:)` adds its members")
    func addedAsDependencies() {
        let stage = TestQueue()
        let first = makeCycle(of: 3, on: stage)
        first[0].add(to: stage.queue, includingDependencies: true)
        #expect(first.allSatisfy { $0.failure?.cycleNames == ["0", "1", "2"] })
        let second = makeCycle(of: 3, on: stage)
        let thrown = EventLog<String>()
        stage.steps.task { [queue = stage.queue] in
            do throws(OperationError) { try await queue.run(second[1]) } catch { thrown(error.inShort) }
        }
        stage.steps.runAll()
        #expect(thrown.events.first?.hasPrefix("cycle") == true)
        #expect(second.allSatisfy { $0.failure?.cycleNames == ["0", "1", "2"] })
    }

    @Test("A cancelled member breaks the cycle, and the other members run")
    func cancelledMembers() {
        let stage = TestQueue()
        let members = makeCycle(of: 3, on: stage)
        members[1].cancel()
        stage.queue.add(members)
        stage.steps.runAll()
        #expect(members.map(\.ending) == ["success", "cancelled on request", "success"])
        #expect(stage.ran == ["0", "2"])
    }

    @Test("An input can close a cycle, too")
    func inputsOnCycles() {
        let stage = TestQueue()
        let a = AsyncOperation("a") { 1 }
        let b = a.then { $0 + 1 }
        b.name = "b"
        a.addDependency(b)
        stage.queue.add(b, a)
        #expect(a.failure?.cycleNames == ["a", "b"])
        #expect(b.failure?.cycleNames == ["a", "b"])
    }

    /// The adds take linear time in total: an operation that nobody waits for causes no search, and no search visits
    /// all operations that were added before.
    @Test("Adding a long chain in either direction does not search all of it at each add")
    func longChains() {
        let stage = TestQueue(isSuspended: true)
        var forwards = [stage.noting("first")]
        for _ in 0..<20_000 {
            let next = AsyncOperation {}
            next.addDependency(forwards.last!)
            forwards.append(next)
        }
        for operation in forwards { stage.queue.add(operation) }
        var backwards = [AsyncOperation {}]
        for _ in 0..<20_000 {
            let next = AsyncOperation {}
            backwards.last!.addDependency(next)
            backwards.append(next)
        }
        for operation in backwards { stage.queue.add(operation) }
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(forwards.last!.ending == "success")
        #expect(backwards[0].ending == "success")
    }
}
