// Statements of Operations 2.5, ‘Injecting Results’
//
// The program of the page: one operation retrieves data, and the next one processes it. The result of the first is the
// requirement of the second.
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// Retrieves a page from a store that answers when the test tells it to.
private struct DataRetrieval: Procedure {
    var page: [UInt8] = Array("a red wheel barrow".utf8)
    var error: Oops?
    var answer = Gate(isOpen: true)

    func execute(in context: OperationContext) async throws -> [UInt8] {
        await answer.wait()
        if let error { throw error }
        return page
    }
}

/// Takes its requirement as a parameter, and logs that it ran.
private struct DataProcessing: InputProcedure {
    var log = EventLog<String>()

    func execute(_ page: [UInt8], in context: OperationContext) async throws -> [String] {
        log("processes \(page.count) bytes")
        return String(decoding: page, as: UTF8.self).split(separator: " ").map(String.init)
    }
}

/// Requires a value that may be nil.
private struct Captioning: InputProcedure {
    func execute(_ title: String?, in context: OperationContext) async throws -> String { title ?? "untitled" }
}

@Suite(.timeLimit(.minutes(10))) struct Operations25_InjectingResults {
    private let stage = TestQueue()

    @Test func Operations25_1_aLiteralGoesThroughTheInitializer() throws {
        let processing = AsyncOperation(DataProcessing(), input: Array("so much".utf8))
        #expect(processing.dependencies.isEmpty)
        stage.run(processing)
        #expect(try processing.result?.get() == ["so", "much"])
    }

    @Test func Operations25_2_theRequirementComesAfterConstructionAndBeforeTheRun() throws {
        let answer = Gate()
        let log = EventLog<String>()
        let retrieval = AsyncOperation(DataRetrieval(answer: answer))
        let processing = AsyncOperation(DataProcessing(log: log), input: retrieval)
        stage.run(processing, retrieval)
        #expect(retrieval.state == .executing && processing.state == .waiting)
        #expect(log.events == [])
        answer.open()
        stage.steps.runAll()
        #expect(log.events == ["processes 18 bytes"])
        #expect(try processing.result?.get() == ["a", "red", "wheel", "barrow"])
    }

    @Test func Operations25_3_resultAndRequirementHaveAnyTypeOptionalOrNot() throws {
        let title = AsyncOperation<String?>("title") { nil }
        let caption = AsyncOperation(Captioning(), input: title)
        let nothing = AsyncOperation<Void>("nothing") {}
        let fromNothing = nothing.then { _ in 1 }
        let pair = AsyncOperation("pair") { (width: 3, unit: "cm") }
        let fromPair = pair.then { pair in "\(pair.width) \(pair.unit)" }
        stage.run(title, caption, nothing, fromNothing, pair, fromPair)
        #expect(try caption.result?.get() == "untitled")
        #expect(try fromNothing.result?.get() == 1)
        #expect(try fromPair.result?.get() == "3 cm")
    }

    /// The result is decided before the operation finishes, and every reader that sees the operation finished sees the
    /// result.
    @Test func Operations25_4_theResultIsSetBeforeTheFinish() async throws {
        try await exploring(schedules: tries(200)) { scheduler in
            let queue = AsyncOperationQueue(executor: scheduler)
            let log = EventLog<String>()
            let retrieval = AsyncOperation(DataRetrieval())
            retrieval.willFinish { [weak retrieval] result in
                log("will finish \(result.count), \(retrieval.map { "\($0.state) \($0.result.count)" } ?? "gone")")
            }
            let watcher = Task(executorPreference: scheduler) {
                while retrieval.state != .finished { await Task.yield() }
                return retrieval.result.count
            }
            queue.add(retrieval)
            await queue.waitUntilIdle()
            try #require(log.events == ["will finish 18, finishing -1"])
            try #require(await watcher.value == 18)
        }
    }

    @Test func Operations25_5_injectingAddsTheDependency() {
        let retrieval = AsyncOperation(DataRetrieval())
        let processing = AsyncOperation(DataProcessing(), input: retrieval)
        #expect(processing.dependencies.map(\.reference) == [retrieval.reference])
        #expect(retrieval.then(DataProcessing()).dependencies.map(\.reference) == [retrieval.reference])
        #expect(retrieval.dependencies.isEmpty)
    }

    /// No further call is needed, for any number of readers.
    @Test func Operations25_6_theSameCallHandsTheResultOver() throws {
        let retrieval = AsyncOperation(DataRetrieval())
        let readers = (1...3).map { _ in retrieval.then(DataProcessing()) }
        stage.run(readers[0], readers[1], readers[2], retrieval)
        for reader in readers { #expect(try reader.result?.get().count == 4) }
    }

    // Tests/DoesNotCompile/InputOfAnotherType.swift and OptionalInput.swift show that the types must match, including
    // optionality (Operations25.7).

    @Test func Operations25_8_aFailedDependencyFailsTheReaderWithItsError() {
        let log = EventLog<String>()
        let retrieval = AsyncOperation(DataRetrieval(error: Oops(text: "disk on fire")))
        let processing = AsyncOperation(DataProcessing(log: log), input: retrieval)
        stage.run(retrieval, processing)
        #expect(log.events == [])
        #expect(processing.ending == "needs DataRetrieval via DataRetrieval: failed: disk on fire")
        #expect(processing.error?.underlyingError as? Oops == Oops(text: "disk on fire"))
        #expect(processing.error?.publisher == "DataRetrieval")
    }

    @Test func Operations25_9_dataIsTransformedThroughAChain() throws {
        let retrieval = AsyncOperation(DataRetrieval())
        let processing = retrieval.then(DataProcessing())
        let caption = processing.then { words in words.max { $0.count < $1.count } }.then(Captioning())
        caption.add(to: stage.queue)
        stage.steps.runAll()
        #expect(try caption.result?.get() == "barrow")
    }

    @Test func Operations25_10_theDefaultIsUsedWhenNothingWasInjected() throws {
        let working = AsyncOperation(DataRetrieval())
        let failing = AsyncOperation(DataRetrieval(error: Oops()))
        let cancelled = AsyncOperation(DataRetrieval())
        let blank = Array("blank page".utf8)
        let processings = [working, failing, cancelled].map {
            AsyncOperation(DataProcessing(), input: $0, default: blank)
        }
        cancelled.cancel()
        stage.run(working, failing, cancelled, processings[0], processings[1], processings[2])
        #expect(try processings[0].result?.get().count == 4)
        #expect(try processings[1].result?.get() == ["blank", "page"])
        #expect(try processings[2].result?.get() == ["blank", "page"])
    }

    @Test func Operations25_11_theManualFormSeesEveryResultAndEveryError() throws {
        let retrieval = AsyncOperation(DataRetrieval())
        let index = AsyncOperation<Int>("index") { throw Oops(text: "no index") }
        // The operation has two requirements and a result of two parts, one for each reader.
        let processing = AsyncOperation(resultOf: retrieval, index) { page, index in
            (page: try page.get().count, problem: index.failure?.underlyingError as? Oops)
        }
        let size = processing.map(\.page)
        let problem = processing.map { $0.problem?.text ?? "none" }
        #expect(processing.dependencies.map(\.name) == ["DataRetrieval", "index"])
        stage.run(processing, size, problem, retrieval, index)
        #expect(try size.result?.get() == 18)
        #expect(try problem.result?.get() == "no index")
    }

    @Test func Operations25_12_theManualFormChainsAndDecidesForItself() throws {
        let failing = AsyncOperation(DataRetrieval(error: Oops()))
        let size =
            AsyncOperation("first aid", resultOf: failing) { page in (try? page.get()) ?? [1, 2, 3] }
            .then { page in page.count }
            .didFinish { [log = stage.log] result in log("\(result)") }
            .add(to: stage.queue)
        stage.steps.runAll()
        #expect(try size.result?.get() == 3)
        #expect(stage.ran == ["success(3)"])
        // The closure may also decide to fail.
        let strict = AsyncOperation(resultOf: failing) { page in try page.get().count }
        stage.run(strict)
        #expect(strict.result?.failure?.underlyingError as? Oops == Oops())
    }

    @Test func Operations25_13_bothAreAddedInAnyOrder() throws {
        for isReversed in [false, true] {
            let retrieval = AsyncOperation(DataRetrieval())
            let processing = AsyncOperation(DataProcessing(), input: retrieval)
            if isReversed { stage.queue.add(processing, retrieval) } else { stage.queue.add(retrieval, processing) }
            stage.steps.runAll()
            #expect(try processing.result?.get().count == 4)
        }
        #expect(stage.misuses.events.isEmpty)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension Result<[UInt8], OperationError> {
    /// The size of the page, or 0 if there is no page.
    fileprivate var count: Int { (try? get().count) ?? 0 }
}

extension Result<[UInt8], OperationError>? {
    /// The size of the page, or -1 if there is no outcome yet.
    fileprivate var count: Int { map(\.count) ?? -1 }
}
