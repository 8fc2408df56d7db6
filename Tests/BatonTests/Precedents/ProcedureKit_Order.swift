// Statements of ProcedureKit, ‘Result Injection’
//
// The promise about time: the input is set before the dependency finishes, and so before the dependent becomes ready.
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// A fetch and its reader, which records what it saw of the fetch when it ran.
private struct Pair: Sendable {
    let fetch: AsyncOperation<Int>
    let reader: AsyncOperation<String>
    private let notes = Notes()

    private final class Notes: Sendable {
        let outputIsDecided = Locked(false)
        /// The state of the reader when the output was decided.
        let stateOfReader = Locked(OperationState.created)
    }

    init(_ number: Int) {
        let notes = notes
        let fetch = AsyncOperation("fetch \(number)") { number }
        let reader = AsyncOperation(fetch) { [weak fetch] value in
            guard notes.outputIsDecided.withLock({ $0 }) else { return "too early" }
            return "\(value) \(fetch.map { "\($0.state)" } ?? "gone")"
        }
        fetch.willFinish { [weak reader] result in
            if let state = reader?.state { notes.stateOfReader.withLock { $0 = state } }
            notes.outputIsDecided.withLock { $0 = (try? result.get()) == number }
        }
        (self.fetch, self.reader) = (fetch, reader)
    }

    /// Returns what was wrong with the pair, when both operations have run.
    func violation(_ number: Int) -> String? {
        let seen = (try? reader.result?.get()) ?? "nothing"
        if seen != "\(number) finished" { return "\(number): the reader saw ‘\(seen)’" }
        let state = notes.stateOfReader.withLock { $0 }
        return state <= .waiting ? nil : "\(number): the reader was \(state) when the output was decided"
    }
}

@Suite(.timeLimit(.minutes(10))) struct ProcedureKit_Order {
    @Test(arguments: [1, 64]) func ProcedureKit_4_underThreadsTheInputIsThereBeforeTheReaderIsReady(width: Int) async {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
        let pairs = (0..<10_000).map { Pair($0) }
        // Half of the readers are added before their fetch, and half after it, when it may have finished.
        for (number, pair) in pairs.enumerated() {
            queue.add(number.isMultiple(of: 2) ? [pair.reader, pair.fetch] : [pair.fetch, pair.reader])
        }
        await queue.waitUntilIdle()
        #expect(pairs.enumerated().compactMap { $1.violation($0) }.prefix(3) == [])
    }

    @Test func ProcedureKit_4_underEveryScheduleTheInputIsThereBeforeTheReaderIsReady() async throws {
        try await exploring(schedules: tries(1_000)) { scheduler in
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: scheduler.random(in: 1...3), executor: scheduler)
            let pairs = (0..<3).map { Pair($0) }
            var generator = scheduler.makeGenerator()
            for operation in pairs.flatMap({ [$0.fetch, $0.reader] as [AnyOperation] }).shuffled(using: &generator) {
                queue.add(operation)
                if scheduler.random(in: 0..<2) == 0 { await Task.yield() }
            }
            await queue.waitUntilIdle()
            try #require(pairs.enumerated().compactMap { $1.violation($0) } == [])
        }
    }
}
