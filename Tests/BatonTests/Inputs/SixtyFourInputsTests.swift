import BatonTesting
import Testing

@testable import Baton

/// What the compiler has to take, and what must not get mixed up.
@Suite(.timeLimit(.minutes(10))) struct SixtyFourInputsTests {
    private typealias Inputs = (
        Int, String, Double, [Int], Int8, Bool, Int?, (Int, String), Int, String, Double, [Int], Int8, Bool, Int?,
        (Int, String), Int, String, Double, [Int], Int8, Bool, Int?, (Int, String), Int, String, Double, [Int], Int8,
        Bool, Int?, (Int, String), Int, String, Double, [Int], Int8, Bool, Int?, (Int, String), Int, String, Double,
        [Int], Int8, Bool, Int?, (Int, String), Int, String, Double, [Int], Int8, Bool, Int?, (Int, String), Int,
        String, Double, [Int], Int8, Bool, Int?, (Int, String)
    )

    private struct Joining: InputProcedure {
        func execute(_ input: Inputs, in context: OperationContext) async throws -> String {
            "\(input.0)\(input.1)\(input.2)\(input.60)\(input.61)\(input.62 ?? 0)\(input.63.0)\(input.63.1)"
        }
    }

    private static func box<Value: Sendable>(_ value: Value) -> AsyncOperation<Value> { AsyncOperation { value } }

    private let a = box(1), b = box("b"), c = box(2.0), d = box([3])
    private let e = box(Int8(4)), f = box(true), g = box(Optional(5)), h = box((6, "h"))

    @Test func ofDifferentTypesForAProcedure() async throws {
        let all = AsyncOperation(
            Joining(),
            inputs:
                a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c,
            d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h)
        #expect(all.dependencies.count == 8)
        #expect(try await AsyncOperationQueue().run(all) == "1b2.04true56h")
    }

    @Test func ofDifferentTypesForAClosure() async throws {
        let all = AsyncOperation(
            a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d,
            e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h
        ) {
            let unused = ($3, $4, $5, $6, $7)
            return "\($0)\($1)\($2)\($60)\($61)\($62 ?? 0)\($63.0)\($63.1)\(unused.1)"
        }
        #expect(try await AsyncOperationQueue().run(all) == "1b2.04true56h4")
    }

    @Test func ofDifferentTypesAsOutcomes() async throws {
        let failing = AsyncOperation<Int> { throw Oops() }
        let all = AsyncOperation(
            resultOf:
                a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c,
            d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h, failing
        ) { "\(try $0.get())\(try $1.get())\(try $60.get())\(try $63.get().1)\((try? $64.get()) ?? -1)" }
        #expect(try await AsyncOperationQueue().run(all) == "1b4h-1")
    }
}
