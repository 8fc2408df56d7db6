// Statements of ProcedureKit, ‘Result Injection’
//
// The program of the page: a fetch passes data to a processing operation. The output of the fetch exists before the
// processing operation is ready.
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

private struct DataFetch: Procedure {
    var data = [1, 2, 3]
    var error: Oops?
    var answer = Gate(isOpen: true)

    func execute(in context: OperationContext) async throws -> [Int] {
        await answer.wait()
        if let error { throw error }
        return data
    }
}

private struct DataProcessing: InputProcedure {
    var log = EventLog<String>()

    func execute(_ data: [Int], in context: OperationContext) async throws -> Int {
        log("processes \(data)")
        return data.reduce(0, +)
    }
}

@Suite(.timeLimit(.minutes(10))) struct ProcedureKit_ResultInjection {
    private let stage = TestQueue()

    /// Returns an operation that processes the output of this fetch. Both are added, and run as far as they can.
    private func processing(of fetch: AsyncOperation<[Int]>) -> AsyncOperation<Int> {
        let processing = AsyncOperation(DataProcessing(log: stage.log), input: fetch)
        stage.run(processing, fetch)
        return processing
    }

    @Test func ProcedureKit_1_theOutputIsPendingThenReady() throws {
        let answer = Gate()
        let fetch = AsyncOperation(DataFetch(answer: answer))
        let failing = AsyncOperation(DataFetch(error: Oops(), answer: answer))
        #expect(fetch.result == nil)
        stage.run(fetch, failing)
        #expect(fetch.result == nil && failing.result == nil)
        answer.open()
        stage.steps.runAll()
        #expect(try fetch.result?.get() == [1, 2, 3])
        #expect(throws: OperationError.self) { try failing.result?.get() }
        #expect(failing.ending == "failed: oops")
    }

    /// A pending input cannot be read: the body gets it as a parameter, and has not begun.
    @Test func ProcedureKit_2_theInputIsPendingUntilItIsThere() {
        let answer = Gate()
        let processing = processing(of: AsyncOperation(DataFetch(answer: answer)))
        #expect(processing.state == .waiting)
        #expect(stage.ran == [])
        answer.open()
        stage.steps.runAll()
        #expect(stage.ran == ["processes [1, 2, 3]"])
    }

    @Test func ProcedureKit_3_injectingAddsTheDependency() {
        let fetch = AsyncOperation(DataFetch())
        #expect(AsyncOperation(DataProcessing(), input: fetch).dependencies.map(\.reference) == [fetch.reference])
    }

    // ProcedureKit_Order.swift tests ProcedureKit.4. Tests/DoesNotCompile/InputOfAnotherType.swift shows that
    // output and input have one type (ProcedureKit.5).

    @Test func ProcedureKit_6_aCancelledDependencyFailsTheReader() {
        let fetch = AsyncOperation(DataFetch())
        fetch.cancel(reason: .because("the user left"))
        let processing = processing(of: fetch)
        #expect(stage.ran == [])
        #expect(processing.ending == "needs DataFetch via DataFetch: cancelled because the user left")
        #expect(processing.error?.stage == .dependency)
        #expect(!processing.isCancelled, "It did not run, but nobody cancelled it.")
    }

    @Test func ProcedureKit_6_aDependencyCancelledWithoutAReasonDoes() {
        let answer = Gate()
        let fetch = AsyncOperation<[Int]>("fetch") {
            await answer.wait()
            try Task.checkCancellation()
            return []
        }
        let processing = processing(of: fetch)
        fetch.cancel()
        answer.open()
        stage.steps.runAll()
        #expect(processing.ending == "needs fetch via fetch: cancelled on request")
        #expect(stage.ran == [])
    }

    @Test func ProcedureKit_7_aFailedDependencyFailsTheReader() {
        let processing = processing(of: AsyncOperation(DataFetch(error: Oops(text: "no route"))))
        #expect(processing.ending == "needs DataFetch via DataFetch: failed: no route")
        #expect(processing.error?.underlyingError as? Oops == Oops(text: "no route"))
        #expect(stage.ran == [])
    }

    // Tests/DoesNotCompile/BodyWithoutOutput.swift shows that a body cannot finish without an output. A callback can
    // be forgotten.
    @Test func ProcedureKit_8_aDependencyWithoutOutputFailsTheReader() {
        let processing = processing(of: AsyncOperation<[Int]>.callback("fetch") { finish in _ = finish })
        guard case .dependencyFailed(let source, _, .callbackDropped)? = processing.error else {
            Issue.record("\(processing.ending)")
            return
        }
        #expect(source.name == "fetch")
        #expect(stage.ran == [])
    }

    @Test func ProcedureKit_9_anOutputThatIsAFailureFailsTheReader() {
        let answer = Result<[Int], Oops>.failure(Oops(text: "404"))
        let processing = processing(of: AsyncOperation<[Int]>.callback("fetch") { finish in finish(answer) })
        #expect(processing.ending == "needs fetch via fetch: failed: 404")
        #expect(stage.ran == [])
    }

    // Tests/DoesNotCompile/InputOfItself.swift shows that an operation cannot be its own input (ProcedureKit.10).

    @Test func ProcedureKit_10_aTransformThatThrowsFailsTheReader() {
        let fetch = AsyncOperation(DataFetch())
        let checked = fetch.map { data in
            guard data.count > 9 else { throw Oops(text: "too short") }
            return data
        }
        checked.name = "checked"
        let processing = checked.then(DataProcessing(log: stage.log))
        processing.add(to: stage.queue)
        stage.steps.runAll()
        #expect(fetch.ending == "success")
        #expect(processing.ending == "needs checked via checked: failed: too short")
        #expect(stage.ran == [])
    }

    @Test(arguments: [nil, [4, 5]]) func ProcedureKit_10_anOptionalOutputIsUnwrapped(data: [Int]?) {
        let cache = AsyncOperation<[Int]?>("cache") { data }
        let found: AsyncOperation<[Int]> = cache.unwrapped()
        found.name = "found"
        let processing = found.then(DataProcessing(log: stage.log))
        processing.add(to: stage.queue)
        stage.steps.runAll()
        #expect(stage.ran == (data == nil ? [] : ["processes [4, 5]"]))
        guard data == nil else { return #expect(processing.ending == "success") }
        guard case .dependencyFailed(let source, _, .inputMissing)? = processing.error else {
            Issue.record("\(processing.ending)")
            return
        }
        #expect(source.name == "found")
    }
}
