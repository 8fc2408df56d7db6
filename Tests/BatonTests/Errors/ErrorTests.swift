import Testing

@testable import Baton

@Suite struct ErrorTests {
    private let bread = AsyncOperation("bread") {}.reference
    private let flour = AsyncOperation("flour") {}.reference

    /// Each row is an error, its stage, its publisher, its outcome and a text that its description must contain.
    private var table: [(OperationError, OperationError.Stage, String?, OperationOutcome, String)] {
        [
            (.failed(Oops()), .execution, nil, .failure, "oops"),
            (.cancelled(reason: .because("of rain")), .cancellation, nil, .cancelled, "because of rain"),
            (.timedOut(after: .seconds(3)), .execution, nil, .failure, "3.0 seconds"),
            (.conditionFailed(condition: "dry", cause: Oops()), .condition, "dry", .failure, "‘dry’ failed: oops"),
            (
                .dependencyFailed(source: flour, via: bread, cause: .failed(Oops())), .dependency, "flour", .failure,
                "‘bread’, which needs that of ‘flour’, which has none: oops"
            ),
            (
                .dependencyFailed(source: flour, via: flour, cause: .failed(Oops())), .dependency, "flour", .failure,
                "needs the output of ‘flour’, which has none: oops"
            ),
            (.dependencyCycle([bread, flour]), .dependency, "bread", .failure, "‘bread’ → ‘flour’ → ‘bread’"),
            (.skipped(.edge(source: flour, outcome: .failure)), .dependency, "flour", .skipped, "‘flour’"),
            (.skipped(.condition("no flour")), .condition, "no flour", .skipped, "no flour"),
            (.skipped(.duplicate(of: bread)), .queue, "bread", .skipped, "‘bread’"),
            (
                .groupFailed([OperationFailure(operation: flour, error: .failed(Oops()))]), .execution, "flour",
                .failure,
                "‘flour’: oops"
            ),
            (.inputMissing, .dependency, nil, .failure, "no input"),
            (.callbackDropped, .execution, nil, .failure, "callback"),
            (.queueReleased, .queue, nil, .failure, "released"),
            (.queueShutDown(), .queue, nil, .failure, "shut down"),
            (
                .queueShutDown(refused: flour, queue: "mill"), .queue, nil, .failure,
                "the queue ‘mill’ had been shut down before ‘flour’ was added. Add it earlier, or to another queue"
            ),
            (.exclusionDeadlock([bread, flour]), .condition, "bread", .failure, "‘bread’ → ‘flour’ → ‘bread’"),
            (.misuse(Misuse(.addedTwice, operation: bread)), .misuse, "bread", .failure, "‘bread’ was added"),
        ]
    }

    @Test func everyErrorSaysWhatAndWhereAndWho() {
        for (error, stage, publisher, outcome, text) in table {
            #expect(error.stage == stage, "\(error)")
            #expect(error.publisher == publisher, "\(error)")
            #expect(error.outcome == outcome, "\(error)")
            #expect(error.description.contains(text), "\(error)")
        }
    }

