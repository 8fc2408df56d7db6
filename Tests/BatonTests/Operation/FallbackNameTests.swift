import Testing

@testable import Baton

/// The names of operations that were given none.
@Suite struct FallbackNameTests {
    private func name(_ operation: AnyOperation) -> String { operation.reference.name }

    @Test("Each call that creates an operation without a name uses the location of the call as its name")
    func eachCallGivesThePlace() {
        let file = "FallbackNameTests.swift"
        let source = AsyncOperation("source") { 1 }
        let other = AsyncOperation("other") { 2 }
        #expect(name(AsyncOperation {}) == "\(file):\(#line)")
        #expect(name(AsyncOperation { 1 }) == "\(file):\(#line)")
        #expect(name(AsyncOperation { (_: OperationContext) in 1 }) == "\(file):\(#line)")
        #expect(name(AsyncOperation(source) { $0 }) == "\(file):\(#line)")
        #expect(name(AsyncOperation(source) { value, _ in value }) == "\(file):\(#line)")
        #expect(name(AsyncOperation(resultOf: source) { _ in }) == "\(file):\(#line)")
        #expect(name(AsyncOperation(source, other) { $0 + $1 }) == "\(file):\(#line)")
        #expect(name(AsyncOperation(resultOf: source, other) { _, _ in }) == "\(file):\(#line)")
        #expect(name(source.then { $0 }) == "\(file):\(#line) then")
        #expect(name(source.map { $0 }) == "\(file):\(#line) map")
        #expect(name(source.flatMap { _ in AsyncOperation { 1 } }) == "\(file):\(#line) flatMap")
        #expect(name(source.recover { _ in 1 }) == "\(file):\(#line) recover")
        #expect(name(source.mapError { $0 }) == "\(file):\(#line) mapError")
        #expect(name(AsyncOperation<Int?> { nil }.unwrapped()) == "\(file):\(#line) unwrapped")
        #expect(name(AsyncOperation<[Int]>.collect([source, other])) == "\(file):\(#line) collect")
        let outcomes = AsyncOperation<[Result<Int, OperationError>]>.collectResults([source, other])
        #expect(name(outcomes) == "\(file):\(#line - 1) collectResults")
        #expect(name(AsyncOperation<[Int]>.filter([source]) { $0 > 0 }) == "\(file):\(#line) filter")
        #expect(name(AsyncOperation<Int>.reduce([source], 0, +)) == "\(file):\(#line) reduce")
        #expect(name(AsyncOperation<Int>.callback { $0(1) }) == "\(file):\(#line) callback")
    }

    @Test("Operations that a queue creates are named by the location of the call")
    func thoseOfAQueue() async throws {
        let queue = AsyncOperationQueue()
        #expect(name(queue.add {}) == "FallbackNameTests.swift:\(#line)")
        #expect(name(queue.add("given") {}) == "given")
        let names = try await [1, 2].deliver(on: queue) { _, context in context.operation.reference.name }
            .reduce(into: []) { $0.append($1) }
        #expect(names == Array(repeating: "FallbackNameTests.swift:\(#line - 2)", count: 2))
    }

    @Test("An operation with a default for its input has a number, so that the compiler can locate mistakes")
    func defaults() {
        let reader = AsyncOperation(AsyncOperation { 1 }, default: 2) { $0 }
        #expect(name(reader) == "operation \(reader.reference.id)")
    }

    @Test("A given name is used, whatever creates the operation")
    func namesCount() {
        let source = AsyncOperation("source") { 1 }
        #expect(name(source.then("next") { $0 }) == "next")
        #expect(name(source.map("next") { $0 }) == "next")
        #expect(name(source.then { $0 }.name("next")) == "next")
        #expect(name(AsyncOperation<[Int]>.collect("all", [source])) == "all")
        #expect(source.then { $0 }.name == nil)
    }

    @Test("An empty name is no name")
    func emptyNames() {
        let file = "FallbackNameTests.swift"
        let source = AsyncOperation("source") { 1 }
        let cleared = source.then { $0 }.name("")
        #expect(name(cleared) == "\(file):\(#line - 1) then")
        #expect(cleared.name == nil)
        let unnamed = AsyncOperation("") { 1 }
        #expect(name(unnamed) == "operation \(unnamed.reference.id)")
        unnamed.name = "given"
        #expect(name(unnamed) == "given")
    }

    @Test("An error of an operation that needs another one contains the location")
    func errorsNameThePlace() async {
        let line = #line + 1
        let source = AsyncOperation<Int> { throw Oops() }
        let reader = source.then { $0 }
        await #expect(throws: OperationError.self) { try await AsyncOperationQueue().run(reader) }
        #expect(
            "\(reader.error!)"
                == "needs the output of ‘FallbackNameTests.swift:\(line)’, which has none: oops")
    }

    @Test("A line number that is too large is left out", arguments: [0, 1, 4095, 4096, UInt.max])
    func longFiles(line: UInt) {
        let name = FallbackName(.then, "Module/parse.swift", line).name
        #expect(name == (1...4095 ~= line ? "parse.swift:\(line) then" : "parse.swift then"))
    }

    @Test("Neither a type nor nil is a location")
    func typesAreNoPlaces() {
        #expect(FallbackName(Int.self).type == Int.self)
        #expect(FallbackName(Int.self).name == "Int")
        #expect(FallbackName.none.name == nil)
        #expect(FallbackName(.made, "Module/parse.swift", 3).type == nil)
        #expect(FallbackName(.made, "parse.swift", 3).name == "parse.swift:3")
    }
}
