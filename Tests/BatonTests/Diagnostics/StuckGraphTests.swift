import BatonTesting
import Testing

@testable import Baton

/// Tests of graphs that are stuck on purpose, each for a different reason. The operation that is asked is three or more
/// operations away from the root.
@Suite(.timeLimit(.minutes(10))) struct StuckGraphTests {
    private let stage = TestQueue()
    private let gate = Gate()

    /// Adds a chain in which `asked` waits for `middle`, `middle` for `near`, and `near` for `source`. Returns `asked`.
    private func asked(behind source: AnyOperation) -> AnyOperation {
        let near = stage.noting("near", after: source)
        let middle = stage.noting("middle", after: near)
        let asked = stage.noting("asked", after: middle)
        stage.run(near, middle, asked)
        return asked
    }

    private func end() {
        gate.open()
        stage.steps.runAll()
    }

    @Test func nobodyAddedIt() {
        let root = stage.noting("root")
        let asked = asked(behind: root)
        #expect(asked.explainedRoots == ["root: notAdded"])
        #expect(
            "\(asked.explain())" == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘root’. "
                + "‘root’ was not added to any queue: add it, or use `run` or `add(to:)`.")
        root.cancel()
    }

    @Test("An explanation names a root whose queue is suspended")
    func itsQueueIsSuspended() {
        let uploads = TestQueue(name: "uploads", isSuspended: true, on: stage.steps)
        let root = uploads.noting("root")
        uploads.run(root)
        let asked = asked(behind: root)
        #expect(asked.explainedRoots == ["root: queueSuspended(‘uploads’)"])
        #expect(
            "\(asked.explain())" == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘root’. "
                + "‘root’ is ready, and its queue ‘uploads’ is suspended: set its `isSuspended` to false.")
        root.cancel()
    }

    @Test("An explanation names a root whose queue is full")
    func itsQueueIsFull() {
        let narrow = TestQueue(name: "thumbnails", width: 1, on: stage.steps)
        narrow.run(narrow.waiting("busy", at: gate))
        let root = narrow.noting("root")
        narrow.run(root)
        let asked = asked(behind: root)
        #expect(asked.explainedRoots == ["root: queueFull(‘thumbnails’, width: 1, running: [‘busy’])"])
        #expect(
            "\(asked.explain())" == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘root’. "
                + "‘root’ is ready, and waits for its turn in ‘thumbnails’, a queue of width 1, where ‘busy’ runs.")
        end()
        #expect(asked.ending == "success")
    }

    @Test("An explanation names a root whose condition does not return")
    func itsConditionDoesNotAnswer() {
        let root = stage.noting("root").addCondition("is charging") { [gate] _ in
            await gate.wait()
            return .satisfied
        }
        stage.run(root)
        let asked = asked(behind: root)
        #expect(asked.explainedRoots == ["root: evaluating([\"is charging\"])"])
        #expect(
            "\(asked.explain())"
                == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘root’. "
                + "‘root’ waits for the answer of the condition ‘is charging’: its `evaluate` has not returned.")
        end()
    }

    /// The holder in turn waits for an operation that nobody has added.
    @Test("An explanation names a root whose exclusion is held in another queue")
    func itsExclusionIsHeldInAnotherQueue() {
        let elsewhere = TestQueue(on: stage.steps)
        let name = "\(#function) \(ObjectIdentifier(stage.queue))"
        let missing = stage.noting("missing")
        let holder = AsyncOperation("holder") { try await missing.value }
        elsewhere.run(holder.addCondition(.mutuallyExclusive(name)))
        let root = stage.noting("root").addCondition(.mutuallyExclusive(name))
        stage.run(root)
        let asked = asked(behind: root)
        #expect(asked.explainedRoots == ["root: excluded(by: ‘holder’, exclusion: ‘\(name)’)", "missing: notAdded"])
        #expect(
            "\(asked.explain())" == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘root’. "
                + "‘root’ waits for the exclusion ‘\(name)’, after ‘holder’. "
                + "‘holder’ waits for ‘missing’. "
                + "‘missing’ was not added to any queue: add it, or use `run` or `add(to:)`."
        )
        stage.run(missing)
        #expect(asked.ending == "success")
    }

    @Test("An explanation names a root with a long delay")
    func itIsInALongDelay() {
        let root = AsyncOperation.delay(.seconds(60))
        stage.run(root)
        let asked = asked(behind: root)
        stage.advance(by: .milliseconds(4750))
        #expect(asked.explainedRoots == ["delay: delayed(timeLeft: 55.25 seconds)"])
        #expect(
            "\(asked.explain())"
                == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘delay’. "
                + "‘delay’ is in its delay, of which 55.25 seconds are left.")
        root.cancel()
    }

    @Test("An explanation names a root that waits for its next attempt")
    func itsNextAttemptComesLater() {
        let root = AsyncOperation("flaky") { () throws in throw Oops() }
            .retry(.exponential(from: .seconds(10)), attempts: 3)
        stage.run(root)
        stage.advance(by: .seconds(10))
        let asked = asked(behind: root)
        stage.advance(by: .seconds(4))
        #expect(asked.explainedRoots == ["flaky: retrying(attempt: 3, timeLeft: 16.0 seconds, lastError: oops)"])
        #expect(
            "\(asked.explain())" == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘flaky’. "
                + "‘flaky’ waits 16.0 seconds for attempt 3, because the last one failed: oops.")
        root.cancel()
    }

    @Test("An explanation names a root that repeats without end")
    func itRepeatsForEver() {
        let root = stage.noting("poll").repeat(every: .seconds(10))
        stage.run(root)
        let asked = asked(behind: root)
        stage.advance(by: .seconds(3))
        #expect(asked.explainedRoots == ["poll: repeating(timeLeft: 7.0 seconds)"])
        #expect(
            "\(asked.explain())"
                == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘poll’. "
                + "‘poll’ repeats, and waits 7.0 seconds for its next run.")
        root.cancel()
    }

    @Test("An explanation names a root whose child cannot start")
    func itsChildCannotStart() {
        let uploads = TestQueue(name: "uploads", isSuspended: true, on: stage.steps)
        let child = uploads.noting("child")
        uploads.run(child)
        let group = GroupOperation("group", stage.noting("other"), child)
        stage.run(group)
        let asked = asked(behind: group)
        #expect(asked.explainedRoots == ["child: queueSuspended(‘uploads’)"])
        #expect(group.explain().waits.map(\.kind) == [.child])
        child.cancel()
    }

    @Test func anExplanationNamesTheOriginalThatRuns() {
        let key = ObjectIdentifier(stage.queue)
        let original = stage.waiting("original", at: gate).timeout(.seconds(60)).unique(by: key, policy: .join)
        let joiner = stage.noting("joiner").unique(by: key, policy: .join)
        stage.run(original, joiner)
        let asked = asked(behind: joiner)
        stage.advance(by: .milliseconds(3200))
        #expect(
            asked.explainedRoots
                == ["original: executing(attempt: 1, time: Optional(3.2 seconds), isCancelled: false)"])
        #expect(
            "\(asked.explain())" == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘joiner’, "
                + "which shares the outcome of ‘original’. "
                + "‘original’ has been executing for 3.2 seconds.")
        #expect(
            "\(joiner.explain())"
                == "‘joiner’ shares the outcome of ‘original’. ‘original’ has been executing for 3.2 seconds.")
        end()
    }

    @Test func anExplanationNamesAReplacedOperationThatIgnoresItsCancellation() {
        let key = ObjectIdentifier(stage.queue)
        let old = stage.waiting("old", at: gate).unique(by: key, policy: .replace)
        stage.run(old)
        let new = stage.noting("new").unique(by: key, policy: .replace)
        stage.run(new)
        let asked = asked(behind: new)
        #expect(asked.explainedRoots == ["old: executing(attempt: 1, time: nil, isCancelled: true)"])
        #expect(
            "\(asked.explain())" == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘new’, "
                + "which has replaced ‘old’, and waits for its end. "
                + "‘old’ is executing, although it was cancelled: let its body look at `Task.isCancelled`.")
        end()
    }

    @Test func nobodyCallsItsCallback() throws {
        let kept = Locked<Callback<Int>?>(nil)
        let root = AsyncOperation<Int>.callback("root") { finish in kept.withLock { $0 = finish } }
        root.timeout(.seconds(100))
        stage.run(root)
        let asked = asked(behind: root)
        stage.advance(by: .seconds(2))
        #expect(
            asked.explainedRoots
                == ["root: awaitingCallback(attempt: 1, time: Optional(2.0 seconds), isCancelled: false)"])
        #expect(
            "\(asked.explain())" == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘root’. "
                + "‘root’ has been waiting 2.0 seconds for its callback, which nobody has called yet.")
        root.cancel()
        #expect(
            "\(root.explain())"
                == "‘root’ has been waiting 2.0 seconds for its callback, although it was cancelled: "
                + "let `onCancel` of the callback end what is to call it.")
        kept.withLock { $0.take() }?(1)
        stage.steps.runAll()
        #expect(asked.ending == "success")
        #expect(root.hasFinished)
    }

    @Test("An explanation names a root whose `willFinish` handler does not return")
    func itsLastHandlerDoesNotReturn() {
        let root = AsyncOperation("root") {}
        root.willFinish { [gate] _ in await gate.wait() }
        stage.run(root)
        let asked = asked(behind: root)
        #expect(asked.explainedRoots == ["root: finishing"])
        #expect(
            "\(asked.explain())" == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘root’. "
                + "‘root’ waits for its willFinish handlers: one of them has not returned.")
        end()
    }

    @Test func aBarrierIsBeforeIt() {
        stage.run(stage.waiting("earlier", at: gate))
        stage.queue.addBarrier("flush") {}
        let asked = asked(behind: stage.noting("unused"))
        let later = stage.noting("later")
        stage.run(later)
        let last = stage.noting("last", after: later)
        let elsewhere = TestQueue(on: stage.steps)
        elsewhere.run(last)
        #expect(last.explainedRoots == ["earlier: executing(attempt: 1, time: nil, isCancelled: false)"])
        #expect(
            "\(last.explain())"
                == "‘last’ waits for ‘later’, which waits for the barrier ‘flush’, which waits for ‘earlier’. "
                + "‘earlier’ is executing.")
        stage.queue.cancelAll()
        end()
        #expect(asked.hasFinished)
    }

    @Test("An explanation names a root that iterates a sequence without elements")
    func itIteratesWhatBringsNothing() {
        let (queue, gate) = (stage.queue, gate)
        let root = AsyncOperation("sum") {
            for try await _ in Numbers(1, gate: gate).deliver(on: queue, { _ in }) {}
        }
        stage.run(root)
        let asked = asked(behind: root)
        #expect(asked.explainedRoots == ["sum: awaitingElement"])
        #expect(
            "\(asked.explain())" == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘sum’. "
                + "‘sum’ waits for the next element of a sequence.")
        end()
    }

    /// The operation that `root` waited for has finished, but another operation has taken the permit of `root`.
    @Test("An explanation names a root that needs a permit to continue")
    func itNeedsAPermitToGoOn() {
        let narrow = TestQueue(width: 1, on: stage.steps)
        let source = stage.noting("source")
        let root = AsyncOperation("root") { try await source.value }
        narrow.run(root)
        narrow.run(narrow.waiting("busy", at: gate))
        stage.run(source)
        let asked = asked(behind: root)
        #expect(
            "\(asked.explain())" == "‘asked’ waits for ‘middle’, which waits for ‘near’, which waits for ‘root’. "
                + "‘root’ can go on when there is a free permit in a queue of width 1, where ‘busy’ runs.")
        end()
    }
}

