import BatonTesting
import Testing

@testable import Baton

/// The texts that tell a user what was wrong and what to do. The tests run the mistake, and compare the text in full.
@Suite struct MessageTests {
    private func queue(_ misuses: EventLog<Misuse>, isSuspended: Bool = false) -> AsyncOperationQueue {
        AsyncOperationQueue(name: "main", isSuspended: isSuspended, onMisuse: { misuses($0) })
    }

    private func texts(_ misuses: EventLog<Misuse>) -> [String] {
        misuses.events.map { misuse in
            // The place of the call is not compared.
            let text = "\(misuse)"
            return misuse.callSite.map { String(text.dropLast(" (\($0))".count)) } ?? text
        }
    }

    // MARK: Awaited operations

    @Test("A body that passes on the end of an awaited operation is not said to have ended so itself")
    func endOfAnAwaitedOperation() {
        let stage = TestQueue()
        func ending(_ child: AsyncOperation<Int>) -> String {
            let parent = AsyncOperation("parent") { context in try await context.run(child) }
            let outer = parent.map { $0 + 1 }
            stage.run(outer)
            stage.advance(by: .seconds(1))
            let text = parent.error.map { "\($0)" } ?? "no error"
            #expect(outer.error.map { "\($0)" } == "needs the output of ‘parent’, which has none: \(text)")
            return text
        }
        let skipped = AsyncOperation("skipped") { 1 }.addCondition("open") { _ in .skip("closed") }
        #expect(ending(skipped) == "an operation that it awaited was skipped by a condition: closed")
        let cancelled = AsyncOperation("cancelled") { 1 }
        cancelled.cancel(reason: .because("of rain"))
        #expect(ending(cancelled) == "an operation that it awaited was cancelled because of rain")
        let limited = AsyncOperation("limited") {
            try await Gate().waitUnlessCancelled()
            return 1
        }.timeout(.seconds(1))
        #expect(ending(limited) == "an operation that it awaited timed out after 1.0 seconds")
        let nested = AsyncOperation("nested") { context in
            try await context.run(AsyncOperation { 1 }.addCondition("open") { _ in .skip("closed") })
        }
        #expect(ending(nested) == "an operation that it awaited was skipped by a condition: closed")
    }

    // MARK: Deadlocks

