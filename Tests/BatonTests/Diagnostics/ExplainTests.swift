import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(5))) struct ExplainTests {
    private func roots(_ operation: AnyOperation) -> [String] {
        operation.explain().roots.map { "\($0.operation.name): \($0.cause)" }
    }

    @Test func whatNobodyAdded() {
        let stage = Stage()
        let missing = stage.noting("missing")
        let middle = stage.noting("middle", after: missing)
        let last = stage.noting("last", after: middle)
        #expect(roots(missing) == ["missing: notAdded"])
        stage.run(middle, last)
        let explanation = last.explain()
        #expect(explanation.operation == last.reference)
        #expect(explanation.state == .waiting)
        #expect(explanation.waitsFor == [middle.reference])
        #expect(roots(last) == ["missing: notAdded"])
        #expect(
            explanation.description == "‘last’ waits for ‘middle’. "
                + "‘missing’ was not added to any queue: add it, or use `run` or `add(to:)`.")
        missing.cancel()
        stage.steps.runAll()
    }

    @Test func aSuspendedQueue() {
        let stage = Stage(isSuspended: true)
        let first = stage.noting("first")
        let second = stage.noting("second", after: first)
        stage.queue.add(first, second)
        #expect(roots(second) == ["first: queueSuspended"])
        #expect(first.explain().waitsFor == [])
        #expect(first.explain().description == "‘first’ is ready, and its queue is suspended.")
    }

    @Test func aFullQueue() {
        let stage = Stage(width: 1)
        let gate = Gate()
        let running = stage.waiting("running", at: gate)
        let next = stage.noting("next")
        stage.run(running, next)
        #expect(roots(next) == ["next: queueFull(width: 1)"])
        #expect(next.explain().description == "‘next’ is ready, and waits for its turn in a queue of width 1.")
        #expect(roots(running) == ["running: executing"])
        #expect(running.explain().description == "‘running’ is executing.")
        gate.open()
        stage.steps.runAll()
    }

    @Test func oneThatIsAboutToStart() {
        let stage = Stage()
        let operation = stage.noting("operation")
        stage.queue.add(operation)
        #expect(roots(operation) == ["operation: starting"])
        #expect(operation.explain().description == "‘operation’ is about to start.")
        stage.steps.runAll()
    }

    @Test func aBodyThatAwaitsAnother() {
        let stage = Stage(width: 2)
        let gate = Gate()
        let child = stage.waiting("child", at: gate)
        let missing = stage.noting("missing")
        let needy = stage.noting("needy", after: missing)
        let parent = AsyncOperation("parent") { context in
            async let one: Void = context.run(child)
            try await context.run(AsyncOperation("other") { try await needy.value })
            try await one
        }
        stage.run(parent, needy)
        #expect(parent.explain().state == .executing)
        #expect(Set(parent.explain().waitsFor.map(\.name)) == ["child", "other"])
        #expect(Set(roots(parent)) == ["child: executing", "missing: notAdded"])
        stage.run(missing)
        gate.open()
        stage.steps.runAll()
        #expect(parent.ending == "success")
    }

    @Test func aBodyThatNeedsASlotToGoOn() {
        let stage = Stage(width: 1)
        let elsewhere = Stage(on: stage.steps)
        let gate = Gate()
        let source = stage.noting("source")
        let parent = AsyncOperation("parent") { try await source.value }
        stage.run(parent)
        stage.run(stage.waiting("busy", at: gate))
        elsewhere.run(source)
        #expect(roots(parent) == ["parent: waitingForSlot(width: 1)"])
        #expect(parent.explain().description == "‘parent’ can go on when its queue of width 1 has a free slot.")
        gate.open()
        stage.steps.runAll()
        #expect(parent.ending == "success")
    }

    @Test func oneThatHasFinished() {
        let stage = Stage()
        let done = stage.noting("done")
        let failed = AsyncOperation<Void>("failed") { throw Oops() }
        stage.run(done, failed)
        #expect(roots(done) == ["done: finished(Baton.OperationOutcome.success)"])
        #expect(done.explain().description == "‘done’ has finished: success.")
        #expect(done.explain().error == nil)
        #expect(failed.explain().error?.inShort == "failed: oops")
        #expect(failed.explain().description == "‘failed’ has finished without an output: oops.")
    }

    /// Only the first few are listed; each root once, however many ways lead to it.
    @Test func manyRootsAreCutShort() {
        let stage = Stage()
        let missing = (0..<8).map { stage.noting("\($0)") }
        let operation = stage.noting("operation")
        for source in missing {
            operation.addDependency(source)
            operation.addDependency(source)
        }
        stage.run(operation)
        let explanation = operation.explain()
        #expect(explanation.waitsFor.map(\.name) == (0..<8).map { "\($0)" })
        #expect(explanation.roots.count == 8)
        #expect(explanation.description.contains("‘4’ and 3 more."))
        #expect(explanation.description.hasSuffix("And 3 more."))
        operation.cancel()
    }

    /// As many as there are, without recursion.
    @Test func aLongChain() {
        let stage = Stage()
        let missing = stage.noting("missing")
        var chain = [missing]
        for _ in 0..<50_000 {
            let next = AsyncOperation {}
            next.addDependency(chain.last!)
            chain.append(next)
        }
        stage.queue.add(Array(chain.dropFirst()))
        #expect(roots(chain.last!) == ["missing: notAdded"])
        missing.cancel()
        stage.steps.runAll()
        #expect(chain.last!.ending == "success")
    }
}
