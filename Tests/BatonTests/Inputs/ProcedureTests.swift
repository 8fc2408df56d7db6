import Baton
import BatonTesting
import Testing

private struct Retrieval: Procedure {
    var text = "data"
    func execute(in context: OperationContext) async throws -> String { text }
}

private struct Decryption: InputProcedure {
    func execute(_ input: (String, Int), in context: OperationContext) async throws -> String {
        "\(input.0) \(input.1)"
    }
}

private struct Count: InputProcedure {
    func execute(_ input: String, in context: OperationContext) async throws -> Int { input.count }
}

private struct Boxed<Value: Sendable>: Procedure {
    let value: Value
    func execute(in context: OperationContext) async throws -> [Value] { [value] }
}

private enum Coin: Procedure {
    case heads, tails
    func execute(in context: OperationContext) async throws -> Bool { self == .heads }
}

private final class Shared: Procedure {
    func execute(in context: OperationContext) async throws -> Int { 1 }
}

private actor Counter: Procedure {
    var count = 0
    func execute(in context: OperationContext) async throws -> Int {
        count += 1
        return count
    }
}

@Suite(.timeLimit(.minutes(10))) struct ProcedureTests {
    private let queue = AsyncOperationQueue()

    @Test func structsEnumsClassesAndActors() async throws {
        #expect(try await queue.run(AsyncOperation(Retrieval())) == "data")
        #expect(try await queue.run(AsyncOperation(Boxed(value: 7))) == [7])
        #expect(try await queue.run(AsyncOperation(Coin.heads)))
        #expect(try await queue.run(AsyncOperation(Shared())) == 1)
    }

    @Test("One procedure value can run many times")
    func oneProcedureRunsManyTimes() async throws {
        let counter = Counter()
        let runs = (0..<20).map { _ in AsyncOperation(counter) }
        queue.add(runs)
        await queue.waitUntilIdle()
        #expect(try runs.map { try $0.result!.get() }.sorted() == Array(1...20))
    }

    @Test func aLiteralInput() async throws {
        #expect(try await queue.run(AsyncOperation(Decryption(), input: ("bytes", 7))) == "bytes 7")
        #expect(try await queue.run(AsyncOperation(Count(), input: "four")) == 4)
    }

    @Test func inputsFromOperations() async throws {
        let data = AsyncOperation(Retrieval())
        let key = AsyncOperation { 7 }
        let clear = AsyncOperation(Decryption(), inputs: data, key)
        #expect(clear.dependencies.count == 2)
        #expect(try await queue.run(clear) == "data 7")
        let pair = AsyncOperation { ("pair", 8) }
        #expect(try await queue.run(AsyncOperation(Decryption(), input: pair)) == "pair 8")
        #expect(try await queue.run(AsyncOperation(Count(), input: data)) == 4)
    }

    @Test func aChainReadsFromTheLeft() async throws {
        let end = AsyncOperation(Retrieval(text: "12345"))
            .then(Count())
            .then { $0 * 2 }
            .then { "\($0)" }
        #expect(try await queue.run(end) == "10")
    }

    @Test func theirNamesAreThoseOfTheirTypes() {
        let data = AsyncOperation(Retrieval())
        #expect(data.name == "Retrieval")
        #expect(AsyncOperation(Decryption(), input: ("", 0)).name == "Decryption")
        #expect(AsyncOperation(Decryption(), inputs: data, AsyncOperation { 1 }).name == "Decryption")
        #expect(data.then(Count()).name == "Count")
        #expect(AsyncOperation(Boxed(value: 7)).name == "Boxed<Int>")
        #expect(data.then { $0 }.name == nil)
    }

    @Test func anErrorOfTheProcedureIsTheFailure() async {
        struct Failing: Procedure {
            func execute(in context: OperationContext) async throws { throw Oops(text: "burnt") }
        }
        let operation = AsyncOperation(Failing())
        try? await queue.run(operation)
        #expect(operation.ending == "failed: burnt")
    }
}