    @Test("A deadlock of a body that awaits what needs its exclusion names both, and advises to share it")
    func deadlockOfOneExclusion() async {
        let names = Names()
        let queue = AsyncOperationQueue()
        let inner = AsyncOperation("inner") {}.addCondition(.mutuallyExclusive(names("x")))
        let outer = AsyncOperation("outer") { try await queue.run(inner) }
            .addCondition(.mutuallyExclusive(names("x")))
        queue.add(outer)
        await queue.waitUntilIdle()
        #expect(
            "\(inner.error!)" == "waits for an exclusion whose holder waits for it: ‘inner’ → ‘outer’ → ‘inner’. "
                + "‘inner’ waits for the exclusion ‘\(names("x"))’, which ‘outer’ holds. Run ‘inner’ with "
                + "`context.run` from the body of ‘outer’, or take all exclusions in one operation")
    }

    @Test("A deadlock of two exclusions says who holds which, and advises to take them together")
    func deadlockOfTwoExclusions() async throws {
        let names = Names()
        let queue = AsyncOperationQueue()
        let bothHold = Gate()
        let holders = Tally()
        func parent(_ name: String, holding own: String, childNeeds other: String) -> AsyncOperation<Void> {
            AsyncOperation(name) { context in
                holders.add()
                if holders.count == 2 { bothHold.open() }
                await bothHold.wait()
                let child = AsyncOperation("\(name)i") {}.addCondition(.mutuallyExclusive(other))
                try await context.run(child)
            }
            .addCondition(.mutuallyExclusive(own))
        }
        let (a, b) = (names("A"), names("B"))
        let (p, q) = (parent("p", holding: a, childNeeds: b), parent("q", holding: b, childNeeds: a))
        queue.add([p, q])
        await queue.waitUntilIdle()
        let error = try #require(p.error ?? q.error)
        let text = "\(error)"
        #expect(text.contains("‘pi’ waits for the exclusion ‘\(b)’, which ‘q’ holds"), "\(text)")
        #expect(text.contains("‘qi’ waits for the exclusion ‘\(a)’, which ‘p’ holds"), "\(text)")
        // Either child may have closed the cycle.
        #expect(
            text.hasSuffix(". Take ‘\(b)’ and ‘\(a)’ together, in ‘q’ and in ‘p’")
                || text.hasSuffix(". Take ‘\(a)’ and ‘\(b)’ together, in ‘p’ and in ‘q’"), "\(text)")
        #expect(!text.contains("context.run"), "\(text)")
    }

    @Test("A deadlock of two that share an exclusion, and whose children want all of it, advises to take more")
    func deadlockOfShares() async throws {
        let names = Names()
        let queue = AsyncOperationQueue()
        let bothHold = Gate()
        let holders = Tally()
        let readers = (1...2).map { number in
            AsyncOperation("reader\(number)") { context in
                holders.add()
                if holders.count == 2 { bothHold.open() }
                await bothHold.wait()
                let child = AsyncOperation("writer\(number)") {}.addCondition(.mutuallyExclusive(names("x")))
                try await context.run(child)
            }
            .addCondition(.mutuallyExclusive(names("x"), mode: .shared))
        }
        queue.add(readers)
        await queue.waitUntilIdle()
        let error = try #require(readers.compactMap(\.error).first)
        #expect(
            "\(error)".hasSuffix(
                ". Several operations share ‘\(names("x"))’: let each take as much of it as the operations need that "
                    + "it awaits, and run those with `context.run` from its body"), "\(error)")
    }

    @Test("An operation that depends on itself is told to drop that dependency")
    func dependencyOnItself() async {
        let operation = AsyncOperation("a") {}
        operation.addDependency(operation)
        try? await AsyncOperationQueue().run(operation)
        #expect("\(operation.error!)" == "waits for itself: ‘a’ → ‘a’. Remove this dependency")
    }

    // MARK: Refusals

    @Test("An operation that a queue has refused can be submitted again, and is refused in silence")
    func refusedTwice() async {
        let misuses = EventLog<Misuse>()
        let queue = queue(misuses)
        await queue.drain()
        let two = AsyncOperation("two") { 2 }
        let text = "the queue ‘main’ had been shut down before ‘two’ was added. Add it earlier, or to another queue"
        let error = await #expect(throws: OperationError.self) { try await queue.run(two) }
        let secondError = await #expect(throws: OperationError.self) { try await queue.submit(two) }
        #expect([error, secondError].map { "\($0!)" } == [text, text])
        #expect("\(two.error!)" == text)
        #expect(texts(misuses) == [])
        let finished = AsyncOperation("finished") {}
        try? await AsyncOperationQueue().run(finished)
        await #expect(throws: OperationError.self) { try await queue.submit(finished) }
        #expect(misuses.events.map(\.kind) == [.addedTwice])
    }

    @Test("The negation of an exclusion or a rate says that it can never be satisfied")
    func negatedExclusion() async {
        let names = Names()
        let queue = AsyncOperationQueue()
        let (x, y) = (names("x"), names("y"))
        let exclusion = AsyncOperation {}.addCondition(Exclusion.mutuallyExclusive(x).negated)
        let rate = AsyncOperation {}.addCondition(Rate.rate(y, 1, per: .seconds(1)).negated)
        queue.add([exclusion, rate])
        await queue.waitUntilIdle()
        #expect(
            "\(exclusion.error!)".hasSuffix(
                "failed: the exclusion ‘\(x)’ is always satisfied, so its negation never is: remove `negated`"))
        #expect(
            "\(rate.error!)".hasSuffix(
                "failed: the rate ‘\(y)’ is always satisfied, so its negation never is: remove `negated`"))
    }

    @Test("A sequence that its queue refuses names the queue")
    func refusedSequence() async {
        let queue = queue(EventLog<Misuse>())
        let (numbers, more) = AsyncStream.makeStream(of: Int.self)
        let outputs = numbers.deliver(on: queue) { $0 }
        await queue.drain()
        let error = await #expect(throws: OperationError.self) { for try await _ in outputs {} }
        #expect(
            "\(error!)" == "the queue ‘main’ had been shut down, and takes no more operations. Use another queue")
        more.finish()
    }

    @Test("The negation of a combination is refused only if nothing can make it satisfied")
    func negatedCombinations() async throws {
        let names = Names()
        let queue = AsyncOperationQueue()
        let exclusion = Exclusion.mutuallyExclusive(names("x"))
        let (yes, no) = (Answering(name: "yes", answer: .satisfied), Answering(name: "no", answer: .skip("no")))
        func error(_ condition: some OperationCondition) async -> String? {
            let operation = AsyncOperation {}.addCondition(condition)
            try? await queue.run(operation)
            return operation.error.map { "\($0)" }
        }
        let never = "is always satisfied, so its negation never is: remove `negated`"
        let text = try #require(await error(no.or(exclusion).negated))
        #expect(text.hasSuffix("failed: the condition ‘no or “\(names("x"))”’ \(never)"), "\(text)")
        #expect(try #require(await error(exclusion.silent.negated)).hasSuffix(never))
        let both = exclusion.and(Rate.rate(names("y"), 9, per: .seconds(1)))
        #expect(try #require(await error(both.negated)).hasSuffix(never))
        // Here the other condition decides.
        #expect(await error(no.and(exclusion).negated) == nil)
        #expect(try #require(await error(yes.and(exclusion).negated)).hasSuffix("is satisfied"))
        #expect(await error(exclusion.negated.negated) == nil)
        #expect(no.and(exclusion).negated.exclusions.map(\.name) == [exclusion.name])
    }

    private struct Answering: OperationCondition {
        let name: String
        let answer: ConditionResult

        func evaluate(for operation: AnyOperation) async throws -> ConditionResult { answer }
    }

    // MARK: Numbers that make no sense

    @Test("A width below 1 says which width counts instead")
    func widths() async {
        let misuses = EventLog<Misuse>()
        let made = AsyncOperationQueue(name: "new", maxConcurrentOperationCount: -3, onMisuse: { misuses($0) })
        made.maxConcurrentOperationCount = 0
        #expect(
            texts(misuses) == [
                "queue ‘new’: maxConcurrentOperationCount cannot be -3; the queue has the default, 64. Use 1 or more",
                "queue ‘new’: maxConcurrentOperationCount cannot be 0; the old value stays. Use 1 or more, or "
                    + "isSuspended to pause",
            ])
        let group = GroupOperation("g", [], maxConcurrentOperationCount: 2)
        #expect(
            "\(Misuse(.invalidWidth(-2), operation: group.reference))"
                == "‘g’: maxConcurrentOperationCount cannot be -2; the group has no limit of its own. Use 1 or more")
    }

    @Test("A negative time to shut down is reported and counts as zero")
    func negativeShutdown() async {
        let misuses = EventLog<Misuse>()
        let queue = queue(misuses, isSuspended: true)
        let one = queue.add("one") {}
        await queue.shutdown(within: .seconds(-1))
        #expect(one.isCancelled)
        #expect(texts(misuses) == ["queue ‘main’: the time to shut down cannot be negative; it counts as zero"])
    }

    @Test("A factor of a backoff below 1 is reported", arguments: [-2, 0.5, Double.nan])
    func invalidFactor(factor: Double) {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("a")
        stage.run(operation)
        // Without a queue, reports go to standard error, so the operation is added before.
        operation.retry(.exponential(from: .seconds(1), factor: factor), attempts: 2)
        #expect(stage.misuseKinds.contains(.invalidBackoffFactor))
        #expect(!Backoff.exponential(from: .seconds(1), factor: 1).hasInvalidFactor)
        #expect(
            "\(Misuse(.invalidBackoffFactor))"
                == "the factor of an exponential backoff cannot be below 1; it counts as 1. Use `.constant` for equal "
                + "delays")
        stage.queue.isSuspended = false
        stage.steps.runAll()
    }

    // MARK: Waits

    @Test("A limit of zero for waiting says what the operation waited for")
    func zeroWaitingLimit() async {
        let misuses = EventLog<Misuse>()
        let queue = queue(misuses, isSuspended: true)
        let suspended = AsyncOperation("suspended") {}.timeout(waiting: .zero)
        queue.add(suspended)
        await queue.waitUntilIdle()
        #expect(
            "\(suspended.error!)" == "timed out after 0.0 seconds, while it waited for its queue ‘main’ to be resumed")
        let late = queue.add("late") {}
        late.timeout(waiting: .seconds(1))
        #expect(
            texts(misuses) == [
                "‘late’: a time limit for waiting changed after the operation was added; the change was ignored. "
                    + "Change it before adding"
            ])
        late.cancel()
    }

    @Test("A limit of zero for waiting says so if the operation waited for nothing else")
    func zeroWaitingLimitOfAReadyOperation() {
        let stage = TestQueue()
        let ready = stage.noting("ready").timeout(waiting: .zero)
        // The timer is set before the operation can start, so it fires first.
        stage.run(ready)
        #expect(
            ready.error.map { "\($0)" } == "timed out after 0.0 seconds, while it waited for its start", "\(stage.ran)")
    }

    @Test func awaitedBeforeAdding() {
        #expect(
            "\(Misuse(.awaitedBeforeAdding))"
                == "is awaited, and nobody has added it, so the wait does not end unless somebody adds it later. "
                + "Add it to a queue, or use `run`")
    }

    // MARK: Descriptions

    @Test("A queue describes its name, the number of its operations, and its state")
    func queueDescription() async {
        let queue = AsyncOperationQueue(name: "images", isSuspended: true)
        #expect("\(queue)" == "queue ‘images’ (0 operations, suspended)")
        let one = queue.add("one") {}
        #expect("\(queue)" == "queue ‘images’ (1 operation, suspended)")
        one.cancel()
        queue.isSuspended = false
        await queue.drain()
        #expect("\(queue)" == "queue ‘images’ (0 operations, shut down)")
        #expect("\(AsyncOperationQueue())" == "queue (0 operations)")
    }

    @Test("An attempt, a wait and a root describe themselves in words")
    func descriptionsOfParts() {
        let stage = TestQueue(isSuspended: true)
        let flaky = AsyncOperation("flaky") { context in if context.attempt == 1 { throw Oops() } }
            .retry(.constant(.seconds(5)), attempts: 2)
        stage.queue.isSuspended = false
        stage.run(flaky)
        #expect(flaky.attempts.map { "\($0)" } == ["attempt 1 failed: oops; the next one after 5.0 seconds"])
        stage.advance(by: .seconds(5))
        #expect(flaky.attempts.map { "\($0)" }.last == "attempt 2")
        stage.queue.isSuspended = true
        let (first, barrier) = (stage.noting("first"), stage.noting("barrier"))
        stage.queue.add(first)
        stage.queue.addBarrier(barrier)
        let last = stage.noting("last", after: first)
        stage.queue.add(last)
        #expect(last.explain().waits.map { "\($0)" } == ["‘first’", "the barrier ‘barrier’"])
        #expect(
            last.explain().roots.map { "\($0)" } == [
                "‘first’ is ready, and its queue is suspended: set its `isSuspended` to false."
            ])
        stage.queue.cancelAll()
        stage.steps.runAll()
    }

    @Test func breakerDescription() {
        let breaker = CircuitBreaker("partner API", failures: 1, retryAfter: .seconds(1))
        #expect("\(breaker)" == "circuit breaker ‘partner API’ (closed)")
    }

    @Test func backoffDescription() {
        #expect("\(Backoff.immediately)" == "0.0 seconds")
        #expect("\(Backoff.standard)" == "0.1 seconds, then 2 times as long each time, at most 10.0 seconds, jittered")
        let linear = Backoff.linear(from: .seconds(1), by: .seconds(2))
        #expect("\(linear)" == "1.0 seconds, then 2.0 seconds longer each time")
        #expect(
            "\(Backoff.exponential(from: .seconds(1), factor: 1.5).honoring { _ in nil })"
                == "1.0 seconds, then 1.5 times as long each time, unless the error asks for another delay")
    }

    @Test("The reporter of a body describes the progress so far")
    func reporterDescription() async throws {
        let text = try await AsyncOperationQueue().run(
            AsyncOperation { context in
                context.progress.report(completed: 3, of: 10)
                return "\(context.progress)"
            })
        #expect(text == "3 of 10 (30 %)")
    }
}
