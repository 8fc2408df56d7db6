import Baton
import Testing

/// The test is that these calls compile. The initializers differ in the closure alone, and its body need not say which
/// one is meant.
@Suite(.timeLimit(.minutes(10))) struct OverloadTests {
    private let stage = TestQueue()
    private let one = AsyncOperation("one") { 1 }
    private let text = AsyncOperation("text") { "two" }
    private let third = AsyncOperation("third") { 3.0 }

    private func outcome<Output>(of operation: AsyncOperation<Output>) throws -> Output? {
        operation.add(to: stage.queue)
        stage.steps.runAll()
        return try operation.result?.get()
    }

    @Test func aBodyNeedNotLookAtItsInput() throws {
        #expect(try outcome(of: AsyncOperation(one) { _ in 7 }) == 7)
        #expect(try outcome(of: AsyncOperation(one) { value in "\(value)" }) == "1")
        #expect(try outcome(of: AsyncOperation(one) { "\($0)" }) == "1")
        #expect(try outcome(of: AsyncOperation(one) { value, context in "\(value) \(context.attempt)" }) == "1 1")
        #expect(try outcome(of: AsyncOperation(one) { _, _ in 7 }) == 7)
    }

    @Test func aBodyNeedNotLookAtItsResult() throws {
        #expect(try outcome(of: AsyncOperation(resultOf: one) { _ in 7 }) == 7)
        #expect(try outcome(of: AsyncOperation(resultOf: one) { result in "\(result)" }) == "success(1)")
        #expect(try outcome(of: AsyncOperation(resultOf: one) { "\($0)" }) == "success(1)")
        #expect(try outcome(of: AsyncOperation("name", resultOf: one) { _, context in context.attempt }) == 1)
        let long = AsyncOperation(resultOf: one) { result in
            let words = "\(result)"
            return words.count
        }
        #expect(try outcome(of: long) == 10)
    }

    @Test func aBodyTakesAnyNumberOfInputs() throws {
        #expect(try outcome(of: AsyncOperation(one, text) { _, _ in 7 }) == 7)
        #expect(try outcome(of: AsyncOperation(one, text) { _, _, context in context.attempt }) == 1)
        #expect(try outcome(of: AsyncOperation(one, text, third) { a, b, c in "\(a) \(b) \(c)" }) == "1 two 3.0")
        #expect(try outcome(of: AsyncOperation(one, text, third, one) { a, b, c, d, _ in "\(a) \(d)" }) == "1 1")
    }

    @Test func aBodyTakesAnyNumberOfResults() throws {
        #expect(try outcome(of: AsyncOperation(resultOf: one, text) { _, _ in 7 }) == 7)
        #expect(try outcome(of: AsyncOperation(resultOf: one, text) { _, _, context in context.attempt }) == 1)
        let three = AsyncOperation("name", resultOf: one, text, third) { a, b, c in "\(a) \(b) \(c)" }
        #expect(try outcome(of: three) == "success(1) success(\"two\") success(3.0)")
        #expect(try outcome(of: AsyncOperation(resultOf: one, text, third) { _, b, _, _ in try b.get() }) == "two")
    }
}
