import Baton
import BatonTesting
import Testing

/// The calls of a user who has access to the public API only.
@Suite(.timeLimit(.minutes(10))) struct ClosureTests {
    private let queue = AsyncOperationQueue()

    @Test func aClosureIsEnough() async throws {
        let key = AsyncOperation("key") { 7 }
        #expect(try await queue.run(key) == 7)
        let text = AsyncOperation { await Task { "text" }.value }
        #expect(try await queue.run(text) == "text")
        let nothing = AsyncOperation {}
        try await queue.run(nothing)
    }

    @Test func aClosureMayWantItsContext() async throws {
        let named = AsyncOperation("named") { context in context.operation.name ?? "" }
        #expect(try await queue.run(named) == "named")
    }

    @Test func addReturnsTheOperation() async throws {
        let quick = queue.add { 1 }
        let named = queue.add("named") { 2 }
        #expect(try await quick.value + named.value == 3)
    }

    @Test func oneInput() async throws {
        let data = AsyncOperation { [1, 2, 3] }
        let count = AsyncOperation(data) { $0.count }
        let named = AsyncOperation(data) { data, context in "\(data.count) \(context.attempt)" }
        #expect(try await queue.run(count) == 3)
        #expect(try await queue.run(named) == "3 1")
    }

    @Test func manyInputs() async throws {
        let data = AsyncOperation { [1, 2, 3] }
        let key = AsyncOperation { "key" }
        let flag = AsyncOperation { true }
        let rest = AsyncOperation { 1.5 }
        let two = AsyncOperation(data, key) { data, key in "\(data.count) \(key)" }
        let three = AsyncOperation(data, key, flag) { data, key, flag in "\(data.count) \(key) \(flag)" }
        let four = AsyncOperation(data, key, flag, rest) { data, key, flag, rest in "\(data) \(key) \(flag) \(rest)" }
        #expect(try await queue.run(two) == "3 key")
        #expect(try await queue.run(three) == "3 key true")
        #expect(try await queue.run(four) == "[1, 2, 3] key true 1.5")
    }

    @Test func manyInputsAndTheContext() async throws {
        let data = AsyncOperation { [1, 2, 3] }
        let key = AsyncOperation { "key" }
        let report = AsyncOperation(data, key) { data, key, context in "\(data.count) \(key) \(context.attempt)" }
        let four = AsyncOperation(data, key, data, key) { a, b, c, d, context in
            try await context.run(AsyncOperation { "\(a.count) \(b) \(c.count) \(d)" })
        }
        #expect(try await queue.run(report) == "3 key 1")
        #expect(try await queue.run(four) == "3 key 3 key")
    }

    @Test func theSameInputTwice() async throws {
        let data = AsyncOperation { 3 }
        let square = AsyncOperation(data, data) { $0 * $1 }
        #expect(square.dependencies.count == 1)
        #expect(try await queue.run(square) == 9)
    }

    @Test func optionalAndTupleOutputs() async throws {
        let none = AsyncOperation<Int?> { nil }
        let pair = AsyncOperation { (1, "one") }
        let read = none.then { $0 == nil }
        let both = AsyncOperation(none, pair) { none, pair in "\(none ?? 0) \(pair.0) \(pair.1)" }
        #expect(try await queue.run(read))
        #expect(try await queue.run(both) == "0 1 one")
        #expect(try none.result?.get() == .some(nil))
    }

    @Test func typedThrows() async {
        let failing = AsyncOperation<Int>("failing") { throw Oops() }
        let reader = failing.then { $0 }
        queue.add(failing, reader)
        do throws(OperationError) { _ = try await reader.value } catch .dependencyFailed(let source, _, let cause) {
            #expect(source.name == "failing")
            #expect(cause.underlyingError as? Oops == Oops())
        } catch { Issue.record(error) }
    }
}
