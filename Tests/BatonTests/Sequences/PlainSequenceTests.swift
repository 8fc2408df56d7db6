import Baton
import BatonTesting
import Testing

@Suite("Synchronous sequences can be delivered, too", .timeLimit(.minutes(10))) struct PlainSequenceTests {
    private struct Doubling: InputProcedure {
        func execute(_ number: Int, in context: OperationContext) async throws -> Int { number * 2 }
    }

    private struct Unlucky: Error {}

    private let queue = AsyncOperationQueue()

    @Test("Arrays and ranges feed procedures and closures", arguments: [OutputOrder.preserved, .arrival])
    func outputs(_ order: OutputOrder) async throws {
        var all: [[Int]] = []
        all.append(try await collect([1, 2, 3].deliver(to: Doubling(), on: queue, order: order)))
        all.append(try await collect((1...3).deliver(on: queue, order: order) { $0 * 2 }))
        all.append(
            try await collect(
                Set(1...3).deliver(on: queue, width: 1, order: order) { number, context in number * 2 * context.attempt
                }))
        #expect(all.map { $0.sorted() } == [[2, 4, 6], [2, 4, 6], [2, 4, 6]])
        if order == .preserved { #expect(all[0] == [2, 4, 6] && all[1] == [2, 4, 6]) }
        #expect(try await collect([Int]().deliver(to: Doubling(), on: queue)).isEmpty)
    }

    private func collect<Outputs: AsyncSequence>(_ outputs: Outputs) async throws -> [Outputs.Element] {
        var all: [Outputs.Element] = []
        for try await output in outputs { all.append(output) }
        return all
    }

    @Test("An endless sequence is read at most `width` elements ahead, and a failure ends it")
    func endless() async throws {
        let taken = EventLog<Int>()
        let outputs = (0...).lazy.map { number in
            taken(number)
            return number
        }
        var seen: [Int] = []
        for try await number in Elements(outputs).deliver(on: queue, width: 4, { $0 }) {
            seen.append(number)
            if number == 20 { break }
        }
        #expect(seen == Array(0...20))
        #expect(taken.count <= 25)
        await #expect(throws: OperationError.self) {
            for try await number in (0...).deliver(on: queue, width: 2, { if $0 == 7 { throw Unlucky() } else { $0 } })
            {
                #expect(number < 7)
            }
        }
        await queue.waitUntilIdle()
    }

    /// Makes a sequence sendable that the standard library does not declare as such.
    private struct Elements<Base: Sequence>: Sequence, @unchecked Sendable {
        let base: Base
        init(_ base: Base) { self.base = base }
        func makeIterator() -> Base.Iterator { base.makeIterator() }
    }

    @Test("Cancelling the consumer ends the operations")
    func cancelling() async throws {
        let gate = Gate()
        let task = Task {
            for try await _ in (0...).deliver(on: queue, width: 3, { _ in try await gate.waitUnlessCancelled() }) {}
        }
        await gate.waitForWaiters(count: 3)
        task.cancel()
        try? await task.value
        await queue.waitUntilIdle()
        #expect(queue.operationCount == 0)
    }
}