    @Test func theErrorThatIsPassedOnCanBeReached() {
        let failed = OperationError.failed(Oops())
        let passing: [OperationError] = [
            failed, .conditionFailed(condition: "dry", cause: Oops()),
            .dependencyFailed(source: flour, via: bread, cause: failed),
            .groupFailed([OperationFailure(operation: flour, error: failed)]),
        ]
        for error in passing { #expect(error.underlyingError as? Oops == Oops(), "\(error)") }
        let cancelled = OperationError.dependencyFailed(
            source: flour, via: bread, cause: .cancelled(reason: .requested))
        #expect((cancelled.underlyingError as? OperationError)?.inShort == "cancelled on request")
        for error in [OperationError.inputMissing, .queueReleased, .queueShutDown(), .cancelled(reason: .queue)] {
            #expect(error.underlyingError == nil)
        }
    }

    @Test("A reason for a skip is the sentence of the error, on one line")
    func skipReasons() {
        let reasons: [(SkipReason, String)] = [
            (.edge(source: flour, outcome: .failure), "skipped, because ‘flour’ failed"),
            (.condition("no\nflour"), "skipped by a condition: no flour"),
            (.duplicate(of: bread), "skipped, because ‘bread’ does the same already"),
        ]
        for (reason, text) in reasons {
            #expect(reason.description == text)
            #expect(OperationError.skipped(reason).description == text)
        }
    }

    @Test("A skip says what asked for another outcome")
    func demandsOfSkips() {
        let stage = TestQueue()
        for (policy, text) in [
            (DependencyPolicy.failure, "skipped, because ‘a’ succeeded, and the dependency asks for a failure"),
            (.success, "success"), (.noFailure, "success"),
        ] {
            let source = stage.noting("a")
            let dependent = stage.noting("b").addDependency(source, on: policy)
            stage.run(source, dependent)
            #expect(dependent.ending == text)
        }
        let skipped = stage.noting("a").addCondition("never") { _ in .skip("no") }
        let dependent = stage.noting("b").addDependency(skipped, on: .success)
        stage.run(skipped, dependent)
        #expect(dependent.ending == "skipped, because ‘a’ was skipped, and the dependency asks for a success")
    }

    @Test("Texts that the user has left empty leave no punctuation behind")
    func blankTexts() {
        struct Silent: Error, CustomStringConvertible {
            var description: String { " " }
        }
        let texts: [(OperationError, String)] = [
            (.cancelled(reason: .because("")), "cancelled on request"),
            (.cancelled(reason: .because(" \n")), "cancelled on request"),
            (.skipped(.condition("")), "skipped by a condition"),
            (.failed(Silent()), "Silent"),
            (.conditionFailed(condition: "", cause: Silent()), "a condition failed: Silent"),
            (
                .conditionFailed(condition: "", cause: ConditionError.satisfied("")),
                "a condition failed: a condition is satisfied"
            ),
            (.timedOut(after: .seconds(1), waitingFor: ""), "timed out after 1.0 seconds"),
        ]
        for (error, text) in texts { #expect("\(error)" == text) }
        #expect("\(ConditionError.neitherSatisfied(Silent(), Oops()))" == "neither: Silent; nor: oops")
        #expect("\(CircuitOpenError(circuit: "", timeUntilTrial: nil))".hasPrefix("the circuit is half open"))
        #expect(CircuitBreaker("", failures: 1, retryAfter: .zero).name == "circuit breaker")
        #expect(Exclusion.mutuallyExclusive("x", within: OperationScope("")).name == "‘x’")
        let queue = AsyncOperationQueue(name: "", isSuspended: true)
        #expect(queue.name == nil)
        let operation = queue.add("operation") {}
        #expect("\(operation.explain())".contains("and its queue is suspended"))
        operation.cancel()
    }

    @Test("Quotes in a name differ from the quotes around it")
    func quotesInNames() {
        func text(_ name: String) -> String { AsyncOperation(name) {}.reference.description }
        #expect(text("‘bread’") == "‘“bread”’")
        #expect(text("dependencies of ‘bread’") == "‘dependencies of “bread”’")
        #expect(text("not ‘the “inner ‘part’” of’") == "‘not “the ‘inner “part”’ of”’")
        #expect(text("Ann’s “bread”") == "‘Ann’s “bread”’")
        #expect(text("it ‘isn’t’ over") == "‘it “isn’t” over’")
        #expect(text("open ‘ end") == "‘open ‘ end’")
        #expect(text("\"bread\"") == "‘\"bread\"’")
        #expect(
            "\(OperationError.conditionFailed(condition: "not ‘gpu’", cause: ConditionError.satisfied("‘gpu’")))"
                == "the condition ‘not “gpu”’ failed: ‘“gpu”’ is satisfied")
        #expect(Exclusion.mutuallyExclusive("the ‘gpu’").name == "‘the “gpu”’")
        #expect(QueueReference(name: "‘q’", number: 1).description == "‘“q”’")
    }

    @Test func everyReasonEndsASentence() {
        let reasons: [(CancellationReason, String)] = [
            (.requested, "on request"), (.because("of rain"), "because of rain"),
            (.parent(bread), "with ‘bread’, its parent"), (.caller, "with the task that awaited it"),
            (.queue, "with everything in its queue"),
        ]
        for (reason, text) in reasons { #expect(reason.description == text) }
    }

    /// The misuses whose texts are predicates of sentences about the operation, with the beginnings of the texts.
    private var predicates: [Misuse.Kind: String] {
        [
            .addedTwice: "was added to a queue twice; ", .addedWithReader(flour): "was added to another queue with ",
            .awaitedBeforeAdding: "is awaited, and nobody has added it, ",
            .ranFinishedOperation(in: flour): "had finished without an output before ",
            .waitedForItsOwnQueue("drain"): "called drain of its own queue, ",
            .idlenessCycle([flour]): "waited for the idleness of another queue, ",
            .invalidAttempts(0): "cannot make 0 attempts; ", .invalidCount(-1): "cannot repeat -1 times; ",
        ]
    }

    @Test("A misuse that is told by a verb is a sentence about the operation")
    func sentencesAboutTheOperation() {
        for (kind, text) in predicates {
            #expect(Misuse(kind, operation: bread).description.hasPrefix("‘bread’ \(text)"))
        }
    }

    @Test func everyMisuseSaysWhatWhereAndWhatToDo() {
        let place = CallSite(file: "Kitchen/Oven.swift", line: 7)
        let kinds: [(Misuse.Kind, String)] = [
            (.addedTwice, "was added to the queue ‘kitchen’ before"),
            (.changedAfterAdding("the name"), "the name changed after"),
            (
                .addedBeforeOrderedGroup(bread, before: flour),
                "was added before the ordered group ‘bread’ started, so it does not wait for ‘flour’"
            ),
            (.removedInput(flour), "‘flour’"),
            (.invalidWidth(-3), "-3"), (.invalidThreadCount(-4), "-4 threads"),
            (.invalidWaitingLimit(0), "cannot be 0"),
            (.invalidDeliveryWidth(0), "width of 0"),
            (.ranAfterTheEnd, "after the body had returned"),
            (.ranFinishedOperation(in: flour), "a further attempt of ‘flour’"),
            (.awaitedBeforeAdding, "is awaited, and nobody has added it"),
            (.producedAfterTheEnd, "Produce before it returns"), (.calledBodyTwice, "twice"),
            (.sleptAfterTheEnd, "context.sleep was called after"),
            (.leftBodyOut, "did not call the body"), (.finishedTwice, "exactly once"),
            (.finishedAfterThrowing, "Throw only before"),
            (.idlenessCycle([flour]), "waited for the idleness of ‘kitchen’, one of whose operations waits for it"),
            (.waitedForItsOwnQueue("drain"), "called drain of its own queue ‘kitchen’, which"),
            (.unusableSignal(ShutdownSignal(rawValue: 9), "it is deadly"), "signal 9: it is deadly"),
            (.waitedForSuspendedQueue("drain"), "drain waits for operations of the queue, which is suspended"),
            (.negativeProgress("the total", -2), "the total cannot be -2; it counts as 0"),
            (.invalidRate("the count is 0"), "its turn: the count is 0"),
            (.conflictingRates(name: "‘partner’"), "the slower ones count"),
            (.invalidFailureCount(circuit: "partner", 0), "‘partner’ cannot open after 0 failures"),
        ]
        for (kind, text) in kinds {
            let misuse = Misuse(kind, operation: bread, queue: "kitchen", callSite: place)
            #expect(misuse.description.contains(text))
            #expect(misuse.description.hasPrefix(predicates.keys.contains(kind) ? "‘bread’ " : "‘bread’: "))
            #expect(misuse.description.hasSuffix(" (Kitchen/Oven.swift:7)"))
            #expect(Misuse(kind, queue: "kitchen").description.hasPrefix("queue ‘kitchen’: "))
        }
        #expect(Misuse(.addedTwice, operation: bread).description.contains("was added to a queue twice"))
        let inHandler = Misuse(.waitedForItsOwnQueue("shutdown"), queue: "kitchen")
        #expect(inHandler.description.hasPrefix("queue ‘kitchen’: a handler called shutdown of its own queue, which"))
    }

    @Test("The description of several failures names the roots, and counts the operations that did not run")
    func listsTellTheRoots() {
        let boom = OperationError.failed(Oops())
        let butter = AsyncOperation("butter") {}.reference
        let failures = [
            OperationFailure(operation: flour, error: boom),
            OperationFailure(operation: bread, error: boom.asDependencyFailure(via: flour)),
            OperationFailure(operation: butter, error: .skipped(.edge(source: flour, outcome: .failure))),
        ]
        #expect(
            "\(OperationError.groupFailed(failures))"
                == "1 of the group failed: ‘flour’: oops; 2 did not run because of it")
        // The operations that they needed are not in the list.
        #expect(
            "\(OperationError.groupFailed(Array(failures[1...])))"
                == "2 of the group failed: ‘bread’: \(failures[1].error); ‘butter’: \(failures[2].error)")
        let other = OperationFailure(operation: butter, error: boom)
        #expect(
            "\(OperationError.groupFailed([failures[0], failures[1], other]))"
                == "2 of the group failed: ‘flour’: oops; ‘butter’: oops; 1 did not run because of them")
    }

    @Test func anErrorIsPassedOnFlat() {
        let first = OperationError.failed(Oops()).asDependencyFailure(via: flour)
        #expect(first.inShort == "needs flour via flour: failed: oops")
        #expect(first.asDependencyFailure(via: bread).inShort == "needs flour via bread: failed: oops")
    }

    @Test func noneTakesMoreThanAWord() {
        #expect(MemoryLayout<OperationError>.size == MemoryLayout<Int>.size)
        #expect(MemoryLayout<CancellationReason>.size == MemoryLayout<Int>.size)
    }
}
