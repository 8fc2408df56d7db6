import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct CallbackTests {
    /// A store that answers through a callback.
    private final class Store: Sendable {
        private let waiting = Locked<[@Sendable (Int) -> Void]>([])

        func load(_ completion: @escaping @Sendable (Int) -> Void) { waiting.withLock { $0.append(completion) } }

        func answer(_ value: Int) {
            let all = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for completion in all { completion(value) }
        }

        func forget() { waiting.withLock { $0 = [] } }
    }

    @Test func theOperationEndsWhenFinishIsCalled() {
        let stage = TestQueue()
        let store = Store()
        let operation = AsyncOperation<Int>.callback("operation") { finish in store.load { finish($0) } }
        stage.run(operation)
        #expect(operation.state == .executing)
        store.answer(7)
        stage.steps.runAll()
        #expect(try! operation.result?.get() == 7)
    }

    @Test func finishMayBeCalledBeforeTheBodyReturns() {
        let stage = TestQueue()
        let value = AsyncOperation<Int>.callback { finish in finish(7) }
        let success = AsyncOperation<Int>.callback { finish in finish(Result<Int, Oops>.success(8)) }
        let failure = AsyncOperation<Int>.callback { finish in finish(Result<Int, Oops>.failure(Oops())) }
        let thrown = AsyncOperation<Int>.callback { finish in finish(throwing: Oops()) }
        let void = AsyncOperation<Void>.callback { finish in finish() }
        stage.run(value, success, failure, thrown, void)
        #expect([value, success].map { try? $0.result?.get() } == [7, 8])
        #expect([failure, thrown, void].map(\.ending) == ["failed: oops", "failed: oops", "success"])
    }

    @Test func anErrorOfTheBodyCountsEvenIfItsCallbackIsReleased() {
        let stage = TestQueue()
        let isBroken = true
        let guarded = AsyncOperation<Int>.callback { finish in
            if isBroken { throw Oops() }
            finish(3)
        }
        let unused = AsyncOperation<Int>.callback { _ in throw Oops() }
        stage.run(guarded, unused)
        #expect([guarded, unused].map(\.ending) == ["failed: oops", "failed: oops"])
    }

    @Test func anErrorOfTheBodyEndsTheOperation() {
        let stage = TestQueue()
        let store = Store()
        let operation = AsyncOperation<Int>.callback { finish in
            store.load { finish($0) }
            throw Oops()
        }
        stage.run(operation)
        #expect(operation.ending == "failed: oops")
        store.answer(7)
        #expect(operation.ending == "failed: oops")
        #expect(stage.misuseKinds == [.finishedAfterThrowing])
        let text = stage.misuses.events.map(\.description).joined()
        #expect(text.contains("finish was called although the body had thrown; the call was ignored"))
    }

    @Test("An error that the body throws after it has called finish is misuse and changes nothing")
    func errorAfterTheCall() {
        let stage = TestQueue()
        let operation = AsyncOperation<Int>.callback("operation") { finish in
            finish(1)
            throw Oops()
        }
        stage.run(operation)
        #expect(operation.ending == "success")
        #expect(stage.misuseKinds == [.finishedTwice])
        #expect(stage.misuses.events.first?.operation?.name == "operation")
    }

    @Test func aDroppedFinishIsAnErrorNotAHang() {
        let stage = TestQueue()
        let store = Store()
        let atOnce = AsyncOperation<Int>.callback("at once") { _ in }
        let later = AsyncOperation<Int>.callback("later") { finish in store.load { finish($0) } }
        let reader = later.then { $0 }
        stage.run(atOnce, later, reader)
        guard case .callbackDropped? = atOnce.error else {
            Issue.record("\(atOnce.ending)")
            return
        }
        #expect(later.state == .executing)
        store.forget()
        stage.steps.runAll()
        guard case .callbackDropped? = later.error, case .dependencyFailed(_, _, .callbackDropped)? = reader.error
        else {
            Issue.record("\(later.ending), \(reader.ending)")
            return
        }
        #expect(stage.misuseKinds == [])
    }

    @Test func aSecondCallIsMisuseAndChangesNothing() {
        let stage = TestQueue()
        let store = Store()
        let operation = AsyncOperation<Int>.callback("operation") { finish in
            finish(1)
            finish(2)
            store.load { finish($0) }
        }
        stage.run(operation)
        store.answer(3)
        #expect(try! operation.result?.get() == 1)
        #expect(stage.misuseKinds == [.finishedTwice, .finishedTwice])
        #expect(stage.misuses.events.first?.operation?.name == "operation")
    }

    @Test func aCancelCallsTheHandlersAndWaitsForTheCall() {
        let stage = TestQueue()
        let store = Store()
        let operation = AsyncOperation<Int>.callback { [log = stage.log] finish in
            store.load { finish($0) }
            finish.onCancel { log("one") }
            finish.onCancel {
                log("two")
                finish(throwing: Oops())
            }
        }
        stage.run(operation)
        operation.cancel(reason: .because("of rain"))
        stage.steps.runAll()
        #expect(stage.ran == ["one", "two"])
        #expect(operation.ending == "cancelled because of rain")
    }

    @Test func aCancelHandlerThatComesLateIsCalledAtOnceOrNotAtAll() {
        let stage = TestQueue()
        let kept = Locked<Callback<Int>?>(nil)
        let operation = AsyncOperation<Int>.callback { finish in kept.withLock { $0 = finish } }
        stage.run(operation)
        operation.cancel()
        let finish = kept.withLock { $0.take() }
        finish?.onCancel { [log = stage.log] in log("at once") }
        #expect(stage.ran == ["at once"])
        finish?(7)
        finish?.onCancel { [log = stage.log] in log("too late") }
        stage.steps.runAll()
        #expect(stage.ran == ["at once"])
        #expect(operation.ending == "success")
    }

    @Test func aDropAfterACancelIsTheCancel() {
        let stage = TestQueue()
        let store = Store()
        let operation = AsyncOperation<Int>.callback { finish in store.load { finish($0) } }
        stage.run(operation)
        operation.cancel()
        store.forget()
        stage.steps.runAll()
        #expect(operation.ending == "cancelled on request")
    }

    @Test func nothingIsKeptAlive() {
        let stage = TestQueue()
        let tokens = Tokens()
        do {
            let token = tokens.make()
            let operation = AsyncOperation<Token>.callback { finish in
                finish.onCancel { token.touch() }
                finish(token)
            }
            stage.run(operation)
            #expect(operation.ending == "success")
        }
        #expect(tokens.alive == 0)
    }

    /// Another thread calls the callback while the body is about to wait.
    @Test func finishMayBeCalledFromAnyThread() async throws {
        let queue = AsyncOperationQueue()
        let operations = (0..<2000).map { number in
            AsyncOperation<Int>.callback { finish in Task.detached { finish(number) } }
        }
        #expect(try await queue.run(AsyncOperation.collect(operations)) == Array(0..<2000))
    }

    @Test(arguments: [false, true]) func aCallbackThatIsKeptDoesNotKeepTheOutput(isCalledAtOnce: Bool) {
        let stage = TestQueue()
        let tokens = Tokens()
        let kept = Locked<Callback<Token>?>(nil)
        do {
            let operation = AsyncOperation<Token>.callback { finish in
                kept.withLock { $0 = finish }
                if isCalledAtOnce { finish(tokens.make()) }
            }
            stage.run(operation)
            if !isCalledAtOnce { kept.withLock { $0 }?(tokens.make()) }
            stage.steps.runAll()
            #expect(operation.ending == "success")
        }
        #expect(tokens.alive == 0)
        kept.withLock { $0 = nil }
    }
}
