import BatonTesting
import Testing

@testable import Baton

/// The progress of groups, in which each child counts as one unit.
@Suite(.timeLimit(.minutes(10))) struct GroupProgressTests {
    private func shown(_ group: GroupOperation) -> String {
        let progress = group.progress
        return "\(progress.completedUnitCount)/\(progress.totalUnitCount.map { "\($0)" } ?? "?")"
    }

    @Test("The progress of a group counts its children")
    func itCountsItsChildren() throws {
        let stage = TestQueue()
        let gate = Gate()
        let half = AsyncOperation("half") { context in
            context.progress.report(completed: 1, of: 2)
            await gate.wait()
        }
        let group = GroupOperation(half, stage.noting("one"), AsyncOperation<Void>("bad") { throw Oops() })
        #expect(shown(group) == "0/3")
        stage.run(group)
        #expect(shown(group) == "1/3")
        #expect(group.progress.fractionCompleted == 0.5)
        try group.add(stage.noting("late"))
        stage.steps.runAll()
        #expect(shown(group) == "2/4")
        gate.open()
        stage.steps.runAll()
        #expect(shown(group) == "3/4")
        #expect(group.progress.isFinished)
    }

    @Test func progressIsTheSameForALateReader() {
        let stage = TestQueue()
        let gate = Gate()
        let group = GroupOperation(
            stage.waiting("waits", at: gate), stage.noting("one"), AsyncOperation<Void>("bad") { throw Oops() })
        stage.run(group)
        #expect(shown(group) == "1/3")
        gate.open()
        stage.steps.runAll()
        #expect(shown(group) == "2/3")
    }

    @Test func groupsInGroups() {
        let stage = TestQueue()
        let gate = Gate()
        let inner = GroupOperation(stage.noting("one"), stage.waiting("two", at: gate))
        let group = GroupOperation(inner, stage.noting("three"))
        stage.run(group)
        #expect(group.progress.fractionCompleted == 0.75)
        gate.open()
        stage.steps.runAll()
        #expect(group.progress.fractionCompleted == 1)
    }

    @Test func progressAfterAFailureShowsTheUnitsReached() {
        let stage = TestQueue()
        let group = GroupOperation(
            stage.noting("one"), stage.noting("two"), AsyncOperation<Void>("bad") { throw Oops() },
            stage.noting("three"))
        stage.run(group)
        #expect(shown(group) == "3/4")
        #expect(group.progress.isFinished && group.progress.fractionCompleted == 0.75)
    }
}
