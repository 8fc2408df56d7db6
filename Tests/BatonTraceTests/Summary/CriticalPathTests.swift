import Testing

@testable import Baton
@testable import BatonTrace

/// Tests the critical path of handwritten traces.
@Suite(.timeLimit(.minutes(10))) struct CriticalPathTests {
    private var sketch = Sketch()

    /// Returns steps such as "name running 1-2" and "name queue 2-3", in milliseconds.
    private func path(_ sketch: Sketch) -> [String] {
        sketch.trace.criticalPath().steps.map { step in
            let what =
                switch step.activity {
                case .running: "running"
                case .waiting(let reason): "\(reason)"
                }
            let times = [step.start, step.end].map { "\($0.nanoseconds / 1_000_000)" }.joined(separator: "-")
            return "\(step.operation.name) \(what) \(times)"
        }
    }

    @Test func withoutOperationsItIsEmpty() {
        #expect(path(sketch) == [])
        #expect(sketch.trace.criticalPath().operations.isEmpty)
    }

    @Test("The critical path of one operation is that operation")
    func oneOperationIsAllOfIt() {
        var sketch = Sketch()
        sketch.add("a", 0, ready: 1, start: 2, end: 9)
        #expect(path(sketch) == ["a queue 0-2", "a running 2-9"])
    }

    @Test func ofTwoDependenciesTheLaterCounts() {
        var sketch = Sketch()
        let a = sketch.add("a", 0, start: 0, end: 3)
        let b = sketch.add("b", 0, start: 0, end: 5)
        sketch.add("c", 0, after: [a, b], ready: 5, start: 5, end: 8)
        #expect(path(sketch) == ["b running 0-5", "c running 5-8"])
    }

    @Test func aDependencyThatFinishedBeforeTheAddIsNoCause() {
        var sketch = Sketch()
        let a = sketch.add("a", 0, start: 0, end: 3)
        sketch.add("b", 4, after: [a], ready: 6, start: 6, end: 8)
        #expect(path(sketch) == ["b queue 4-6", "b running 6-8"])
    }

    @Test func aWaitForTheQueueLeadsToTheOperationThatMadeRoom() {
        var sketch = Sketch()
        sketch.add("short", 0, start: 0, end: 2)
        sketch.add("long", 0, ready: 0, start: 2, end: 7)
        sketch.add("last", 0, ready: 0, start: 7, end: 9)
        #expect(path(sketch) == ["short running 0-2", "long running 2-7", "last running 7-9"])
    }

    @Test(
        "An operation that never ran is not the end of the path, whatever kept it from running",
        arguments: [
            TracedOperation.Outcome.skipped, .cancelled, .failure, .success,
        ])
    func pathEndsWithARun(outcome: TracedOperation.Outcome) {
        var sketch = Sketch()
        let a = sketch.add("a", 0, ready: 0, start: 0, end: 5)
        sketch.add("never", 0, after: [a], end: 9, outcome: outcome)
        // This operation was ready, but ended before a worker took it.
        sketch.add("ready", 0, ready: 3, end: 12, outcome: outcome)
        sketch.add("waits", 0, after: [a], outcome: nil)
        sketch.trace.end = .milliseconds(20)
        #expect(path(sketch) == ["a running 0-5"])
        #expect(sketch.trace.criticalPath().operations.map(\.name) == ["a"])
    }

    @Test("If nothing ran, there is no path")
    func pathWithoutRuns() {
        var sketch = Sketch()
        let a = sketch.add("skipped", 0, end: 5, outcome: .skipped)
        sketch.add("never", 0, after: [a], end: 9, outcome: .failure)
        sketch.add("waits", 0, ready: 1, outcome: nil)
        #expect(sketch.trace.criticalPath().operations.isEmpty && path(sketch).isEmpty)
        #expect(!sketch.trace.summary().description.contains("Critical path"))
    }

    @Test("The path leads through an operation that never ran, without showing it")
    func pathThroughOneThatNeverRan() {
        var sketch = Sketch()
        let a = sketch.add("a", 0, ready: 0, start: 0, end: 5)
        let skipped = sketch.add("skipped", 0, after: [a], end: 6, outcome: .skipped)
        let cancelled = sketch.add("cancelled", 0, after: [skipped], end: 7, outcome: .cancelled)
        sketch.add("b", 0, after: [cancelled], ready: 8, start: 8, end: 9)
        #expect(sketch.trace.criticalPath().operations.map(\.name) == ["a", "b"])
        // `b` got ready a millisecond after its dependency had ended.
        #expect(path(sketch) == ["a running 0-5", "b dependencies 5-7", "b queue 7-8", "b running 8-9"])
    }

    @Test("The time of a child that never ran belongs to the operation that waited for it")
    func pathThroughAChildThatNeverRan() {
        var sketch = Sketch()
        let upstream = sketch.add("upstream", 0, ready: 0, start: 0, end: 5)
        let group = sketch.add("group", 1, ready: 1, start: 1, end: 20)
        sketch.add("skipped", 2, after: [upstream], end: 8, in: group, outcome: .skipped)
        // Nothing explains the end of this child, so the group goes on with the child that ended before it.
        sketch.add("after conditions", 10, evaluating: 10, end: 15, in: group, outcome: .skipped)
        #expect(path(sketch) == ["upstream running 0-5", "group running 5-20"])
        #expect(sketch.trace.criticalPath().operations.map(\.name) == ["upstream", "group"])
    }

    @Test("A child that never ran and waited for nothing leaves the path to its sibling, or to its parent")
    func pathPastAChildThatNeverRan() {
        var sketch = Sketch()
        let group = sketch.add("group", 0, ready: 0, start: 0, end: 20)
        sketch.add("skipped", 1, end: 12, in: group, outcome: .skipped)
        #expect(path(sketch) == ["group running 0-20"])
        sketch.add("ran", 2, ready: 2, start: 2, end: 9, in: group)
        #expect(path(sketch) == ["group running 0-2", "ran running 2-9", "group running 9-20"])
        #expect(sketch.trace.criticalPath().operations.map(\.name) == ["group", "ran"])
    }

    @Test("The operation of a condition is on the path, although the condition let its operation not run")
    func pathThroughTheOperationOfACondition() {
        var sketch = Sketch()
        let a = sketch.add("a", 0, ready: 0, start: 0, end: 3)
        let skipped = sketch.add("skipped", 0, after: [a], evaluating: 3, end: 9, outcome: .skipped)
        sketch.add("permit", 4, ready: 4, start: 4, end: 8, in: skipped)
        // The last run is that of the permit. What came before it is the time until its condition was evaluated.
        #expect(path(sketch) == ["a running 0-3", "permit conditions 3-4", "permit running 4-8"])
        #expect(sketch.trace.criticalPath().operations.map(\.name) == ["a", "permit"])
        sketch.add("b", 0, after: [skipped], ready: 9, start: 9, end: 10)
        #expect(
            path(sketch) == [
                "a running 0-3", "permit conditions 3-4", "permit running 4-8", "b dependencies 8-9",
                "b running 9-10",
            ])
        #expect(sketch.trace.criticalPath().operations.map(\.name) == ["a", "permit", "b"])
    }

    @Test("A permit of an operation that never ran leads back to the parent of that operation")
    func pathThroughAPermitToTheParent() {
        var sketch = Sketch()
        let group = sketch.add("group", 0, ready: 0, start: 0, end: 3)
        let skipped = sketch.add("skipped", 1, evaluating: 1, end: 9, in: group, outcome: .skipped)
        sketch.add("permit", 4, ready: 4, start: 4, end: 8, in: skipped)
        #expect(path(sketch) == ["group running 0-1", "permit conditions 1-4", "permit running 4-8"])
    }

    @Test("A wait for a rate or a suspended queue is a step of its own")
    func ratesAndSuspensionsAreSteps() {
        var sketch = Sketch()
        sketch.add("other", 0, ready: 0, start: 0, end: 3)
        sketch.add("a", 0, ready: 0, start: 9, end: 10)
        sketch.trace.operations[1].attempts[0].obstacles = [
            .init(reason: .rate, name: "‘api’", start: .zero, end: .milliseconds(5))
        ]
        sketch.trace.operations[1].suspensions = [.init(start: .milliseconds(5), end: .milliseconds(9))]
        #expect(path(sketch) == ["a rate 0-5", "a suspension 5-9", "a running 9-10"])
    }

    @Test func aSuspensionIsAWaitThatNobodyExplains() {
        var sketch = Sketch()
        sketch.add("a", 0, start: 0, end: 1)
        sketch.add("b", 2, ready: 2, start: 6, end: 7)
        #expect(path(sketch) == ["b queue 2-6", "b running 6-7"])
    }

    @Test func aParentIsAsLongAsItsLastChild() {
        var sketch = Sketch()
        let parent = sketch.add("parent", 0, start: 1, end: 10)
        sketch.add("quick", 2, ready: 2, start: 2, end: 4, in: parent)
        sketch.add("slow", 2, ready: 2, start: 3, end: 9, in: parent)
        #expect(
            path(sketch) == [
                "parent queue 0-1", "parent running 1-2", "slow queue 2-3", "slow running 3-9", "parent running 9-10",
            ])
        #expect(sketch.trace.criticalPath().operations.map(\.name) == ["parent", "slow"])
        #expect(sketch.trace.criticalPath().duration == .milliseconds(10))
    }

    @Test func childrenOneAfterAnotherAreAllOnIt() {
        var sketch = Sketch()
        let parent = sketch.add("parent", 0, ready: 0, start: 0, end: 10)
        sketch.add("one", 1, ready: 1, start: 1, end: 4, in: parent)
        sketch.add("two", 5, ready: 5, start: 5, end: 9, in: parent)
        #expect(
            path(sketch) == [
                "parent running 0-1", "one running 1-4", "parent running 4-5", "two running 5-9", "parent running 9-10",
            ])
    }

    @Test("Children that took no time do not end the path of their parent")
    func childrenWithoutTime() {
        var sketch = Sketch()
        let parent = sketch.add("parent", 0, ready: 0, start: 0, end: 10)
        for name in ["one", "two"] { sketch.add(name, 5, ready: 5, start: 5, end: 5, in: parent) }
        #expect(path(sketch) == ["parent running 0-10"])
        #expect(sketch.trace.criticalPath().operations.map(\.name) == ["parent", "one", "two"])
    }

    @Test func aConditionsOperationIsOnIt() {
        var sketch = Sketch()
        let a = sketch.add("a", 0, evaluating: 0, ready: 6, start: 6, end: 9)
        sketch.add("permit", 1, ready: 1, start: 1, end: 5, in: a)
        #expect(path(sketch) == ["a conditions 0-1", "permit running 1-5", "a conditions 5-6", "a running 6-9"])
    }

    @Test func aPauseBetweenAttemptsIsAStep() {
        var sketch = Sketch()
        sketch.add("a", 0, ready: 0, start: 0, end: 9)
        sketch.trace.operations[0].attempts = [
            .init(number: 1, ready: .zero, start: .zero, end: .milliseconds(2), error: "oops", pause: .milliseconds(3)),
            .init(
                number: 2, ready: .milliseconds(5), start: .milliseconds(5), end: .milliseconds(9), error: nil,
                pause: nil),
        ]
        #expect(path(sketch) == ["a running 0-2", "a pause 2-5", "a running 5-9"])
    }

    @Test func anUnfinishedOperationDeterminesTheEnd() {
        var sketch = Sketch()
        let a = sketch.add("a", 0, ready: 0, start: 0, end: 5)
        sketch.add("b", 0, after: [a], ready: 5, start: 5, outcome: nil)
        sketch.trace.end = .milliseconds(20)
        #expect(path(sketch) == ["a running 0-5", "b running 5-20"])
    }

    @Test func ofThoseThatGoOnOneThatRunsIsTheCause() {
        var sketch = Sketch()
        sketch.add("waits", 0, outcome: nil)
        sketch.add("runs", 0, ready: 0, start: 0, outcome: nil)
        sketch.trace.end = .milliseconds(20)
        #expect(path(sketch) == ["runs running 0-20"])
    }

    @Test func anOperationThatWaitsForARunningOneIsNotTheCause() {
        var sketch = Sketch()
        // The parent of this operation is not in the trace.
        let a = sketch.add("a", 0, ready: 0, start: 0, in: 99, outcome: nil)
        sketch.add("b", 0, after: [a], outcome: nil)
        sketch.trace.end = .milliseconds(20)
        #expect(path(sketch) == ["a running 0-20"])
        // `b` has not run, so it has not delayed the end.
        #expect(sketch.trace.criticalPath().operations.map(\.name) == ["a"])
    }

    @Test func aParentThatGoesOnWaitsForItsChildThatGoesOn() {
        var sketch = Sketch()
        let parent = sketch.add("parent", 0, ready: 0, start: 0, outcome: nil)
        sketch.add("child", 5, ready: 5, start: 5, in: parent, outcome: nil)
        sketch.trace.end = .milliseconds(20)
        #expect(path(sketch) == ["parent running 0-5", "child running 5-20"])
    }

    @Test("An operation that took no time is on the path without a step")
    func oneThatTookNoTimeIsOnItWithoutAStep() {
        var sketch = Sketch()
        let a = sketch.add("a", 0, ready: 0, start: 0, end: 5)
        let b = sketch.add("b", 0, after: [a], ready: 5, start: 5, end: 5)
        sketch.add("c", 0, after: [b], ready: 5, start: 5, end: 9)
        #expect(sketch.trace.criticalPath().operations.map(\.name) == ["a", "b", "c"])
        #expect(path(sketch) == ["a running 0-5", "c running 5-9"])
    }

    @Test func traceThatContradictsItselfEndsToo() {
        var sketch = Sketch()
        let a = sketch.add("a", 0, after: [2], ready: 5, start: 5, end: 9)
        let b = sketch.add("b", 0, after: [a], ready: 5, start: 5, end: 9, in: a)
        sketch.trace.operations[0].parent = sketch.reference(b)
        sketch.trace.operations[0].edges.append(.init(source: sketch.reference(a), kind: .order))
        #expect(sketch.trace.criticalPath().duration <= .milliseconds(9))
        sketch.trace.operations[1].parent = sketch.reference(b)
        #expect(sketch.trace.criticalPath().duration <= .milliseconds(9))
    }

    /// This would take an hour if each step back to the parent searched its attempts from the end.
    @Test("Finding the path through many runs with a child each takes linear time")
    func oneThatRunsManyTimesWithAChildEachTakesNoTime() {
        var sketch = Sketch()
        let parent = sketch.add("parent", 0, ready: 0, start: 0, end: 50_000 * 4)
        var attempts: [TracedOperation.Attempt] = []
        for run in 0..<50_000 {
            let start = Duration.milliseconds(run * 4)
            attempts.append(
                .init(
                    number: 1, ready: start, start: start, end: start + .milliseconds(3), pause: .milliseconds(1)))
            var child = TracedOperation(.sketched(UInt64(run + 2), "child"))
            child.parent = sketch.reference(parent)
            child.added = start + .milliseconds(1)
            child.attempts = [.init(number: 1, ready: child.added, start: child.added, end: start + .milliseconds(2))]
            child.finished = start + .milliseconds(2)
            child.outcome = .success
            sketch.trace.operations.append(child)
        }
        sketch.trace.operations[0].attempts = attempts
        let path = sketch.trace.criticalPath()
        #expect(path.duration == .milliseconds(50_000 * 4))
        #expect(path.operations.count == 50_001)
    }
}