extension AnyOperation {
    /// The roots of the explanation, each with its cause, as text.
    var explainedRoots: [String] { explain().roots.map { "\($0.operation.name): \($0.cause.inShort)" } }
}

extension Explanation.Run {
    fileprivate var inShort: String {
        "attempt: \(attempt), time: \(time.map { "Optional(\($0))" } ?? "nil"), isCancelled: \(isCancelled)"
    }
}

extension Explanation.Cause {
    fileprivate var inShort: String {
        switch self {
        case .queueSuspended(let queue): "queueSuspended(\(queue))"
        case .queueFull(let busy): "queueFull(\(busy.queue), width: \(busy.width), running: \(busy.running))"
        case .evaluating(let conditions): "evaluating(\(conditions))"
        case .excluded(let holder, let exclusion): "excluded(by: \(holder), exclusion: \(exclusion))"
        case .waitingForRate(let rate, let left, let count):
            "waitingForRate(\(rate), timeLeft: \(left), behind: \(count))"
        case .delayed(let left): "delayed(timeLeft: \(left))"
        case .retrying(let attempt, let left, let error):
            "retrying(attempt: \(attempt), timeLeft: \(left), lastError: \(error))"
        case .repeating(let left): "repeating(timeLeft: \(left))"
        case .executing(let run): "executing(\(run.inShort))"
        case .awaitingCallback(let run): "awaitingCallback(\(run.inShort))"
        case .waitingForPermit(let busy): "waitingForPermit(width: \(busy.width), running: \(busy.running))"
        case .finished(let outcome): "finished(\(outcome))"
        case .notAdded, .awaitingGroup, .starting, .awaitingElement, .finishing: "\(self)"
        }
    }
}
