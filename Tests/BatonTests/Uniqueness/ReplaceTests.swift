import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ReplaceTests {
    @Test func theOldOneIsCancelledAndTheNewOneStartsAfterIt() {
        let stage = TestQueue()
        let gate = Gate()
        let old = stage.waiting("old", at: gate).unique(by: #function, policy: .replace)
        let new = stage.noting("new").unique(by: #function, policy: .replace)
        stage.run(old)
        stage.run(new)
        #expect(old.isCancelled)
        #expect(new.dependencies == [old])
        #expect(stage.ran == ["old"])
        #expect(new.state == .waiting)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["old", "new"])
        #expect(old.ending == "success", "It paid no heed.")
        #expect(new.ending == "success")
    }

    @Test func theOldOneSaysWhatHasReplacedIt() {
        let stage = TestQueue()
        let gate = Gate()
        let old = AsyncOperation("old") { try await gate.waitUnlessCancelled() }
        let waiting = stage.noting("waiting", after: old)
        let reader = old.then {}
        let onFailure = stage.noting("on failure").addDependency(old, on: .failure)
        reader.name = "reader"
        stage.run(old.unique(by: #function, policy: .replace), waiting, reader, onFailure)
        let new = stage.noting("new").unique(by: #function, policy: .replace)
        stage.run(new)
        #expect(old.ending == "cancelled because ‘new’ has replaced it")
        guard case .cancelled(.replaced(new.reference))? = old.error else {
            Issue.record("\(old.ending)")
            return
        }
        #expect(reader.ending == "needs old via old: cancelled because ‘new’ has replaced it")
        #expect(onFailure.error?.outcome == .skipped)
        #expect(Set(stage.ran) == ["waiting", "new"])
    }

    @Test("An operation with the key of its own input says so", arguments: [UniquenessPolicy.replace, .reject])
    func sharedKeysOfReaders(policy: UniquenessPolicy) {
        let stage = TestQueue()
        let key = "\(#function) \(policy)"
        func chain() -> (input: AsyncOperation<Int>, reader: AsyncOperation<Int>) {
            let input = AsyncOperation("input") { 1 }.unique(by: key, policy: policy)
            return (input, AsyncOperation("reader", input) { $0 }.unique(by: key, policy: policy))
        }
        let advice = ". One of the two depends on the other: give them different keys"
        // The reader claims the key before the input that it brings along.
        let together = chain()
        stage.run(together.reader)
        let oneByOne = chain()
        stage.run(oneByOne.input, oneByOne.reader)
        switch policy {
        case .replace:
            #expect(together.reader.ending == "cancelled because ‘input’ has replaced it\(advice)")
            #expect(oneByOne.input.ending == "cancelled because ‘reader’ has replaced it\(advice)")
        default:
            #expect(together.input.ending == "skipped, because ‘reader’ does the same already\(advice)")
            #expect(oneByOne.reader.ending == "skipped, because ‘input’ does the same already\(advice)")
        }
        #expect(stage.queue.operationCount == 0)
    }

    @Test("A replaced operation that has not begun ends at once")
    func oneThatHasNotBegunEndsAtOnce() {
        let stage = TestQueue(isSuspended: true)
        let all = (0..<4).map { stage.noting("\($0)").unique(by: #function, policy: .replace) }
        stage.queue.add(all)
        #expect(all.map(\.hasFinished) == [true, true, true, false])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["3"])
    }

    @Test func ofSeveralInARowTheNewestWaitsForTheOneThatRuns() {
        let stage = TestQueue()
        let gate = Gate()
        let old = stage.waiting("old", at: gate).unique(by: #function, policy: .replace)
        stage.run(old)
        let row = (0..<3).map { stage.noting("\($0)").unique(by: #function, policy: .replace) }
        for operation in row { stage.run(operation) }
        #expect(row.map(\.hasFinished) == [true, true, false])
        #expect(row[1].ending == "cancelled because ‘2’ has replaced it")
        #expect(stage.ran == ["old"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["old", "2"])
    }

    @Test func whenTheNewestIsCancelledTheOldOneStillHasTheIdentity() {
        let stage = TestQueue()
        let gate = Gate()
        let old = stage.waiting("old", at: gate).unique(by: #function, policy: .replace)
        let new = stage.noting("new").unique(by: #function, policy: .replace)
        stage.run(old)
        stage.run(new)
        new.cancel()
        let rejected = stage.noting("rejected").unique(by: #function)
        let joiner = stage.noting("joiner").unique(by: #function, policy: .join)
        let newest = stage.noting("newest").unique(by: #function, policy: .replace)
        stage.run(rejected, joiner)
        stage.run(newest)
        #expect(rejected.ending == "skipped, because ‘old’ does the same already")
        #expect(!joiner.hasFinished && old.isCancelled)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["old", "newest"])
    }

    @Test("The replacing operation keeps its own dependencies and conditions")
    func itKeepsItsOwnDependenciesAndRules() {
        let stage = TestQueue()
        let (gate, open) = (Gate(), Gate())
        let source = stage.waiting("source", at: open)
        let old = stage.waiting("old", at: gate).unique(by: #function, policy: .replace)
        let new = stage.noting("new", after: source).addCondition("asked") { [log = stage.log] _ in
            log("asked")
            return .satisfied
        }
        stage.run(old, source)
        stage.run(new.unique(by: #function, policy: .replace))
        gate.open()
        stage.steps.runAll()
        #expect(Set(stage.ran) == ["old", "source"])
        open.open()
        stage.steps.runAll()
        #expect(stage.ran.suffix(2) == ["asked", "new"])
    }

    @Test func replacingWhatItDependsOn() {
        let stage = TestQueue()
        let gate = Gate()
        let old = AsyncOperation("old") { try await gate.waitUnlessCancelled() }.unique(by: #function)
        let between = stage.noting("between", after: old)
        let new = stage.noting("new", after: between).unique(by: #function, policy: .replace)
        let reader = old.then { 1 }.unique(by: #function, policy: .replace)
        stage.run(old, between, new)
        #expect(stage.ran == ["between", "new"])
        reader.name = "reader"
        stage.run(reader)
        #expect(reader.ending == "needs old via old: cancelled because ‘new’ has replaced it")
    }

    @Test func replacingWhatWaitsForItAndHasNotBegun() {
        let stage = TestQueue()
        let new = stage.noting("new").unique(by: #function, policy: .replace)
        let old = stage.noting("old", after: new).unique(by: #function)
        stage.run(old)
        stage.run(new)
        #expect(
            old.ending == "cancelled because ‘new’ has replaced it. One of the two depends on the other: give them "
                + "different keys")
        #expect(new.ending == "success")
        #expect(stage.queue.operationCount == 0)
    }

    @Test(arguments: [false, true])
    func replacingWhatRunsItIsACycleAndReplacesNothing(asChild: Bool) {
        let stage = TestQueue()
        let key = "\(#function) \(asChild)"
        let child = stage.noting("child").unique(by: key, policy: .replace)
        let between = asChild ? child : stage.noting("between", after: child)
        let parent = AsyncOperation("parent") { [log = stage.log] context in
            do throws(OperationError) { try await context.run(between) } catch { log(error.inShort) }
            log("parent")
        }
        stage.run(parent.unique(by: key, policy: .replace))
        #expect(child.failure?.cycleNames == (asChild ? ["child", "parent"] : ["between", "child", "parent"]))
        #expect(!parent.isCancelled)
        #expect(parent.ending == "success")
        #expect(stage.ran.last == "parent")
        #expect(stage.queue.operationCount == 0)
    }

    @Test func replacingWhatAwaitsItsValueIsACycleToo() {
        let stage = TestQueue()
        let new = stage.noting("new").unique(by: #function, policy: .replace)
        let old = AsyncOperation("old") { [log = stage.log] in
            do throws(OperationError) { try await new.value } catch { log(error.inShort) }
        }
        stage.run(old.unique(by: #function))
        stage.run(new)
        #expect(new.failure?.cycleNames == ["new", "old"])
        #expect(old.ending == "success")
    }

    @Test("A replacement that fails on a cycle does not cancel the operations that have not begun")
    func replacementOnCycleCancelsNothing() {
        let stage = TestQueue()
        let need = stage.noting("need")
        let last = stage.noting("last").unique(by: #function, policy: .replace)
        let running = AsyncOperation("running") { [log = stage.log] in
            do throws(OperationError) { try await last.value } catch { log(error.inShort) }
        }
        let pending = stage.noting("pending", after: need).unique(by: #function, policy: .replace)
        stage.run(running.unique(by: #function))
        stage.queue.isSuspended = true
        pending.add(to: stage.queue, includingDependencies: true)
        stage.run(last)
        #expect(last.failure?.cycleNames == ["last", "running"])
        #expect(!pending.isCancelled && !need.isCancelled)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(pending.ending == "success")
        #expect(stage.ran.contains("need") && stage.ran.last == "pending")
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aWaitForTheReplacementThatBeginsLaterIsACycle() {
        let stage = TestQueue()
        let gate = Gate()
        let new = stage.noting("new").unique(by: #function, policy: .replace)
        let old = AsyncOperation("old") {
            await gate.wait()
            try await new.value
        }
        stage.run(old.unique(by: #function))
        stage.run(new)
        gate.open()
        stage.steps.runAll()
        #expect(new.hasFinished && old.hasFinished)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func anOperationThatTheQueueRefusesReplacesNothing() {
        let (here, there) = (TestQueue(), TestQueue())
        there.steps.task { await there.queue.drain() }
        there.steps.runAll()
        let gate = Gate()
        let old = here.waiting("old", at: gate).unique(by: #function)
        here.run(old)
        for policy in UniquenessPolicy.allCases {
            let new = there.noting("new").unique(by: #function, policy: policy)
            there.run(new)
            #expect(new.ending == "queueShutDown")
        }
        #expect(!old.isCancelled)
        gate.open()
        here.steps.runAll()
    }

    @Test("An operation that was cancelled before its add replaces nothing")
    func oneThatWasCancelledBeforeItsAddReplacesNothing() {
        let stage = TestQueue()
        let gate = Gate()
        let old = stage.waiting("old", at: gate).unique(by: #function)
        let new = stage.noting("new").unique(by: #function, policy: .replace)
        new.cancel()
        stage.run(old, new)
        #expect(!old.isCancelled)
        gate.open()
        stage.steps.runAll()
    }

    @Test func theReplacedOneIsNotKeptAlive() {
        let tokens = Tokens()
        do {
            let stage = TestQueue()
            for _ in 0..<3 {
                let operation = AsyncOperation { [token = tokens.make()] in token.touch() }
                stage.queue.add(
                    operation.unique(by: TokenKey(text: #function, token: tokens.make()), policy: .replace))
            }
            stage.steps.runAll()
            #expect(tokens.alive == 0)
        }
    }

    /// The add compares the keys after the queue has admitted the operation, and before the operation enters.
    private final class ClosingKey: Hashable, Sendable {
        private let close: @Sendable () -> Void
        private let isArmed = Locked(false)

        init(_ close: @escaping @Sendable () -> Void) { self.close = close }

        func arm() { isArmed.withLock { $0 = true } }

        static func == (left: ClosingKey, right: ClosingKey) -> Bool {
            let mustClose = left.isArmed.withLock { isArmed in
                defer { isArmed = false }
                return isArmed
            }
            if mustClose { left.close() }
            return left === right
        }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    @Test("An operation that replaces another one while its queue closes is not refused", arguments: [false, true])
    func closingQueue(isBarrier: Bool) async {
        let (stage, gate) = (TestQueue(), Gate())
        let closing = TestQueue()
        let key = ClosingKey { [core = closing.queue.core] in core.shutDown(to: .draining) }
        let old = stage.waiting("old", at: gate).unique(by: key, policy: .replace)
        let new = closing.noting("new").unique(by: key, policy: .replace)
        stage.run(old)
        key.arm()
        if isBarrier { closing.queue.addBarrier(new) } else { closing.queue.add(new) }
        #expect(closing.queue.isShuttingDown && old.isCancelled)
        gate.open()
        stage.steps.runAll()
        closing.steps.runAll()
        #expect(new.ending == "success")
        let late = closing.noting("late")
        closing.queue.add(late)
        #expect(late.ending == "queueShutDown")
        await closing.queue.waitUntilIdle()
    }

    @Test("An operation that replaces another one while its queue is cut off is cancelled with the queue")
    func cutOffQueue() async {
        let (stage, gate) = (TestQueue(), Gate())
        let closing = TestQueue()
        let key = ClosingKey { [core = closing.queue.core] in core.cutOff() }
        let old = stage.waiting("old", at: gate).unique(by: key, policy: .replace)
        let new = closing.noting("new").unique(by: key, policy: .replace)
        let reader = new.then("reader") {}
        stage.run(old)
        key.arm()
        closing.queue.add(new)
        #expect(new.ending == "cancelled with everything in its queue", "\(new.ending)")
        closing.queue.add(reader)
        #expect(reader.ending == "queueShutDown")
        gate.open()
        stage.steps.runAll()
        await closing.queue.waitUntilIdle()
        #expect(closing.queue.operationCount == 0)
    }

}
