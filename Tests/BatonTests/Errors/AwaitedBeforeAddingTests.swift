import BatonTesting
import Testing

@testable import Baton

/// Tests of operations that a task awaits and nobody adds.
@Suite(.timeLimit(.minutes(10))) struct AwaitedBeforeAddingTests {
    /// Logs each report, and opens the gate.
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
        #expect(text.hasPrefix("‘forgotten’ is awaited, and nobody has added it"))
    }

    @Test("A peer that a body awaits and nobody adds is reported as well")
    func aPeerIsReported() async throws {
        let reports = EventLog<Misuse>()
        let gate = Gate()
        let peer = AsyncOperation("forgotten") {}
        watch(peer, reports, gate)
        let wait = PeerWait(for: [peer])
        let queue = AsyncOperationQueue()
        let waiting = queue.add(AsyncOperation("waiting") { try await wait.wait() })
        await gate.wait()
        #expect(reports.events.map(\.kind) == [.awaitedBeforeAdding])
        queue.add(peer)
        try await waiting.value
    }

    @Test("A child is not reported, because its group adds it when the group starts")
    func aChildIsNotReported() async throws {
        let reports = EventLog<Misuse>()
        let gate = Gate()
        let child = AsyncOperation("child") { 7 }
        let forgotten = AsyncOperation("forgotten") {}
        for operation in [child, forgotten] { watch(operation, reports, gate) }
        let queue = AsyncOperationQueue(isSuspended: true)
        GroupOperation(child).add(to: queue)
        for operation in [child, forgotten] { operation.reportIfNotAdded() }
        await gate.wait()
        #expect(reports.events.map(\.operation?.name) == ["forgotten"])
        queue.isSuspended = false
        #expect(try await child.value == 7)
    }

    @Test("An operation that is added or cancelled within that second is not reported")
    func whatIsAddedInTimeIsNotReported() async throws {
        let reports = EventLog<Misuse>()
        let queue = AsyncOperationQueue(isSuspended: true)
        let added = AsyncOperation("added") { 7 }.add(to: queue)
        let cancelled = AsyncOperation("cancelled") { 7 }
        let forgotten = AsyncOperation("forgotten") { 7 }
        let gate = Gate()
        for operation in [added, cancelled, forgotten] { watch(operation, reports, gate) }
        cancelled.cancel()
        for operation in [added, cancelled, forgotten] { operation.reportIfNotAdded() }
        await gate.wait()
        #expect(reports.events.map(\.operation?.name) == ["forgotten"])
        queue.isSuspended = false
        #expect(try await added.value == 7)
    }
}
