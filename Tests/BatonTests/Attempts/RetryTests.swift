import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct RetryTests {
    /// Makes an operation that fails `count` times, and then returns the number of the attempt.
    func failing(_ count: Int, on stage: TestQueue, _ name: String = "flaky") -> AsyncOperation<Int> {
        AsyncOperation(name) { context in
            stage.log("\(name) \(context.attempt)")
            if context.attempt <= count { throw Oops(text: "failure \(context.attempt)") }
            return context.attempt
        }
    }

    @Test func aFailedAttemptIsRetried() {
        let stage = TestQueue()
        let operation = failing(2, on: stage).retry(.immediately, attempts: 3)
        stage.run(operation)
        #expect(stage.ran == ["flaky 1", "flaky 2", "flaky 3"])
        #expect(try! operation.result!.get() == 3)
    }

    @Test func theLastAttemptDecides() {
        let stage = TestQueue()
        let operation = failing(5, on: stage).retry(.immediately, attempts: 3)
        stage.run(operation)
        #expect(operation.ending == "failed: failure 3")
        #expect(stage.ran.count == 3)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aCancelAfterAFailureThatWouldBeFollowedByAnotherAttemptIsTheOutcome() {
        for (attempts, ending) in [(2, "cancelled on request"), (1, "failed: failure 1")] {
            let stage = TestQueue()
            // The cancellation comes between the end of the body and the decision whether the body runs again.
            stage.queue.around { context, body in
                defer { context.operation.cancel() }
                try await body()
            }
            let operation = failing(2, on: stage).retry(.immediately, attempts: attempts)
            stage.run(operation)
            #expect(stage.ran == ["flaky 1"])
            #expect(operation.ending == ending)
            #expect(operation.attempts.count == 1)
        }
    }

    @Test func theDelayIsThatOfTheBackoff() {
        let stage = TestQueue()
        let operation = failing(2, on: stage).retry(.exponential(from: .seconds(1)), attempts: 3)
        stage.run(operation)
        #expect(stage.ran.count == 1)
        #expect(operation.state == .waiting)
        stage.advance(by: .seconds(1))
        #expect(stage.ran.count == 2)
        stage.advance(by: .milliseconds(1999))
        #expect(stage.ran.count == 2)
        stage.advance(by: .milliseconds(1))
        #expect(stage.ran.count == 3)
        #expect(operation.ending == "success")
    }

    @Test func G21_theDelayHoldsNoPermitAndNoExclusion() {
        let stage = TestQueue(width: 1)
        let operation = failing(1, on: stage).retry(.constant(.seconds(1)), attempts: 2)
            .addCondition(.mutuallyExclusive("retries"))
        let other = stage.noting("other").addCondition(.mutuallyExclusive("retries"))
        stage.run(operation, other)
        #expect(stage.ran == ["flaky 1", "other"])
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["flaky 1", "other", "flaky 2"])
    }

    @Test func G21_exclusionsAreTakenAgainBeforeFirstAttempts() {
        let stage = TestQueue()
        let (first, gate) = (Gate(), Gate())
        let operation = AsyncOperation("flaky") { context in
            stage.log("flaky \(context.attempt)")
            if context.attempt > 1 { return }
            await first.wait()
            throw Oops()
        }
        .retry(.immediately, attempts: 2).addCondition(.mutuallyExclusive("line"))
        let second = stage.waiting("second", at: gate).addCondition(.mutuallyExclusive("line"))
        let third = stage.noting("third").addCondition(.mutuallyExclusive("line"))
        stage.run(operation, second, third)
        #expect(stage.ran == ["flaky 1"])
        first.open()
        stage.steps.runAll()
        #expect(stage.ran == ["flaky 1", "second"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["flaky 1", "second", "flaky 2", "third"])
    }

    @Test func G21_conditionsAreNotEvaluatedAgain() {
        let stage = TestQueue()
        let operation = failing(2, on: stage).retry(.constant(.seconds(1)), attempts: 3)
            .addCondition("once") { [log = stage.log] _ in
                log("condition")
                return .satisfied
            }
        stage.run(operation)
        stage.advance(by: .seconds(1))
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["condition", "flaky 1", "flaky 2", "flaky 3"])
    }

    @Test func G21_dependentsAndHandlersSeeTheFinalOutcomeOnly() {
        let stage = TestQueue()
        let log = stage.log
        let operation = failing(1, on: stage).retry(.constant(.seconds(1)), attempts: 2)
            .didStart { log("didStart") }
            .willFinish { log("willFinish \((try? $0.get()) ?? 0)") }
            .didFinish { log("didFinish \((try? $0.get()) ?? 0)") }
        let dependent = stage.noting("dependent", after: operation)
        let reader = operation.then { log("read \($0)") }
        stage.run(operation, dependent, reader)
        #expect(stage.ran == ["flaky 1", "didStart"])
        stage.advance(by: .seconds(1))
        #expect(
            Set(stage.ran.dropFirst(2)) == [
                "flaky 2", "willFinish 2", "didFinish 2", "dependent", "read 2",
            ])
        #expect(Array(stage.ran[2...3]) == ["flaky 2", "willFinish 2"])
        #expect(stage.ran.count == 7)
    }

    @Test func theInputIsThereInEachAttempt() {
        let stage = TestQueue()
        let source = AsyncOperation("source") { "input" }
        let operation = AsyncOperation(source) { input, context in
            if context.attempt < 3 { throw Oops() }
            return "\(input) \(context.attempt)"
        }
        .retry(.constant(.seconds(1)), attempts: 3)
        stage.run(source, operation)
        stage.advance(by: .seconds(1))
        stage.advance(by: .seconds(1))
        #expect(try! operation.result!.get() == "input 3")
    }

    @Test func eachAttemptCountsItsProgressFromZero() {
        let stage = TestQueue()
        let operation = AsyncOperation("counting") { context in
            context.progress.totalUnitCount = 4
            context.progress.advance(by: 3)
            let child = AsyncOperation<Void>("child") { context in
                context.progress.report(completed: 1, of: 2)
                throw Oops()
            }
            _ = try? await context.run(child, weight: 1)
            stage.log("\(context.operation.progress.fractionCompleted)")
            if context.attempt == 1 { throw Oops() }
        }
        .retry(.constant(.seconds(1)), attempts: 2)
        stage.run(operation)
        #expect(operation.progress.fractionCompleted == 0)
        #expect(operation.progress.totalUnitCount == 4)
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["0.875", "0.875"])
        #expect(operation.progress.fractionCompleted == 1)
    }

    @Test func attemptsListsAllTheFirstIncluded() {
        let stage = TestQueue()
        let operation = failing(2, on: stage).retry(.linear(from: .seconds(1)), attempts: 3)
        #expect(operation.attempts.isEmpty)
        stage.run(operation)
        #expect(operation.attempts.map(\.number) == [1])
        #expect(operation.attempts[0].delay == .seconds(1))
        stage.advance(by: .seconds(1))
        stage.advance(by: .seconds(2))
        #expect(operation.attempts.map(\.number) == [1, 2, 3])
        #expect(operation.attempts.map { $0.error.map { "\($0)" } } == ["failure 1", "failure 2", nil])
        #expect(operation.attempts.map(\.delay) == [.seconds(1), .seconds(2), nil])
    }

    @Test func attemptsOfOneWithoutARetry() {
        let stage = TestQueue()
        let good = stage.noting("good")
        let bad = AsyncOperation<Void>("bad") { throw Oops() }
        let skipped = stage.noting("skipped").addDependency(bad, on: .success)
        stage.run(good, bad, skipped)
        #expect(good.attempts.map { "\($0.number) \($0.error == nil)" } == ["1 true"])
        #expect(bad.attempts.map { "\($0.number) \($0.error == nil)" } == ["1 false"])
        #expect(skipped.attempts.isEmpty)
    }

    // MARK: Operations that the body runs

    @Test("A further attempt that runs an operation which has failed before is reported, each time")
    func attemptsThatRunAFailedOperation() {
        let stage = TestQueue()
        let request = AsyncOperation<Int>("request") { throw Oops() }
        let operation = AsyncOperation("operation") { context in try await context.run(request) }
            .retry(.immediately, attempts: 3)
        stage.run(operation)
        #expect(operation.attempts.count == 3)
        #expect(operation.ending == "failed: oops")
        #expect(stage.misuseKinds == Array(repeating: .ranFinishedOperation(in: operation.reference), count: 2))
        #expect(stage.misuses.events.allSatisfy { $0.operation == request.reference })
        #expect(stage.misuses.events.first?.description.hasPrefix("‘request’ had finished without an output") == true)
    }

    @Test("A further attempt may run an operation that has an output, and operations of its own")
    func attemptsThatRunOtherOperations() {
        let stage = TestQueue()
        let shared = AsyncOperation("shared") { 1 }
        let operation = AsyncOperation<Void>("operation") { context in
            _ = try await context.run(shared)
            try await context.run(AsyncOperation<Void>("own") { throw Oops() })
        }
        .retry(.immediately, attempts: 3)
        stage.run(operation)
        #expect(operation.attempts.count == 3)
        #expect(stage.misuses.events.isEmpty)
    }

    // MARK: Predicates

    @Test func onlyWhatThePredicateLetsIsTriedAgain() {
        let stage = TestQueue()
        let operation = failing(5, on: stage).retry(.immediately, attempts: 5) { error in
            (error.underlyingError as? Oops)?.text != "failure 2"
        }
        stage.run(operation)
        #expect(stage.ran == ["flaky 1", "flaky 2"])
        #expect(operation.ending == "failed: failure 2")
    }

    @Test func anErrorOfThePredicateBecomesTheFailure() {
        let stage = TestQueue()
        let operation = failing(5, on: stage).retry(.immediately, attempts: 5) { _ in throw Oops(text: "predicate") }
        stage.run(operation)
        #expect(stage.ran == ["flaky 1"])
        #expect(operation.ending == "failed: predicate")
    }

    @Test func AOperationPages_4_retryOnFailureCountsFromZero() {
        let stage = TestQueue()
        let operation = failing(9, on: stage).retryOnFailure { [log = stage.log] n, error in
            log("\(n): \(error)")
            return n < 2
        }
        stage.run(operation)
        #expect(
            stage.ran == ["flaky 1", "0: failure 1", "flaky 2", "1: failure 2", "flaky 3", "2: failure 3"])
        #expect(operation.ending == "failed: failure 3")
    }

    @Test func AOperationPages_4_theLastCallCounts() {
        let stage = TestQueue()
        let operation = failing(9, on: stage).retry(.constant(.seconds(5)), attempts: 7)
            .retryOnFailure { _, _ in true }
            .retryOnFailure { n, _ in n < 1 }
        stage.run(operation)
        #expect(stage.ran.count == 2)
    }

    @Test func aBodyThatDoesNotRunIsNotAnAttempt() {
        let stage = TestQueue()
        let source = AsyncOperation<Int>("source") { throw Oops() }
        let reader = source.then { $0 }.retry(.immediately, attempts: 5) { _ in
            stage.log("asked")
            return true
        }
        let refused = stage.noting("refused").retry(.immediately, attempts: 5).addCondition("no") { _ in throw Oops() }
        stage.run(source, reader, refused)
        #expect(stage.ran.isEmpty)
        #expect(reader.error?.stage == .dependency)
        #expect(refused.error?.stage == .condition)
    }

    // MARK: Cancels

    @Test func G21_nothingIsRetriedAfterACancel() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = AsyncOperation<Void>("slow") {
            stage.log("ran")
            await gate.wait()
            throw Oops()
        }
        .retry(.immediately, attempts: 5)
        stage.run(operation)
        operation.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["ran"])
        #expect(operation.ending == "cancelled on request")
    }

    @Test func aCancelDuringTheDelayEndsItAtOnce() {
        let tokens = Tokens()
        let stage = TestQueue()
        do {
            let token = tokens.make()
            let operation = AsyncOperation<Void>("flaky") { throw TokenError(token: token) }
                .retry(.constant(.seconds(10)), attempts: 2)
            stage.run(operation)
            operation.cancel(reason: .because("enough"))
            #expect(operation.ending == "cancelled because enough")
            #expect(operation.attempts.count == 1)
        }
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
        #expect(stage.queue.core.timerService.count == 0)
        #expect(tokens.alive == 0)
        stage.advance(by: .seconds(20))
    }

    @Test func aCancelWhileThePredicateDecidesIsTheOutcome() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = failing(5, on: stage).retry(.immediately, attempts: 5) { _ in
            await gate.wait()
            return true
        }
        stage.run(operation)
        operation.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["flaky 1"])
        #expect(operation.ending == "cancelled on request")
    }

    @Test func aRetryOfACancelledOperationDoesNotRun() {
        let stage = TestQueue()
        let operation = failing(1, on: stage).retry(.immediately, attempts: 2)
        operation.cancel()
        stage.run(operation)
        #expect(stage.ran.isEmpty)
        #expect(operation.ending == "cancelled on request")
    }

    // MARK: Suspension and release

    @Test func G24_furtherAttemptsGoOnWhileTheQueueIsSuspended() {
        let stage = TestQueue()
        let operation = failing(2, on: stage).retry(.constant(.seconds(1)), attempts: 3)
        stage.run(operation)
        stage.queue.isSuspended = true
        let new = stage.noting("new")
        stage.run(new)
        stage.advance(by: .seconds(1))
        stage.advance(by: .seconds(1))
        #expect(stage.ran == ["flaky 1", "flaky 2", "flaky 3"])
        #expect(operation.ending == "success")
        #expect(new.state == .ready)
    }

    @Test func aReleasedSuspendedQueueLetsFurtherAttemptsGoOn() {
        let steps = StepExecutor()
        let clock = TestClock()
        let log = EventLog<String>()
        let operation = AsyncOperation("flaky") { context in
            log("attempt \(context.attempt)")
            if context.attempt == 1 { throw Oops() }
        }
        .retry(.constant(.seconds(1)), attempts: 2)
        do {
            let queue = AsyncOperationQueue(executor: steps, clock: clock)
            queue.add(operation)
            steps.runAll()
            queue.isSuspended = true
        }
        clock.advance(by: .seconds(1))
        steps.runAll()
        #expect(log.events == ["attempt 1", "attempt 2"])
        #expect(operation.ending == "success")
    }

    // MARK: Bad input

    @Test func zeroAttemptsCountAsOne() {
        let stage = TestQueue()
        let operation = failing(9, on: stage).retry(.immediately, attempts: 0)
        stage.run(operation)
        #expect(stage.ran == ["flaky 1"])
    }

    @Test func badNumbersAreReportedAndNotTaken() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("a")
        stage.run(operation)
        operation.retry(.constant(.seconds(-1)), attempts: -3, deadline: .seconds(-1))
        #expect(
            stage.misuseKinds == [
                .invalidAttempts(-3), .negativeDuration("a backoff"), .negativeDuration("a deadline"),
                .changedAfterAdding("a retry"),
            ])
    }

    @Test func aGroupCannotRunAgain() {
        let stage = TestQueue(isSuspended: true)
        let child = AsyncOperation<Void>("child") { throw Oops() }
        let group = GroupOperation(child)
        group.retry(.immediately, attempts: 3).repeat(every: .zero, count: 2)
        stage.queue.isSuspended = false
        stage.run(group)
        #expect(group.ending.hasPrefix("group: child"))
        #expect(group.attempts.count == 1)
    }

    @Test("A setting of an operation that only passes on what another one ends with is reported")
    func settingsOfPassingOperations() {
        let stage = TestQueue(isSuspended: true)
        let source = AsyncOperation<Int?>("source") { 1 }
        let passing: [AnyOperation] = [
            source.mapError { $0 }, source.unwrapped(), source.delayed(by: .seconds(1)),
            source.delayed(untilAtLeast: .seconds(1)),
        ]
        let others: [AnyOperation] = [source.then { $0 }, source.map { $0 }, source.recover { _ in 2 }]
        stage.queue.add(source)
        // Reports of misuse go to the queue, so the settings come after the add, which is misuse as well.
        for operation in passing + others {
            operation.add(to: stage.queue)
            operation.retry(attempts: 3).timeout(.seconds(1))
        }
        let repeated = source.delayed(by: .seconds(1)).add(to: stage.queue)
        repeated.repeat(every: .seconds(1))
        let settings = stage.misuseKinds.compactMap { kind in
            if case .settingOfPassingOperation(let setting) = kind { setting } else { nil }
        }
        #expect(settings == passing.flatMap { _ in ["a retry", "a timeout"] } + ["a repetition"])
        let text = stage.misuses.events.first { $0.kind == .settingOfPassingOperation("a retry") }?.description
        #expect(
            text?.contains(
                "mapError’: a retry is of no use to an operation that only passes on what the one before it ends with, "
                    + "and does not concern that one. Set it on the operation before (") == true)
        stage.queue.cancelAll()
        stage.steps.runAll()
    }

    @Test("The error of an operation that reads an output says that its repetition is for its own body")
    func repetitionsOfReaders() {
        let stage = TestQueue()
        let source = failing(9, on: stage, "a")
        let repeated = source.then { $0 + 1 }.repeat(every: .seconds(1), count: 3)
        stage.run(source, repeated)
        #expect(
            repeated.failure?.description == "needs the output of ‘a’, which has none: failure 1. Its repetition is "
                + "for its own body, and does not run ‘a’ again")
    }

    @Test("The error of an operation that only passes an output on says that its retry is for its own body")
    func retriesOfReaders() {
        let stage = TestQueue()
        let source = failing(9, on: stage, "a")
        let delayed = source.delayed(by: .seconds(1)).retry(.constant(.seconds(1)), attempts: 3)
        let limited = source.then { $0 + 1 }.retry(attempts: 3) { _ in true }
        let plain = source.then { $0 + 1 }
        let reader = delayed.then { $0 + 1 }.name("reader")
        stage.run(source, delayed, limited, plain, reader)
        let text = "needs the output of ‘a’, which has none: failure 1"
        let hint = ". Its retry is for its own body, and does not run ‘a’ again"
        #expect(delayed.failure?.description == text + hint)
        #expect(limited.failure?.description == text + hint)
        #expect(plain.failure?.description == text)
        #expect(
            reader.failure?.description
                == "needs the output of ‘delay’, which needs that of ‘a’, which has none: failure 1")
        #expect(stage.ran == ["a 1"])
    }
}
