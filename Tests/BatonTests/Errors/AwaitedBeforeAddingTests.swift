import Baton
import BatonTesting
import Testing

/// Operations that somebody awaits and nobody adds.
@Suite(.timeLimit(.minutes(10))) struct AwaitedBeforeAddingTests {
    /// Opens the gate with the first report.
    private func watch(_ operation: AnyOperation, _ reports: EventLog<Misuse>, _ gate: Gate) {
        operation.observe { event in
            guard case .misuse(let misuse) = event.kind else { return }
            reports(misuse)
            gate.open()
        }
    }

    @Test("An operation that is awaited and not added is reported once, after a second")
    func itIsReportedOnce() async throws {
        let reports = EventLog<Misuse>()
        let gate = Gate()
        let operation = AsyncOperation("forgotten") { 7 }
        watch(operation, reports, gate)
        let readers = (0..<3).map { _ in Task { try await operation.value } }
        let start = ContinuousClock.now
        await gate.wait()
        #expect(start.duration(to: .now) >= .milliseconds(900))
        let queue = AsyncOperationQueue()
        operation.add(to: queue)
        for reader in readers { #expect(try await reader.value == 7) }
        await queue.waitUntilIdle()
        #expect(reports.events.map(\.kind) == [.awaitedBeforeAdding])
        let text = "\(try #require(reports.events.first))"
        #expect(text.hasPrefix("‘forgotten’: is awaited and was not added"))
    }

    @Test("One that is added in time, cancelled or released is not")
    func whatIsAddedInTimeIsNotReported() async throws {
        let reports = EventLog<Misuse>()
        let gate = Gate()
        let queue = AsyncOperationQueue(isSuspended: true)
        let added = AsyncOperation("added") { 7 }
        let cancelled = AsyncOperation("cancelled") { 7 }
        let (first, second) = (Gate(), Gate())
        for operation in [added, cancelled] { watch(operation, reports, Gate()) }
        let readers = [(added, first), (cancelled, second)].map { operation, gate in
            Task {
                gate.open()
                return try await operation.value
            }
        }
        await first.wait()
        await second.wait()
        added.add(to: queue)
        cancelled.cancel()
        // Awaited after the others, so that its report comes after theirs would have come.
        let forgotten = AsyncOperation("forgotten") { 7 }
        watch(forgotten, EventLog(), gate)
        let reader = Task { try await forgotten.value }
        await gate.wait()
        #expect(reports.events.isEmpty)
        queue.isSuspended = false
        #expect(try await readers[0].value == 7)
        await #expect(throws: OperationError.self) { try await readers[1].value }
        forgotten.add(to: queue)
        #expect(try await reader.value == 7)
    }
}
