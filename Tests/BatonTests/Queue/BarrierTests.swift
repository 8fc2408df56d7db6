import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct BarrierTests {
    @Test("A barrier comes after all earlier operations and before all later ones")
    func itComesAfterAllThatIsThereAndBeforeAllThatComes() {
        let stage = TestQueue()
        let gate = Gate()
        let held = stage.waiting("held", at: gate)
        stage.run(held, stage.noting("dependent", after: held))
        stage.queue.addBarrier("barrier") { [log = stage.log] in log("barrier") }
        stage.run(stage.noting("later"))
        #expect(stage.ran == ["held"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["held", "dependent", "barrier", "later"])
    }

    @Test func nothingRunsBesideIt() {
        let stage = TestQueue()
        let gates = (0..<3).map { _ in Gate() }
        stage.run(stage.waiting("a", at: gates[0]), stage.waiting("b", at: gates[0]))
        stage.queue.addBarrier("barrier") { [log = stage.log] in
            log("barrier")
            await gates[1].wait()
            log("barrier is over")
        }
        stage.run(stage.noting("c"), stage.noting("d"))
        #expect(stage.ran == ["a", "b"])
        gates[0].open()
        stage.steps.runAll()
        #expect(stage.ran == ["a", "b", "barrier"])
        gates[1].open()
        stage.steps.runAll()
        #expect(stage.ran == ["a", "b", "barrier", "barrier is over", "c", "d"])
    }

    @Test func barriersFollowOneAnother() {
        let stage = TestQueue(isSuspended: true)
        for name in ["1", "2", "3"] {
            stage.queue.add(stage.noting("before \(name)"))
            stage.queue.addBarrier(stage.noting("barrier \(name)"))
        }
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["before 1", "barrier 1", "before 2", "barrier 2", "before 3", "barrier 3"])
    }

    @Test func inAnEmptyQueueItRunsAtOnceAndHoldsNothingBackLater() {
        let stage = TestQueue()
        stage.run(stage.noting("before"))
        stage.queue.addBarrier(stage.noting("barrier"))
        stage.steps.runAll()
        let later = stage.noting("later")
        stage.run(later)
        #expect(stage.ran == ["before", "barrier", "later"])
    }

    @Test("A barrier that fails or is cancelled releases the later operations")
    func oneThatFailsOrIsCancelledLetsTheOthersGo() {
        let stage = TestQueue(isSuspended: true)
        let failing = stage.queue.addBarrier("failing") { throw Oops() } as AsyncOperation<Void>
        stage.queue.add(stage.noting("a"))
        let cancelled = stage.queue.addBarrier("cancelled") {}
        stage.queue.add(stage.noting("b"))
        cancelled.cancel()
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(failing.ending == "failed: oops")
        #expect(stage.ran == ["a", "b"])
    }

    @Test func childrenRunBeforeABarrierAndProductsAfterIt() {
        let stage = TestQueue()
        let gate = Gate()
        let body = AsyncOperation("body") { [log = stage.log, queue = stage.queue] context in
            await gate.wait()
            try context.produce(AsyncOperation("product") { log("product") })
            try await context.run(AsyncOperation("child") { log("child") })
            try await queue.run(AsyncOperation("run") { log("run") }.then { log("then") })
        }
        stage.run(body)
        stage.queue.addBarrier { [log = stage.log] in log("barrier") }
        stage.steps.runAll()
        gate.open()
        stage.steps.runAll()
        #expect(body.ending == "success")
        #expect(stage.ran == ["child", "run", "then", "barrier", "product"])
    }

    @Test("The body of a barrier may run other operations")
    func itsOwnBodyMayRunOthers() {
        let stage = TestQueue(width: 1)
        let barrier = AsyncOperation("barrier") { [log = stage.log] context in
            try await context.run(AsyncOperation("child") { log("child") })
            log("barrier")
        }
        stage.queue.addBarrier(barrier)
        stage.run(stage.noting("later"))
        #expect(stage.ran == ["child", "barrier", "later"])
    }

    /// An operation before the barrier needs an operation behind it.
    @Test func aCycleThroughItFails() {
        let stage = TestQueue()
        let late = stage.noting("late")
        let early = stage.noting("early", after: late)
        stage.queue.add(early)
        let barrier = stage.noting("barrier")
        stage.queue.addBarrier(barrier)
        stage.run(late)
        #expect([early, barrier, late].compactMap(\.error?.cycleNames).count == 3)
        #expect("\(late.error!)".contains("A barrier waits for everything that was added before it: add ‘late’ before"))
        stage.run(stage.noting("next"))
        #expect(stage.ran == ["next"])
    }

    @Test("A body that awaits what it has added behind a barrier is told to run it")
    func aBodyThatAwaitsWhatIsBehindIt() {
        let stage = TestQueue()
        let gate = Gate()
        let late = stage.noting("late")
        let body = AsyncOperation("body") { [queue = stage.queue] in
            await gate.wait()
            try await queue.add(late).value
        }
        stage.run(body)
        stage.queue.addBarrier(stage.noting("barrier"))
        gate.open()
        stage.steps.runAll()
        let advice =
            "‘late’ was added behind the barrier ‘barrier’, which waits for ‘body’: do not add it, but run it with "
            + "`context.run` in the body of ‘body’"
        for error in [body.error, late.error] { #expect("\(error!)".contains(advice), "\(error!)") }
    }

    @Test("The body of a barrier that awaits what it has added is told to run it")
    func aBarrierThatAwaitsWhatIsBehindIt() {
        let stage = TestQueue()
        let late = stage.noting("late")
        let barrier = AsyncOperation("barrier") { [queue = stage.queue] in try await queue.add(late).value }
        stage.queue.addBarrier(barrier)
        stage.steps.runAll()
        let advice = "‘late’ was added behind the barrier ‘barrier’, whose body awaits it: do not add it, but run it"
        #expect("\(barrier.error!)".contains(advice), "\(barrier.error!)")
    }

    @Test func explainNamesIt() {
        let stage = TestQueue()
        let gate = Gate()
        stage.run(stage.waiting("earlier", at: gate))
        stage.queue.addBarrier {}
        let later = stage.noting("later")
        stage.run(later)
        #expect(
            later.explain().description
                == "‘later’ waits for the barrier ‘barrier’, which waits for ‘earlier’. ‘earlier’ is executing.")
        gate.open()
        stage.steps.runAll()
    }

    @Test func addingOneTwiceIsMisuse() {
        let stage = TestQueue(isSuspended: true)
        let barrier = stage.noting("barrier")
        stage.queue.addBarrier(barrier)
        stage.queue.addBarrier(barrier)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.misuseKinds == [.addedTwice])
        #expect(stage.ran == ["barrier"])
    }

    @Test func nothingOfItIsLeftInAnIdleQueue() {
        let stage = TestQueue()
        let tokens = Tokens()
        do {
            let token = tokens.make()
            stage.queue.addBarrier { token }
            stage.run(stage.noting("later"))
        }
        #expect(tokens.alive == 0)
    }

    /// The operations count themselves while they run. A barrier must find the count to be zero.
    @Test("On threads, a barrier runs alone")
    func itExcludesOthersUnderThreads() async {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 8)
        let inside = Tally()
        let violations = Tally()
        await withTaskGroup(of: Void.self) { group in
            for adder in 0..<4 {
                group.addTask {
                    for number in 0..<200 {
                        if (number + adder) % 10 == 0 {
                            queue.addBarrier {
                                if inside.count != 0 { violations.add() }
                                await Task.yield()
                                if inside.count != 0 { violations.add() }
                            }
                        } else {
                            queue.add {
                                inside.add()
                                await Task.yield()
                                inside.add(-1)
                            }
                        }
                    }
                }
            }
        }
        await queue.waitUntilIdle()
        #expect(violations.count == 0)
    }

    /// An operation behind a barrier does not depend on it.
    @Test func cancellingWhatIsBehindItWithItsDependenciesLeavesIt() {
        let stage = TestQueue(isSuspended: true)
        stage.queue.add(stage.noting("before"))
        stage.queue.addBarrier(stage.noting("barrier"))
        let needed = stage.noting("needed")
        let later = stage.noting("later", after: needed)
        stage.queue.add(needed, later)
        later.cancel(includingDependencies: true)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["before", "barrier"])
    }

    /// A barrier waits for the operation, but does not count as an operation that needs it.
    @Test func aBarrierDoesNotNeedEarlierOperations() {
        let stage = TestQueue(isSuspended: true)
        let needed = stage.noting("needed")
        let user = stage.noting("user", after: needed)
        stage.queue.add(needed, user)
        stage.queue.addBarrier(stage.noting("barrier"))
        user.cancel(includingDependencies: true)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["barrier"])
    }

    @Test func aBarrierThatJoinsAnotherOperationHoldsNothingBack() {
        let stage = TestQueue()
        let gate = Gate()
        let original = AsyncOperation("original") { [log = stage.log] in
            await gate.wait()
            log("original")
        }.unique(by: "key")
        stage.run(original)
        let joiner = AsyncOperation("joiner") {}.unique(by: "key", policy: .join)
        stage.queue.addBarrier(joiner)
        stage.run(stage.noting("later"))
        #expect(stage.ran == [])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["original", "later"])
        #expect(joiner.ending == "success")
    }

    /// The second barrier is cancelled while the first one still waits. Operations behind both wait for the first one.
    @Test func aCancelledBarrierLeavesTheEarlierOneInPlace() {
        let stage = TestQueue()
        let gate = Gate()
        stage.queue.add(stage.waiting("before", at: gate))
        stage.queue.addBarrier(stage.noting("first"))
        let second = stage.noting("second")
        stage.queue.addBarrier(second)
        second.cancel()
        stage.run(stage.noting("after"))
        #expect(stage.ran == ["before"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["before", "first", "after"])
    }

    /// The second barrier is cancelled when an operation already waits for it.
    @Test func dependentsOfACancelledBarrierWaitForTheEarlierBarrier() {
        let stage = TestQueue()
        let gate = Gate()
        stage.queue.add(stage.waiting("before", at: gate))
        stage.queue.addBarrier(stage.noting("first"))
        let second = stage.noting("second")
        stage.queue.addBarrier(second)
        stage.run(stage.noting("after"))
        second.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["before"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["before", "first", "after"])
    }

    /// The later barrier waits as if the cancelled one had never been added.
    @Test func aBarrierBehindACancelledOneNamesTheEarlierOne() {
        let stage = TestQueue(isSuspended: true)
        stage.queue.add(stage.noting("before"))
        stage.queue.addBarrier(stage.noting("first"))
        let second = stage.noting("second")
        stage.queue.addBarrier(second)
        let between = stage.noting("between")
        stage.queue.add(between)
        second.cancel()
        let third = stage.noting("third", after: between)
        stage.queue.addBarrier(third)
        #expect(Set(third.dependencies.map(\.description)).count == 2)
        #expect("\(third.explain())".hasPrefix("‘third’ waits for ‘between’, the barrier ‘first’."))
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["before", "first", "between", "third"])
    }

    /// The next barrier waits for the operations that were added behind the first cancelled barrier.
    @Test func aBarrierBehindTwoCancelledOnesWaitsForWhatIsBetweenThem() {
        let stage = TestQueue()
        let gates = (0..<2).map { _ in Gate() }
        stage.queue.add(stage.waiting("before", at: gates[0]))
        stage.queue.addBarrier(stage.noting("first"))
        let cancelled = ["second", "third"].map { stage.noting($0) }
        stage.queue.addBarrier(cancelled[0])
        stage.queue.add(stage.waiting("between", at: gates[1]))
        stage.queue.addBarrier(cancelled[1])
        for barrier in cancelled { barrier.cancel() }
        stage.queue.addBarrier(stage.noting("fourth"))
        gates[0].open()
        stage.steps.runAll()
        #expect(stage.ran == ["before", "first", "between"])
        gates[1].open()
        stage.steps.runAll()
        #expect(stage.ran == ["before", "first", "between", "fourth"])
    }

    @Test(
        "Barriers that are not cancelled come after all before them and before all behind them, whatever is cancelled")
    func randomBarriers() {
        for seed in 0..<400 {
            var random = SeededGenerator(seed: UInt64(seed))
            let stage = TestQueue(isSuspended: true)
            var added: [(name: String, operation: AsyncOperation<Void>, isBarrier: Bool)] = []
            for number in 0..<40 {
                let isBarrier = Bool.random(using: &random)
                let operation = stage.noting("\(number)")
                if isBarrier { stage.queue.addBarrier(operation) } else { stage.queue.add(operation) }
                added.append(("\(number)", operation, isBarrier))
                while Int.random(in: 0..<3, using: &random) == 0 {
                    added.randomElement(using: &random)!.operation.cancel()
                }
            }
            stage.queue.isSuspended = false
            stage.steps.runAll()
            let places = Dictionary(uniqueKeysWithValues: stage.ran.enumerated().map { ($1, $0) })
            for (number, barrier) in added.enumerated() where barrier.isBarrier {
                guard let place = places[barrier.name] else { continue }
                for (other, operation) in added.enumerated() where other != number {
                    guard let otherPlace = places[operation.name] else { continue }
                    #expect(
                        (otherPlace < place) == (other < number), "seed \(seed): \(operation.name), \(barrier.name)")
                }
            }
            #expect(added.allSatisfy { $0.operation.isCancelled || $0.operation.ending == "success" }, "seed \(seed)")
        }
    }

    /// Fences are members of the cycle of waits, but are not part of its path.
    @Test func aDeadlockThroughItNamesOperationsOnly() {
        let stage = TestQueue()
        let other = TestQueue(on: stage.steps)
        let names = Names()
        let (first, second) = (Gate(), Gate())
        stage.queue.add(stage.waiting("long", at: first))
        let barrier = stage.noting("barrier").addCondition(.mutuallyExclusive(names("n")))
        stage.queue.addBarrier(barrier)
        let later = stage.noting("later")
        stage.run(later)
        let holder = AsyncOperation("holder") {
            await second.wait()
            try await later.value
        }.addCondition(.mutuallyExclusive(names("n")))
        other.run(holder)
        first.open()
        stage.steps.runAll()
        second.open()
        stage.steps.runAll()
        guard case .exclusionDeadlock(let path)? = barrier.error else {
            Issue.record("\(barrier)")
            return
        }
        #expect(path.map(\.name) == ["barrier", "holder", "later"])
    }

    /// The later barrier waits for the operations that the cancelled one would have waited for.
    @Test func aBarrierBehindACancelledOneWaitsForAllThatWasThere() {
        let stage = TestQueue()
        let gate = Gate()
        stage.queue.add(stage.waiting("before", at: gate))
        let first = stage.noting("first")
        stage.queue.addBarrier(first)
        stage.queue.addBarrier(stage.noting("second"))
        first.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["before"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["before", "second"])
    }
}
