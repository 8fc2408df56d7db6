import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct JoinTests {
    private func answering(_ name: String, on stage: TestQueue, at gate: Gate) -> AsyncOperation<Int> {
        AsyncOperation(name) { [log = stage.log] in
            log(name)
            await gate.wait()
            return 42
        }
    }

    @Test("A joiner gets the value of the original")
    func itGetsTheValueOfTheOneThatRuns() throws {
        let stage = TestQueue()
        let gate = Gate()
        let original = answering("original", on: stage, at: gate).unique(by: #function, policy: .join)
        let joiners = ["a", "b"].map { answering($0, on: stage, at: gate).unique(by: #function, policy: .join) }
        stage.queue.add([original] + joiners)
        stage.steps.runAll()
        #expect(joiners.map(\.state) == [.waiting, .waiting])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["original"])
        for joiner in joiners { #expect(try joiner.result?.get() == 42) }
        #expect(stage.queue.operationCount == 0)
    }

    @Test("A joiner gets the original's own error")
    func itGetsTheOriginalsOwnError() {
        let stage = TestQueue()
        let failing = AsyncOperation<Int>("failing") { throw Oops() }
        let original = failing.then { $0 }.unique(by: #function, policy: .join)
        let joiner = AsyncOperation { 1 }.unique(by: #function, policy: .join)
        let plain = AsyncOperation<Int>("plain") { throw Oops() }.unique(by: #function + "2", policy: .join)
        let second = AsyncOperation("second") { 1 }.unique(by: #function + "2", policy: .join)
        let reader = second.then { $0 }
        stage.run(original, joiner, failing, plain, second, reader)
        #expect(joiner.ending == "needs failing via failing: failed: oops")
        #expect(second.ending == "failed: oops")
        #expect(reader.ending == "needs second via second: failed: oops")
    }

    @Test("A joiner waits only for the original")
    func itNeedsNothingOfItsOwn() {
        let stage = TestQueue()
        let gate = Gate()
        let original = stage.waiting("original", at: gate).unique(by: #function, policy: .join)
        let never = stage.noting("never added")
        let input = AsyncOperation<Int>("input") { 1 }
        let joiner = input.then { [log = stage.log] _ in log("joiner") }
        joiner.addDependency(never, on: .success)
        joiner.addCondition("no") { _ in .skip("no") }.addCondition(.mutuallyExclusive(#function))
        joiner.unique(by: #function, policy: .join)
        let holder = stage.waiting("holder", at: gate).addCondition(.mutuallyExclusive(#function))
        stage.run(holder, original, joiner)
        #expect(joiner.dependencies == [original])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["holder", "original"])
        #expect(joiner.ending == "success")
        #expect(stage.queue.operationCount == 0)
    }

    @Test func theAddReleasesTheStateOfAJoiner() {
        let stage = TestQueue(isSuspended: true)
        let tokens = Tokens()
        let original = stage.noting("original").unique(by: #function, policy: .join)
        let joiner = AsyncOperation { [token = tokens.make()] in token.touch() }
        joiner.addDependency(AsyncOperation { [token = tokens.make()] in token.touch() })
        joiner.addCondition("condition") { [token = tokens.make()] _ in
            token.touch()
            return .satisfied
        }
        stage.queue.add(original, joiner.unique(by: #function, policy: .join))
        #expect(tokens.alive == 0)
        #expect(!joiner.hasFinished)
        stage.queue.cancelAll()
        #expect(joiner.hasFinished)
    }

    @Test("A joiner takes no permit and is not affected by a suspension")
    func itTakesNoPermitAndNoNoticeOfASuspension() {
        let (here, there) = (TestQueue(), TestQueue(width: 1, isSuspended: true))
        let original = here.noting("original").unique(by: #function, policy: .join)
        let joiner = there.noting("joiner").unique(by: #function, policy: .join)
        joiner.didStart { [log = there.log] in log("did start") }
        there.queue.add(joiner.willFinish { [log = there.log] _ in log("will finish") })
        there.queue.isSuspended = true
        #expect(joiner.state == .ready, "It is the first.")
        joiner.cancel()
        there.steps.runAll()

        here.queue.add(original)
        let second = there.noting("second").unique(by: #function, policy: .join)
        second.didStart { [log = there.log] in log("did start") }
        there.queue.around { [log = there.log] _, body in
            log("around")
            try await body()
        }
        there.queue.add(second)
        here.steps.runAll()
        #expect(second.ending == "success")
        there.steps.runAll()
        #expect(there.ran == ["will finish"])
        #expect(there.queue.operationCount == 0)
    }

    @Test("The handlers and dependents of a joiner get the original's output")
    func itsHandlersAndDependentsAreTold() {
        let stage = TestQueue()
        let gate = Gate()
        let original = answering("original", on: stage, at: gate).unique(by: #function, policy: .join)
        let joiner = AsyncOperation { 1 }.unique(by: #function, policy: .join)
        joiner.willFinish { [log = stage.log] result in log("will finish \((try? result.get()) ?? 0)") }
        joiner.didFinish { [log = stage.log] result in log("did finish \((try? result.get()) ?? 0)") }
        let reader = joiner.then { [log = stage.log] in log("reader \($0)") }
        stage.steps.task { [log = stage.log] in log("value \((try? await joiner.value) ?? 0)") }
        stage.run(original, joiner, reader)
        #expect(stage.ran == ["original"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran[1] == "will finish 42")
        #expect(Set(stage.ran.dropFirst(2)) == ["did finish 42", "reader 42", "value 42"])
    }

    @Test func aJoinOfAJoinGoesToTheOriginal() {
        let stage = TestQueue(isSuspended: true)
        let all = ["original", "a", "b"].map { stage.noting($0).unique(by: #function, policy: .join) }
        stage.queue.add(all)
        #expect(all[1].dependencies == [all[0]])
        #expect(all[2].dependencies == [all[0]])
        all[1].cancel()
        #expect(!all[2].hasFinished)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(all.map(\.outcomeKind) == [.success, .cancelled, .success])
    }

    @Test func anotherOutputIsMisuse() {
        let stage = TestQueue()
        let gate = Gate()
        let original = answering("original", on: stage, at: gate).unique(by: #function, policy: .join)
        let group = GroupOperation("group", stage.noting("child"))
        let other = AsyncOperation("other") { "42" }
        let reader = other.then { $0 }
        stage.queue.add(original, other.unique(by: #function, policy: .join), reader)
        group.unique(by: #function, in: "", policy: .join).add(to: stage.queue)
        let reference = original.reference
        for operation in [other, group] as [AnyOperation] {
            #expect(operation.ending == "misuse: \(Misuse.Kind.joinedAnotherOutput(reference))")
        }
        #expect("\(other.error!)".contains("‘original’"))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["original"])
        #expect(original.ending == "success")
        #expect(reader.ending.hasPrefix("needs other via other: misuse"))
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aGroupJoinsAGroup() {
        let stage = TestQueue()
        let gate = Gate()
        let original = GroupOperation(stage.waiting("child", at: gate)).unique(by: #function, policy: .join)
        let child = stage.noting("other child")
        let joiner = GroupOperation(child).unique(by: #function, policy: .join)
        stage.run(original, joiner)
        gate.open()
        stage.steps.runAll()
        #expect(joiner.ending == "success")
        #expect(stage.ran == ["child"])
        #expect(child.hasFinished, "Nobody else will run it.")
    }

    @Test("The explanation of a joiner names the original")
    func itExplainsWhatItWaitsFor() {
        let stage = TestQueue(isSuspended: true)
        let original = stage.noting("original").unique(by: #function, policy: .join)
        let joiner = stage.noting("joiner").unique(by: #function, policy: .join)
        stage.queue.add(original, joiner)
        #expect(
            "\(joiner.explain())"
                == "‘joiner’ shares the outcome of ‘original’. "
                + "‘original’ is ready, and its queue is suspended: set its `isSuspended` to false.")
        stage.queue.cancelAll()
    }

    @Test func thePolicyOfTheNewcomerDecides() {
        let stage = TestQueue()
        let gate = Gate()
        let original = stage.waiting("original", at: gate).unique(by: #function, policy: .replace)
        let rejected = stage.noting("rejected").unique(by: #function)
        let joiner = stage.noting("joiner").unique(by: #function, policy: .join)
        stage.run(original, rejected, joiner)
        #expect(rejected.error?.outcome == .skipped)
        let newest = stage.noting("newest").unique(by: #function, policy: .replace)
        let last = stage.noting("last").unique(by: #function, policy: .join)
        stage.run(newest, last)
        #expect(original.isCancelled, "Joined or not.")
        #expect(last.dependencies == [newest])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["original", "newest"])
        #expect([original, joiner, last].map(\.ending) == ["success", "success", "success"])
    }

    @Test func anOriginalWhoseHandlersRunIsJoined() {
        let stage = TestQueue()
        let gate = Gate()
        let original = stage.noting("original").unique(by: #function, policy: .join)
        original.willFinish { _ in await gate.wait() }
        stage.run(original)
        #expect(original.state == .finishing)
        let joiner = stage.noting("joiner").unique(by: #function, policy: .join)
        stage.run(joiner)
        #expect(joiner.state == .waiting)
        gate.open()
        stage.steps.runAll()
        #expect(joiner.ending == "success")
        #expect(stage.ran == ["original"])
    }

    /// The probe is called after the join has been decided and before the links are made.
    @Test func anOriginalThatEndsInTheMidstOfTheAddIsTold() throws {
        let steps = StepExecutor()
        let gate = Gate()
        let stage = TestQueue(on: steps) { event in
            guard event.operation.name == "joiner", case .added = event.kind else { return }
            gate.open()
            steps.runAll()
        }
        let original = answering("original", on: stage, at: gate).unique(by: #function, policy: .join)
        stage.run(original)
        let joiner = answering("joiner", on: stage, at: gate).unique(by: #function, policy: .join)
        stage.queue.add(joiner)
        #expect(original.hasFinished)
        #expect(try joiner.result?.get() == 42)
        #expect(stage.queue.operationCount == 0)
        let failing = AsyncOperation("failing") { throw Oops() }.unique(by: #function, policy: .join)
        stage.run(failing)
        #expect(failing.ending == "failed: oops", "The identity is free.")
    }

    @Test("A joiner that is cancelled during its add has no interest in the original")
    func oneThatIsCancelledInTheMidstOfTheAddIsNotInterested() {
        let gate = Gate()
        let joiner = Locked<AsyncOperation<Void>?>(nil)
        let stage = TestQueue { event in
            if case .added = event.kind { joiner.withLock { $0 }?.cancel() }
        }
        let original = stage.waiting("original", at: gate).unique(by: #function, policy: .join)
        stage.run(original)
        let cancelled = stage.noting("joiner").unique(by: #function, policy: .join)
        joiner.withLock { $0 = cancelled }
        stage.run(cancelled)
        #expect(cancelled.ending == "cancelled on request")
        original.cancel()
        #expect(original.isCancelled)
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    @Test func nothingIsKeptAlive() {
        let tokens = Tokens()
        do {
            let stage = TestQueue()
            let gate = Gate()
            let makes = (0..<4).map { number in
                AsyncOperation { [token = tokens.make()] in
                    await gate.wait()
                    return token
                }.unique(by: TokenKey(text: #function, token: tokens.make()), policy: .join)
            }
            stage.queue.add(makes)
            makes[3].cancel()
            stage.steps.runAll()
            gate.open()
            stage.steps.runAll()
            #expect(tokens.alive == 1, "The output, of which all have one.")
            #expect(makes.prefix(3).allSatisfy { $0.ending == "success" })
        }
        #expect(tokens.alive == 0)
    }
}

/// A key with a token, which shows whether the key is alive.
struct TokenKey: Hashable {
    let text: String
    let token: Token

    static func == (left: Self, right: Self) -> Bool { left.text == right.text }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
