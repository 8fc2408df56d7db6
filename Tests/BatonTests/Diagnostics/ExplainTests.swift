import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ExplainTests {
    private func roots(_ operation: AnyOperation) -> [String] {
        operation.explainedRoots
    }

    @Test func anOperationThatNobodyAdded() {
        let stage = TestQueue()
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
            explanation.description == "‘last’ waits for ‘middle’, which waits for ‘missing’. "
                + "‘missing’ was not added to any queue: add it, or use `run` or `add(to:)`."
        )
        missing.cancel()
        stage.steps.runAll()
    }

    @Test("A child of a group that has not started waits for the group, and nobody else has to add it")
    func aChildOfAWaitingGroup() throws {
        let stage = TestQueue()
        let (child, late) = (stage.noting("child"), stage.noting("late"))
        let group = GroupOperation("group", child)
        try group.add(late)
        let last = stage.noting("last", after: child, late)
        stage.run(last)
        #expect(Set(roots(last)) == ["child: awaitingGroup", "late: awaitingGroup"])
        #expect(
            child.explain().description == "‘child’ is a child of a group that has not started, and starts with it: "
                + "add the group, or look at what the group waits for.")
        stage.run(group)
        #expect(stage.ran == ["child", "late", "last"])
    }

    @Test("A step that waits for its input says that its time limit does not concern the input")
    func timeLimitsOfSteps() {
        let (stage, gate) = (TestQueue(), Gate())
        let source = stage.waiting("source", at: gate)
        let step = source.map("step") {}.timeout(.seconds(5))
        let bounded = source.map("bounded") {}.timeout(.seconds(5)).timeout(waiting: .seconds(60))
        let follower = stage.noting("follower", after: source).timeout(.seconds(5))
        stage.run(step, bounded, follower)
        let text = "waits for ‘source’. ‘source’ is executing."
        #expect(
            "\(step.explain())" == "‘step’ \(text) The time limit of ‘step’, 5.0 seconds, is for its own body, and "
                + "does not limit what it waits for.")
        let limit = "‘bounded’ ends in 60.0 seconds if its body has not started by then."
        #expect("\(bounded.explain())" == "‘bounded’ \(text) \(limit)")
        #expect(
            "\(follower.explain())" == "‘follower’ \(text) The time limit of ‘follower’, 5.0 seconds, begins when its "
                + "body starts.")
        stage.clock.advance(by: .seconds(20))
        #expect("\(bounded.explain())".hasSuffix("‘bounded’ ends in 40.0 seconds if its body has not started by then."))
        gate.open()
        stage.steps.runAll()
    }

    @Test func aSuspendedQueue() {
        let stage = TestQueue(isSuspended: true)
        let first = stage.noting("first")
        let second = stage.noting("second", after: first)
        stage.queue.add(first, second)
        #expect(roots(second) == ["first: queueSuspended(queue \(stage.queue.core.number))"])
        #expect(first.explain().waitsFor == [])
        #expect(
            first.explain().description
                == "‘first’ is ready, and its queue is suspended: set its `isSuspended` to false.")
    }

    @Test("A cancelled operation says what it still waits for")
    func cancelledOperations() {
        let (stage, gate) = (TestQueue(), Gate())
        let asked = stage.noting("asked")
        asked.addCondition("is charging") { _ in
            await gate.wait()
            return .satisfied
        }
        stage.run(asked)
        asked.cancel()
        #expect(
            "\(asked.explain())" == "‘asked’ waits for the answer of the condition ‘is charging’: "
                + "its `evaluate` has not returned. "
                + "It was cancelled, and finishes when the condition has answered: let it look at `Task.isCancelled`.")
        gate.open()
        stage.steps.runAll()
    }

    @Test("The explanation of a suspended queue says whether further attempts are held back")
    func furtherAttemptsOfASuspendedQueue() {
        let hint =
            " Its queue is suspended, which does not hold further attempts back: "
            + "set its `suspendsFurtherAttempts` for that."
        let (stage, gate) = (TestQueue(), Gate())
        let operation = AsyncOperation<Void>("flaky") { context in
            if context.attempt == 1 { throw Oops() }
            await gate.wait()
        }
        .retry(.constant(.seconds(10)), attempts: 3)
        let first = stage.waiting("first", at: gate)
        stage.run(operation, first)
        stage.queue.isSuspended = true
        let waiting = "‘flaky’ waits 10.0 seconds for attempt 2, because the last one failed: oops."
        #expect("\(operation.explain())" == waiting + hint)
        #expect("\(first.explain())" == "‘first’ is executing.")
        stage.queue.suspendsFurtherAttempts = true
        #expect("\(operation.explain())" == waiting)
        stage.queue.suspendsFurtherAttempts = false
        stage.advance(by: .seconds(10))
        #expect("\(operation.explain())".hasSuffix("attempt 2." + hint))
        stage.queue.isSuspended = false
        #expect("\(operation.explain())".hasSuffix("attempt 2."))
        gate.open()
        stage.steps.runAll()
    }

    @Test("Explanations describe infinite times in readable words")
    func endlessTimes() {
        let stage = TestQueue()
        let operation = stage.noting("later").delay(.seconds(Int64.max))
        stage.run(operation)
        #expect("\(operation.explain())" == "‘later’ is in its delay, of which 30 years or more are left.")
        operation.cancel()
        stage.steps.runAll()
    }

    @Test func aFullQueue() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let running = stage.waiting("running", at: gate)
        let next = stage.noting("next")
        stage.run(running, next)
        #expect(roots(next).first?.hasSuffix("width: 1, running: [‘running’])") == true)
        #expect(
            next.explain().description
                == "‘next’ is ready, and waits for its turn in a queue of width 1, where ‘running’ runs.")
        #expect(roots(running) == ["running: executing(attempt: 1, time: nil, isCancelled: false)"])
        #expect(running.explain().description == "‘running’ is executing.")
        gate.open()
        stage.steps.runAll()
    }

    @Test("The explanation of an operation that is about to start says so")
    func oneThatIsAboutToStart() {
        let stage = TestQueue()
        let operation = stage.noting("operation")
        stage.queue.add(operation)
        #expect(roots(operation) == ["operation: starting"])
        #expect(operation.explain().description == "‘operation’ is about to start.")
        stage.steps.runAll()
    }

    @Test func aBodyThatAwaitsAnother() {
        let stage = TestQueue(width: 2)
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
        #expect(
            Set(roots(parent)) == ["child: executing(attempt: 1, time: nil, isCancelled: false)", "missing: notAdded"])
        stage.run(missing)
        gate.open()
        stage.steps.runAll()
        #expect(parent.ending == "success")
    }

    @Test func aBodyThatNeedsAPermitToGoOn() {
        let stage = TestQueue(width: 1)
        let elsewhere = TestQueue(on: stage.steps)
        let gate = Gate()
        let source = stage.noting("source")
        let parent = AsyncOperation("parent") { try await source.value }
        stage.run(parent)
        stage.run(stage.waiting("busy", at: gate))
        elsewhere.run(source)
        #expect(roots(parent) == ["parent: waitingForPermit(width: 1, running: [‘busy’])"])
        #expect(
            parent.explain().description
                == "‘parent’ can go on when there is a free permit in a queue of width 1, where ‘busy’ runs.")
        gate.open()
        stage.steps.runAll()
        #expect(parent.ending == "success")
    }

    @Test("The explanation of an operation that has finished says so")
    func oneThatHasFinished() {
        let stage = TestQueue()
        let done = stage.noting("done")
        let failed = AsyncOperation<Void>("failed") { throw Oops() }
        stage.run(done, failed)
        #expect(roots(done) == ["done: finished(success)"])
        #expect(done.explain().description == "‘done’ has finished: success.")
        #expect(done.explain().error == nil)
        #expect(failed.explain().error?.inShort == "failed: oops")
        #expect(failed.explain().description == "‘failed’ has finished without an output: oops.")
    }

    // MARK: Execution times

    private func time(_ operation: AnyOperation) -> Duration? {
        guard case .executing(let run)? = operation.explain().roots.first?.cause else { return nil }
        return run.time
    }

    @Test func howLongABodyRunsIsKnownWhereItsStartIsNoted() {
        let stage = TestQueue()
        let gate = Gate()
        let limited = stage.waiting("limited", at: gate).timeout(.seconds(60))
        let withDeadline = stage.waiting("with a deadline", at: gate)
            .retry(.immediately, attempts: 2, deadline: .seconds(60))
        let repeating = stage.waiting("repeating", at: gate).repeat(every: .seconds(1), count: 1)
        let observed = stage.waiting("observed", at: gate).observe { _ in }
        let bare = stage.waiting("bare", at: gate)
        stage.advance(by: .seconds(5))
        stage.run(limited, withDeadline, repeating, observed, bare)
        stage.advance(by: .seconds(3))
        for operation in [limited, withDeadline, repeating, observed] {
            #expect(time(operation) == .seconds(3), "\(operation)")
        }
        #expect(time(bare) == nil)
        #expect(bare.explain().roots.count == 1)
        gate.open()
        stage.steps.runAll()
    }

    @Test func ofAFurtherAttemptItIsThatOfTheAttempt() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = AsyncOperation("flaky") { context in
            if context.attempt == 1 { throw Oops() }
            await gate.wait()
        }
        .retry(.constant(.seconds(10)), attempts: 2)
        stage.run(operation)
        stage.advance(by: .seconds(10))
        stage.advance(by: .seconds(2))
        #expect(operation.explain().description == "‘flaky’ has been executing for 2.0 seconds, attempt 2.")
        gate.open()
        stage.steps.runAll()
    }

    /// The delay comes before the attempts, and is over when one of them pauses.
    @Test func aDelayIsToldFromTheOtherPauses() {
        let stage = TestQueue()
        let operation = AsyncOperation.delay(.seconds(5)).repeat(every: .seconds(7))
        stage.run(operation)
        #expect(roots(operation) == ["delay: delayed(timeLeft: 5.0 seconds)"])
        stage.advance(by: .seconds(5))
        #expect(roots(operation) == ["delay: repeating(timeLeft: 7.0 seconds)"])
        operation.cancel()
    }

    @Test func aFullQueueNamesAFewOfThoseThatRun() {
        let stage = TestQueue(name: "wide", width: 7)
        let gate = Gate()
        for number in 0..<7 { stage.run(stage.waiting("\(number)", at: gate)) }
        let next = stage.noting("next")
        stage.run(next)
        #expect(
            "\(next.explain())" == "‘next’ is ready, and waits for its turn in ‘wide’, a queue of width 7, "
                + "where ‘0’, ‘1’, ‘2’, ‘3’, ‘4’ and others run.")
        gate.open()
        stage.steps.runAll()
    }

    @Test func waitsSayWhatTheyAreFor() {
        let stage = TestQueue()
        let gate = Gate()
        let input = AsyncOperation<Int>("input") {
            await gate.wait()
            return 1
        }
        let order = stage.noting("order")
        let both = input.then { $0 + 1 }.addDependency(order).addDependency(input)
        stage.run(both)
        #expect(both.explain().waits.map(\.kind) == [.input, .order])
        let child = stage.waiting("child", at: gate)
        let body = AsyncOperation("body") { context in
            async let first: Void = context.run(child)
            try await order.value
            try await first
        }
        stage.run(body)
        let waits = body.explain().waits
        #expect(Set(waits.map { "\($0.kind) \($0.source.name)" }) == ["child child", "awaited order"])
        gate.open()
        stage.run(input, order)
        #expect(body.ending == "success")
    }

    /// The description lists only the first few roots, and each root once, however many paths lead to it.
    @Test func manyRootsAreCutShort() {
        let stage = TestQueue()
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

    // MARK: Chains

    /// Adds operations `1` to `count - 1`, each of which waits for the next one, and explains the first one.
    private func explanationOfChain(_ count: Int) -> String {
        let stage = TestQueue()
        let missing = stage.noting("\(count)")
        var first = missing
        for number in (1..<count).reversed() {
            first = stage.noting("\(number)", after: first)
            stage.run(first)
        }
        defer {
            missing.cancel()
            stage.steps.runAll()
        }
        let ending = " ‘\(count)’ was not added to any queue: add it, or use `run` or `add(to:)`."
        let text = first.explain().description
        #expect(text.hasSuffix(ending))
        return String(text.dropLast(ending.count))
    }

    @Test("An explanation names the operations between the ends of a chain, if they are few")
    func chains() {
        #expect(explanationOfChain(2) == "‘1’ waits for ‘2’.")
        #expect(explanationOfChain(3) == "‘1’ waits for ‘2’, which waits for ‘3’.")
        let links = (3...10).map { ", which waits for ‘\($0)’" }
        #expect(explanationOfChain(10) == "‘1’ waits for ‘2’\(links.joined()).")
        #expect(explanationOfChain(11) == "‘1’ waits for ‘2’. ‘2’ waits, through 8 more, for ‘11’.")
        #expect(explanationOfChain(40) == "‘1’ waits for ‘2’. ‘2’ waits, through 37 more, for ‘40’.")
    }

    @Test("An explanation tells a part that two chains share once")
    func chainsWithAFork() {
        let stage = TestQueue()
        let (left, right) = (stage.noting("left"), stage.noting("right"))
        let end = stage.noting("end", after: left)
        let middle = stage.noting("middle", after: end, right)
        let first = stage.noting("first", after: middle)
        let other = stage.noting("other")
        let both = stage.noting("both", after: first, other)
        stage.run(end, middle, first, both)
        let add = "was not added to any queue: add it, or use `run` or `add(to:)`."
        #expect(
            "\(first.explain())"
                == "‘first’ waits for ‘middle’, which waits for ‘end’, which waits for ‘left’. ‘left’ \(add) "
                + "‘middle’ waits for ‘right’. ‘right’ \(add)")
        #expect(
            "\(both.explain())"
                == "‘both’ waits for ‘first’, ‘other’. "
                + "‘first’ waits for ‘middle’, which waits for ‘end’, which waits for ‘left’. ‘left’ \(add) "
                + "‘middle’ waits for ‘right’. ‘right’ \(add) ‘other’ \(add)")
        stage.run(left, right, other)
    }

    @Test("An explanation of a long chain spells out the waits that are not plain")
    func longChainsWithABarrier() {
        let (stage, elsewhere, gate) = (TestQueue(), TestQueue(), Gate())
        stage.run(stage.waiting("earlier", at: gate))
        stage.queue.addBarrier("flush") {}
        var last = stage.noting("later")
        stage.run(last)
        for number in 1...10 {
            last = elsewhere.noting("\(number)", after: last)
            elsewhere.run(last)
        }
        #expect(
            "\(last.explain())"
                == "‘10’ waits for ‘9’. ‘9’ waits, through 10 more, for ‘earlier’. "
                + "‘later’ waits for the barrier ‘flush’. ‘earlier’ is executing.")
        gate.open()
        stage.steps.runAll()
        elsewhere.steps.runAll()
    }

    @Test("The explanation of a group that depends on its own child says that the group has to start it")
    func aGroupThatDependsOnItsChild() {
        let stage = TestQueue()
        let child = stage.noting("child")
        let group = GroupOperation("group", child)
        let middle = stage.noting("middle", after: child)
        group.addDependency(middle)
        stage.run(group, middle)
        let text =
            "‘child’ is a child of the group ‘group’, which has not started: a group starts its children itself, so "
            + "‘group’ must not wait for ‘child’ before."
        #expect("\(group.explain())" == "‘group’ waits for ‘middle’, which waits for ‘child’. \(text)")
        #expect("\(stage.queue.core.stallReport(after: .seconds(1))!)".contains(text))
        child.cancel()
        stage.steps.runAll()
    }

    @Test("The explanation of a child names its group, if the search has come to it")
    func aChildOfAGroupThatWaits() {
        let stage = TestQueue()
        let (child, other) = (stage.noting("child"), stage.noting("other"))
        let group = GroupOperation("group", child)
        group.addDependency(other)
        let last = stage.noting("last", after: child, group)
        stage.run(group, last)
        let text = "\(last.explain())"
        #expect(
            text.contains(
                "‘child’ is a child of the group ‘group’, which has not started, and starts with it: look at what the "
                    + "group waits for."), "\(text)")
        stage.run(other)
        #expect(stage.ran == ["other", "child", "last"])
    }

    // MARK: Handlers

    @Test("The explanation of an operation that has finished names the handler that has not returned")
    func handlersThatRun() async {
        let (stage, gate) = (TestQueue(), Gate())
        let start = AsyncOperation<Void>("start") { throw Oops() }.didStart { await gate.wait() }
        let finish = stage.noting("finish").didFinish { _ in await gate.wait() }.didFinish { _ in }
        let cancel = stage.noting("cancel").didCancel { _ in await gate.wait() }
        // No queue has it yet: its handler runs on a task of its own, and not as a step of the queue.
        cancel.cancel()
        await gate.waitForWaiters(count: 1)
        stage.run(start, finish, cancel)
        #expect(
            "\(start.explain())"
                == "‘start’ has finished without an output: oops. Its didStart handler has not returned.")
        #expect(
            "\(finish.explain())" == "‘finish’ has finished: success. "
                + "Its didFinish handler has not returned, and other handlers wait for it.")
        #expect("\(cancel.explain())".hasSuffix(". Its didCancel handler has not returned."))
        gate.open()
        stage.steps.runAll()
        #expect("\(finish.explain())" == "‘finish’ has finished: success.")
    }

    @Test("The explanation of an operation that has finished tells handlers that are about to be called")
    func handlersThatAreDue() {
        let stage = TestQueue()
        let operation = stage.noting("operation")
        stage.run(operation)
        operation.didFinish { _ in }
        #expect("\(operation.explain())" == "‘operation’ has finished: success. Its handlers are about to be called.")
        stage.steps.runAll()
        #expect("\(operation.explain())" == "‘operation’ has finished: success.")
    }

    /// A chain of any length is explained without recursion.
    @Test func aLongChain() {
        let stage = TestQueue()
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
