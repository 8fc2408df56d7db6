import BatonTesting
import Testing

@testable import Baton

/// Operations with two to eight inputs of different types, whose order must be kept.
@Suite(.timeLimit(.minutes(10))) struct SeveralInputsTests {
    private struct Joining: InputProcedure {
        func execute(
            _ input: (Int, String, Double, [Int], Int8, Bool, Int?, (Int, String)), in context: OperationContext
        ) async throws -> String {
            "\(input.0)\(input.1)\(input.2)\(input.3)\(input.4)\(input.5)\(input.6 ?? 0)\(input.7.0)\(input.7.1)"
        }
    }

    private struct Pairing: InputProcedure {
        func execute(_ input: (Int, String), in context: OperationContext) async throws -> String {
            "\(input.0)\(input.1)"
        }
    }

    private static func box<Value: Sendable>(_ value: Value) -> AsyncOperation<Value> { AsyncOperation { value } }

    private let a = box(1), b = box("b"), c = box(2.0), d = box([3])
    private let e = box(Int8(4)), f = box(true), g = box(Optional(5)), h = box((6, "h"))
    private let failing = AsyncOperation<Int> { throw Oops() }
    private let queue = AsyncOperationQueue()

    private func run(_ operations: AsyncOperation<String>...) async throws -> [String] {
        var outputs: [String] = []
        for operation in operations { outputs.append(try await queue.run(operation)) }
        return outputs
    }

    @Test func ofAProcedure() async throws {
        let all = AsyncOperation(Joining(), inputs: a, b, c, d, e, f, g, h)
        #expect(all.dependencies.count == 8)
        #expect(try await queue.run(all) == "1b2.0[3]4true56h")
        let named = AsyncOperation("pair", Pairing(), inputs: a, b)
        #expect(named.name == "pair")
        #expect(try await queue.run(named) == "1b")
    }

    @Test func ofAClosure() async throws {
        let outputs = try await run(
            AsyncOperation(a, b) { "\($0)\($1)" },
            AsyncOperation(a, b, c) { "\($0)\($1)\($2)" },
            AsyncOperation(a, b, c, d) { "\($0)\($1)\($2)\($3)" },
            AsyncOperation(a, b, c, d, e) { "\($0)\($1)\($2)\($3)\($4)" },
            AsyncOperation(a, b, c, d, e, f) { "\($0)\($1)\($2)\($3)\($4)\($5)" },
            AsyncOperation(a, b, c, d, e, f, g) { "\($0)\($1)\($2)\($3)\($4)\($5)\($6 ?? 0)" },
            AsyncOperation(a, b, c, d, e, f, g, h) { "\($0)\($1)\($2)\($3)\($4)\($5)\($6 ?? 0)\($7.0)\($7.1)" })
        let all = "1b2.0[3]4true56h"
        #expect(outputs == [2, 5, 8, 9, 13, 14, 16].map { String(all.prefix($0)) })
    }

    @Test func ofAClosureWithItsContext() async throws {
        let outputs = try await run(
            AsyncOperation(a, b) { "\($0)\($1)\($2.attempt)" },
            AsyncOperation(a, b, c, d, e, f, g, h) { a, b, c, d, e, f, g, h, context in
                "\(a)\(b)\(c)\(d)\(e)\(f)\(g ?? 0)\(h.1)\(context.attempt)"
            })
        #expect(outputs == ["1b1", "1b2.0[3]4true5h1"])
    }

    @Test func asOutcomes() async throws {
        let outputs = try await run(
            AsyncOperation(resultOf: a, failing) { "\(try $0.get())\((try? $1.get()) ?? -1)" },
            AsyncOperation(resultOf: a, b, c, d, e, f, g, failing) {
                "\(try $0.get())\(try $1.get())\(try $2.get())"
                    + "\(try $3.get())\(try $4.get())\(try $5.get())\((try? $7.get()) ?? -1)"
            },
            AsyncOperation("both", resultOf: a, failing) { first, second, context in
                "\(try first.get())\((try? second.get()) ?? -1)\(context.attempt)"
            })
        #expect(outputs == ["1-1", "1b2.0[3]4true-1", "1-11"])
    }

    @Test func withAName() async throws {
        #expect(AsyncOperation("sum", a, b) { "\($0)\($1)" }.name == "sum")
        #expect(AsyncOperation("one", a) { $0 }.name == "one")
        #expect(AsyncOperation("either", resultOf: a, b) { _, _ in 0 }.name == "either")
        #expect(AsyncOperation("default", failing, default: 1) { $0 }.name == "default")
        #expect(a.then("next") { $0 }.name == "next")
        #expect(AsyncOperation("next", a) { number, context in number + context.attempt }.name == "next")
        #expect(AsyncOperation.collect("all", [a, failing]).name == "all")
    }

    // MARK: - Numbers of inputs

    private struct Counting2: InputProcedure {
        func execute(_ input: (Int, Int), in context: OperationContext) async throws -> Int { 2 * input.1 }
    }

    private struct Counting3: InputProcedure {
        func execute(_ input: (Int, Int, Int), in context: OperationContext) async throws -> Int { 3 * input.2 }
    }

    private struct Counting4: InputProcedure {
        func execute(_ input: (Int, Int, Int, Int), in context: OperationContext) async throws -> Int { 4 * input.3 }
    }

    private struct Counting5: InputProcedure {
        func execute(_ input: (Int, Int, Int, Int, Int), in context: OperationContext) async throws -> Int {
            5 * input.4
        }
    }

    private struct Counting6: InputProcedure {
        func execute(_ input: (Int, Int, Int, Int, Int, Int), in context: OperationContext) async throws -> Int {
            6 * input.5
        }
    }

    private struct Counting7: InputProcedure {
        func execute(_ input: (Int, Int, Int, Int, Int, Int, Int), in context: OperationContext) async throws -> Int {
            7 * input.6
        }
    }

    private struct Counting8: InputProcedure {
        func execute(_ input: (Int, Int, Int, Int, Int, Int, Int, Int), in context: OperationContext) async throws
            -> Int
        { 8 * input.7 }
    }

    private func expect(_ count: Int, _ operation: AsyncOperation<Int>) async throws {
        #expect(operation.dependencies.count == 1)
        #expect(try await queue.run(operation) == count)
    }

    @Test func ofEachNumber() async throws {
        let x = Self.box(1)
        try await expect(2, AsyncOperation(x, x) { a, b in [a, b].count })
        try await expect(2, AsyncOperation(x, x) { a, b, context in [a, b].count * context.attempt })
        try await expect(2, AsyncOperation(resultOf: x, x) { a, b in try [a.get(), b.get()].count })
        try await expect(
            2, AsyncOperation(resultOf: x, x) { a, b, context in try [a.get(), b.get()].count * context.attempt })
        try await expect(3, AsyncOperation(x, x, x) { a, b, c in [a, b, c].count })
        try await expect(3, AsyncOperation(x, x, x) { a, b, c, context in [a, b, c].count * context.attempt })
        try await expect(3, AsyncOperation(resultOf: x, x, x) { a, b, c in try [a.get(), b.get(), c.get()].count })
        try await expect(
            3,
            AsyncOperation(resultOf: x, x, x) { a, b, c, context in
                try [a.get(), b.get(), c.get()].count * context.attempt
            })
        try await expect(4, AsyncOperation(x, x, x, x) { a, b, c, d in [a, b, c, d].count })
        try await expect(4, AsyncOperation(x, x, x, x) { a, b, c, d, context in [a, b, c, d].count * context.attempt })
        try await expect(
            4, AsyncOperation(resultOf: x, x, x, x) { a, b, c, d in try [a.get(), b.get(), c.get(), d.get()].count })
        try await expect(
            4,
            AsyncOperation(resultOf: x, x, x, x) { a, b, c, d, context in
                try [a.get(), b.get(), c.get(), d.get()].count * context.attempt
            })
        try await expect(5, AsyncOperation(x, x, x, x, x) { a, b, c, d, e in [a, b, c, d, e].count })
        try await expect(
            5, AsyncOperation(x, x, x, x, x) { a, b, c, d, e, context in [a, b, c, d, e].count * context.attempt })
        try await expect(
            5,
            AsyncOperation(resultOf: x, x, x, x, x) { a, b, c, d, e in
                try [a.get(), b.get(), c.get(), d.get(), e.get()].count
            })
        try await expect(
            5,
            AsyncOperation(resultOf: x, x, x, x, x) { a, b, c, d, e, context in
                try [a.get(), b.get(), c.get(), d.get(), e.get()].count * context.attempt
            })
        try await expect(6, AsyncOperation(x, x, x, x, x, x) { a, b, c, d, e, f in [a, b, c, d, e, f].count })
        try await expect(
            6,
            AsyncOperation(x, x, x, x, x, x) { a, b, c, d, e, f, context in [a, b, c, d, e, f].count * context.attempt }
        )
        try await expect(
            6,
            AsyncOperation(resultOf: x, x, x, x, x, x) { a, b, c, d, e, f in
                try [a.get(), b.get(), c.get(), d.get(), e.get(), f.get()].count
            })
        try await expect(
            6,
            AsyncOperation(resultOf: x, x, x, x, x, x) { a, b, c, d, e, f, context in
                try [a.get(), b.get(), c.get(), d.get(), e.get(), f.get()].count * context.attempt
            })
        try await expect(7, AsyncOperation(x, x, x, x, x, x, x) { a, b, c, d, e, f, g in [a, b, c, d, e, f, g].count })
        try await expect(
            7,
            AsyncOperation(x, x, x, x, x, x, x) { a, b, c, d, e, f, g, context in
                [a, b, c, d, e, f, g].count * context.attempt
            })
        try await expect(
            7,
            AsyncOperation(resultOf: x, x, x, x, x, x, x) { a, b, c, d, e, f, g in
                try [a.get(), b.get(), c.get(), d.get(), e.get(), f.get(), g.get()].count
            })
        try await expect(
            7,
            AsyncOperation(resultOf: x, x, x, x, x, x, x) { a, b, c, d, e, f, g, context in
                try [a.get(), b.get(), c.get(), d.get(), e.get(), f.get(), g.get()].count * context.attempt
            })
        try await expect(
            8, AsyncOperation(x, x, x, x, x, x, x, x) { a, b, c, d, e, f, g, h in [a, b, c, d, e, f, g, h].count })
        try await expect(
            8,
            AsyncOperation(x, x, x, x, x, x, x, x) { a, b, c, d, e, f, g, h, context in
                [a, b, c, d, e, f, g, h].count * context.attempt
            })
        try await expect(
            8,
            AsyncOperation(resultOf: x, x, x, x, x, x, x, x) { a, b, c, d, e, f, g, h in
                try [a.get(), b.get(), c.get(), d.get(), e.get(), f.get(), g.get(), h.get()].count
            })
        try await expect(
            8,
            AsyncOperation(resultOf: x, x, x, x, x, x, x, x) { a, b, c, d, e, f, g, h, context in
                try [a.get(), b.get(), c.get(), d.get(), e.get(), f.get(), g.get(), h.get()].count * context.attempt
            })
        try await expect(2, AsyncOperation(Counting2(), inputs: x, x))
        try await expect(3, AsyncOperation(Counting3(), inputs: x, x, x))
        try await expect(4, AsyncOperation(Counting4(), inputs: x, x, x, x))
        try await expect(5, AsyncOperation(Counting5(), inputs: x, x, x, x, x))
        try await expect(6, AsyncOperation(Counting6(), inputs: x, x, x, x, x, x))
        try await expect(7, AsyncOperation(Counting7(), inputs: x, x, x, x, x, x, x))
        try await expect(8, AsyncOperation(Counting8(), inputs: x, x, x, x, x, x, x, x))
    }
}
