import BatonTesting
import Testing

@testable import Baton

/// An operation that is added twice, or changed after it was added, is reported once, and does not change.
@Suite(.timeLimit(.minutes(10))) struct RepeatedAddTests {
    @Test func toTheSameQueueAtEveryPointOfItsLife() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let operation = stage.waiting("operation", at: gate)
        stage.queue.add(operation)
        stage.queue.add(operation)
        #expect(stage.misuseKinds == [.addedTwice])
        stage.run(operation)
        #expect(operation.ending == "executing")
        #expect(stage.misuses.count == 2)
        stage.queue.add([operation])
        #expect(stage.misuses.count == 3)
        gate.open()
        stage.steps.runAll()
        stage.run(operation)
        #expect(stage.misuses.count == 4, "It is one run; a finished one does not run again.")
        #expect(stage.ran == ["operation"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test func toAnotherQueue() {
        let stage = TestQueue(name: "first")
        let other = TestQueue(name: "second", on: stage.steps)
        let operation = stage.noting("operation")
        stage.queue.add(operation)
        other.queue.add(operation)
        #expect(stage.misuseKinds == [])
        #expect(other.misuseKinds == [.addedTwice])
        #expect(other.queue.operationCount == 0)
        stage.steps.runAll()
        #expect(stage.ran == ["operation"])
    }

    @Test func twiceInOneCall() {
        let stage = TestQueue()
        let operation = stage.noting("operation")
        stage.run(operation, operation, operation)
        #expect(stage.misuseKinds == [.addedTwice, .addedTwice])
        #expect(stage.ran == ["operation"])
    }

    @Test func runningWhatWasAddedIsNoMisuse() {
        let stage = TestQueue()
        let operation = AsyncOperation("operation") { 7 }
        let values = EventLog<Int>()
        stage.queue.add(operation)
        for _ in 0..<3 {
            stage.steps.task { [queue = stage.queue] in values(try! await queue.run(operation)) }
            stage.steps.runAll()
        }
        #expect(values.events == [7, 7, 7])
        #expect(stage.misuseKinds == [])
    }

    @Test func changesAfterAddingAreRefused() {
        let stage = TestQueue(isSuspended: true)
        let source = stage.noting("source")
        let other = stage.noting("other")
        let operation = stage.noting("operation", after: source)
        stage.queue.add(operation)
        operation.addDependency(other)
        operation.removeDependency(source)
        operation.name = "renamed"
        #expect(
            stage.misuseKinds == [
                .changedAfterAdding("the dependency on ‘other’"), .changedAfterAdding("the dependency on ‘source’"),
                .changedAfterAdding("the name"),
            ])
        #expect(stage.misuses.events.allSatisfy { $0.operation?.name == "operation" })
        #expect(operation.dependencies.map(\.name) == ["source"])
        #expect(operation.name == "operation")
        stage.queue.isSuspended = false
        stage.run(source)
        #expect(stage.ran == ["source", "operation"])
    }

    @Test("Misuse of a method reports its call site")
    func theyTellTheirPlaceWhereSwiftDoes() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("operation")
        stage.queue.add(operation)
        operation.addDependency(operation)
        let line = #line - 1
        operation.name = "renamed"
        #expect(stage.misuses.events.first?.callSite == "\(#fileID):\(line)")
        #expect(stage.misuses.events.last?.callSite == nil)
        #expect(stage.misuses.count == 2)
        operation.cancel()
    }

    @Test func changesAfterTheFinishAreRefused() {
        let stage = TestQueue()
        let operation = stage.noting("operation")
        stage.run(operation)
        operation.addDependency(stage.noting("other"))
        #expect(stage.misuseKinds == [.changedAfterAdding("the dependency on ‘other’")])
        #expect(operation.dependencies.isEmpty)
    }

    /// No queue has the operation, so the misuse is reported to standard error.
    @Test func anInputCannotBeRemoved() {
        let stage = TestQueue()
        let data = AsyncOperation("data") { 20 }
        let reader = data.then { $0 + 1 }
        let warmUp = stage.noting("warm up")
        reader.addDependency(warmUp)
        reader.removeDependency(data)
        #expect(reader.dependencies.map(\.name) == ["data", "warm up"])
        stage.run(warmUp, data, reader)
        #expect(try! reader.result?.get() == 21)
    }

    @Test func observersMayComeAnyTime() {
        let stage = TestQueue()
        let operation = stage.noting("operation")
        stage.run(operation)
        operation.didFinish { [log = stage.log] _ in log("late") }
        stage.steps.runAll()
        #expect(stage.misuseKinds == [])
        #expect(stage.ran == ["operation", "late"])
    }
}
