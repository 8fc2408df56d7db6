import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ContextTests {
    @Test("A context names the operation and the attempt")
    func itNamesTheOperationAndTheAttempt() {
        let stage = TestQueue()
        // The operation must not be its own output, because it would never be released.
        let operation = AsyncOperation { context in (ObjectIdentifier(context.operation), context.attempt) }
        stage.run(operation)
        let (named, attempt) = try! operation.result!.get()
        #expect(named == ObjectIdentifier(operation))
        #expect(attempt == 1)
    }

    @Test func aChildIsRunWithAllThatItNeeds() {
        let stage = TestQueue(width: 1)
        let parent = AsyncOperation("parent") { context in
            let number = AsyncOperation { 20 }
            return try await context.run(number.then { $0 * 2 }) + 2
        }
        stage.run(parent)
        #expect(try! parent.result?.get() == 42)
    }

    @Test func theErrorOfAChildIsThrown() {
        let stage = TestQueue()
        let parent = AsyncOperation<String> { context in
            do throws(OperationError) {
                try await context.run(AsyncOperation { throw Oops() })
                return "nothing"
            } catch { return error.inShort }
        }
        stage.run(parent)
        #expect(try! parent.result?.get() == "failed: oops")
    }

    @Test func aChildThatHasFinishedIsNotRunAgain() {
        let stage = TestQueue(width: 1)
        let child = stage.noting("child")
        stage.run(child)
        let parent = AsyncOperation { context in
            try await context.run(child)
            try await context.run(child)
        }
        stage.run(parent)
        #expect(stage.ran == ["child"])
        #expect(parent.ending == "success")
    }

    /// Whichever of several waits ends, the others are still reported and still cancelled, and so is a wait that
    /// begins then.
    @Test(arguments: 0..<3) func aWaitThatEndsTakesNoOtherAway(ended: Int) {
        let stage = TestQueue()
        let gates = (0..<4).map { _ in Gate() }
        let children = gates.indices.map { stage.waiting("\($0)", at: gates[$0]) }
        let parent = AsyncOperation("parent") { context in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for child in children.dropLast() { group.addTask { try await context.run(child) } }
                try await group.next()
                group.addTask { try await context.run(children[3]) }
                try await group.waitForAll()
            }
        }
        stage.run(parent)
        gates[ended].open()
        stage.steps.runAll()
        let others = Set(["0", "1", "2", "3"]).subtracting(["\(ended)"])
        #expect(Set(parent.waits.map { $0.source.name }) == others)
        parent.cancel()
        #expect(children.filter(\.isCancelled).count == 3)
        for gate in gates { gate.open() }
        stage.steps.runAll()
        #expect(parent.waits.isEmpty)
        #expect(children[ended].ending == "success")
    }

    @Test func twoWaitsForOneEndEach() {
        let stage = TestQueue()
        let gate = Gate()
        let child = stage.waiting("child", at: gate)
        let parent = AsyncOperation("parent") { [log = stage.log] context in
            async let first: Void = context.run(child)
            async let second: Void = context.run(child)
            _ = try await (first, second)
            log("\(context.operation.waits.count) left")
        }
        stage.run(parent)
        #expect(parent.waits.count == 2)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["child", "0 left"])
    }

    @Test func aChildMayHaveBeenAddedToAnotherQueue() {
        let here = TestQueue(width: 1)
        let there = TestQueue(width: 1, on: here.steps)
        let child = here.noting("child")
        there.queue.add(child)
        let parent = AsyncOperation { context in try await context.run(child) }
        here.run(parent)
        #expect(parent.ending == "success")
        #expect(here.ran == ["child"])
    }

    @Test func aCancelledParentCancelsItsChildrenAndWaitsForThem() {
        let stage = TestQueue()
        let gate = Gate()
        let stubborn = stage.waiting("stubborn", at: gate)
        let unrun = stage.noting("unrun", after: stubborn)
        let parent = AsyncOperation("parent") { context in
            async let first: Void = context.run(stubborn)
            async let second: Void = context.run(unrun)
            _ = try? await first
            try await second
        }
        stage.run(parent)
        parent.cancel()
        stage.steps.runAll()
        #expect(stubborn.isCancelled)
        #expect(unrun.ending == "cancelled with ‘parent’, its parent")
        #expect(parent.ending == "executing")
        gate.open()
        stage.steps.runAll()
        #expect(stubborn.ending == "success")
        #expect(parent.ending == "cancelled on request")
    }

    @Test func aCancelledParentRefusesNewChildren() {
        let stage = TestQueue()
        let child = stage.noting("child")
        let parent = AsyncOperation("parent") { context in
            context.operation.cancel()
            try? await context.run(child)
        }
        stage.run(parent)
        #expect(child.ending == "cancelled with ‘parent’, its parent")
        #expect(parent.ending == "success")
        #expect(stage.ran == [])
    }

    /// A task that the body has started is not cancelled with it, but the operations that it runs for the body are.
    @Test func aCancelledParentRefusesNewChildrenOfTasksOfItsOwn() {
        let stage = TestQueue()
        let child = stage.noting("child")
        let parent = AsyncOperation("parent") { [steps = stage.steps] context in
            context.operation.cancel()
            await steps.task { try? await context.run(child) }.value
        }
        stage.run(parent)
        #expect(child.ending == "cancelled with ‘parent’, its parent")
        #expect(stage.ran == [])
    }

    /// A cancelled child task of the body cancels the operation that it runs, but not the parent.
    @Test func aCancelledBranchCancelsOnlyItsChild() {
        let stage = TestQueue()
        let gate = Gate()
        let child = AsyncOperation("child") { try await gate.waitUnlessCancelled() }
        let parent = AsyncOperation("parent") { context in
            await withTaskGroup { group in
                group.addTask { _ = try? await context.run(child) }
                await Task.yield()
                group.cancelAll()
            }
        }
        stage.run(parent)
        #expect(child.ending == "cancelled with ‘parent’, its parent")
        #expect(parent.ending == "success")
        #expect(!parent.isCancelled)
    }

    @Test func afterTheBodyHasReturnedItIsMisuse() {
        let stage = TestQueue()
        let child = stage.noting("child")
        let contexts = EventLog<OperationContext>()
        let parent = AsyncOperation("parent") { context in contexts(context) }
        stage.run(parent)
        let thrown = EventLog<String>()
        stage.steps.task {
            do throws(OperationError) {
                try await contexts.events[0].run(child)
            } catch { thrown(error.inShort) }
        }
        stage.steps.runAll()
        #expect(thrown.events == ["misuse: ranAfterTheEnd"])
        #expect(child.ending == "created")
    }

    @Test func aProcedureCanBeCalledDirectly() async throws {
        struct Twice: InputProcedure {
            func execute(_ input: Int, in context: OperationContext) async throws -> Int {
                try await context.run(AsyncOperation { input }) * 2 * context.attempt
            }
        }
        let context = OperationContext(queue: AsyncOperationQueue(maxConcurrentOperationCount: 1))
        #expect(try await Twice().execute(21, in: context) == 42)
        #expect(context.operation.state == .created)
    }
}
