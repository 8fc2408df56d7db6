// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct EdgeGuarantees {
    @Test func G6_aReaderOfAFailedSourceFailsWithoutRunning() {
        let stage = TestQueue()
        let source = AsyncOperation<Int>("source") { throw Oops() }
        let reader = AsyncOperation(source) { [log = stage.log] value in log("ran \(value)") }
        reader.name = "reader"
        stage.run(reader, source)
        #expect(reader.ending == "needs source via source: failed: oops")
        #expect(stage.ran == [])
    }

    /// However long the chain is, the error names the first operation that failed, its error, and the direct
    /// dependency.
    @Test func G6_theErrorStaysFlat() {
        let stage = TestQueue()
        let source = AsyncOperation<Int>("source") { throw Oops() }
        var chain = [source]
        for number in 1...50 {
            let next = chain.last!.then { $0 + 1 }
            next.name = "\(number)"
            chain.append(next)
        }
        stage.queue.add(chain)
        stage.steps.runAll()
        for number in 1...50 {
            #expect(
                chain[number].ending == "needs source via \(number == 1 ? "source" : "\(number - 1)"): failed: oops")
        }
    }

    @Test func G6_aCancelledSourceFailsItsReader() {
        let stage = TestQueue()
        let source = AsyncOperation<Int>("source") { 1 }
        let reader = source.then { $0 }
        let procedure = AsyncOperation(Doubling(), input: source)
        let many = AsyncOperation(source, AsyncOperation("other") { 2 }) { one, two in one + two }
        source.cancel(reason: .because("of rain"))
        stage.queue.add([reader, procedure, many, source] + many.dependencies.dropFirst())
        stage.steps.runAll()
        for operation in [reader, procedure, many] {
            #expect(operation.ending == "needs source via source: cancelled because of rain")
        }
    }

    /// The error comes from the first input that failed in the order of the inputs, not in the order of the failures.
    @Test func G6_ofSeveralTheFirstInputDecides() {
        let stage = TestQueue(width: 1)
        let first = AsyncOperation<Int>("first") { throw Oops(text: "1") }
        let second = AsyncOperation<Int>("second") { throw Oops(text: "2") }
        let reader = AsyncOperation(first, second) { $0 + $1 }
        stage.run(second, first, reader)
        #expect(reader.ending == "needs first via first: failed: 1")
    }

    @Test func G6_aDefaultIsUsedWhateverTheReason() {
        let stage = TestQueue()
        let failing = AsyncOperation<Int>("failing") { throw Oops() }
        let cancelled = AsyncOperation { 1 }
        cancelled.cancel()
        let skipped = AsyncOperation { 2 }.addDependency(failing, on: .success)
        let starved = failing.then { $0 }
        let readers = [failing, cancelled, skipped, starved].map { AsyncOperation($0, default: 9) { $0 } }
        stage.queue.add([failing, cancelled, skipped, starved] + readers)
        stage.steps.runAll()
        #expect(readers.map { try? $0.result?.get() } == [9, 9, 9, 9])
    }

    @Test func G6_anOrderEdgeReleasesWhateverTheOutcome() {
        let stage = TestQueue()
        let failing = AsyncOperation<Void>("failing") { throw Oops() }
        let cancelled = stage.noting("cancelled")
        let starved = failing.then { _ in }
        cancelled.cancel()
        let after = stage.noting("after", after: failing, cancelled, starved)
        stage.run(after, failing, cancelled, starved)
        #expect(stage.ran == ["after"])
    }

    /// Adds one graph with failures and both kinds of edge in every possible order.
    @Test func G7_theOrderOfAddingDoesNotMatter() {
        var endings: Set<[String]> = []
        for order in permutations(of: 5) {
            let stage = TestQueue(width: 2)
            let a = AsyncOperation("a") { 1 }
            let b = AsyncOperation<Int>("b") { throw Oops() }
            let c = AsyncOperation(a, b) { $0 + $1 }
            let d = stage.noting("d", after: c, a)
            let e = a.then { $0 + 1 }
            e.addDependency(d)
            let graph: [AnyOperation] = [a, b, c, d, e]
            for index in order { stage.queue.add(graph[index]) }
            stage.steps.runAll()
            endings.insert(graph.map(\.ending))
        }
        #expect(endings == [["success", "failed: oops", "needs b via b: failed: oops", "success", "success"]])
    }

    @Test func G7_addedOneByOneWhileItRuns() async throws {
        try await exploring(schedules: 100) { scheduler in
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2, executor: scheduler)
            var sum = [AsyncOperation("0") { 1 }]
            for index in 1..<20 { sum.append(sum[index / 2].then { $0 + 1 }) }
            var generator = scheduler.makeGenerator()
            for operation in sum.shuffled(using: &generator) {
                queue.add(operation)
                if scheduler.random(in: 0..<2) == 0 { await Task.yield() }
            }
            await queue.waitUntilIdle()
            try #require(try sum.map { try $0.result?.get() } == (0..<20).map { depth($0) })
        }
    }
}

struct Doubling: InputProcedure {
    func execute(_ input: Int, in context: OperationContext) async throws -> Int { input * 2 }
}

/// Returns the number of operations in the chain that halves its index at each step.
private func depth(_ index: Int) -> Int { index == 0 ? 1 : depth(index / 2) + 1 }

private func permutations(of count: Int) -> [[Int]] {
    if count == 0 { return [[]] }
    return permutations(of: count - 1).flatMap { shorter in
        (0..<count).map { place in Array(shorter[..<place]) + [count - 1] + Array(shorter[place...]) }
    }
}
