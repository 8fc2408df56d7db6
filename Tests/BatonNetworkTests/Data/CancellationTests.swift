import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

/// A cancellation at any stage ends the operation with `cancelled`, never with a value or another error.
@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
    private let queue = AsyncOperationQueue()
    private let key = freshKey()

    private func cancelled<Output>(_ operation: AsyncOperation<Output>) async -> Bool {
        operation.cancel()
        do throws(OperationError) {
            _ = try await operation.value
            return false
        } catch {
            if case .cancelled = error { return true }
            return false
        }
    }

    @Test func beforeItIsConnected() async throws {
        for _ in 0..<50 {
            let operation = AsyncOperation(HTTPData(server.url("/silent", ["key": key]))).add(to: queue)
            #expect(await cancelled(operation))
        }
        try await server.release(key)
    }

    @Test func whileItWaitsForTheHead() async throws {
        for number in 1...20 {
            let operation = AsyncOperation(HTTPData(server.url("/silent", ["key": key]))).add(to: queue)
            try await server.waitForRequests(key, count: number)
            #expect(await cancelled(operation))
        }
        try await server.release(key)
    }

    @Test func inTheMiddleOfTheBody() async throws {
        for _ in 0..<20 {
            let url = server.url("/bytes/1000", ["key": key, "hold": "500"])
            let operation = AsyncOperation(HTTPData(url)).add(to: queue)
            for await progress in operation.progressUpdates where progress.completedUnitCount == 500 { break }
            #expect(await cancelled(operation))
        }
        try await server.release(key)
    }

    @Test func whileItRunsAtFullSpeed() async throws {
        for _ in 0..<20 {
            let operation = AsyncOperation(HTTPData(server.url("/bytes/20000000", ["key": key, "hold": "19000000"])))
                .add(to: queue)
            for await progress in operation.progressUpdates where progress.completedUnitCount > 0 { break }
            #expect(await cancelled(operation))
        }
    }

    @Test func whileItSends() async throws {
        let url = server.url("/silent", ["key": key])
        let operation = AsyncOperation(HTTPUpload(Data(count: 50_000_000), to: url)).add(to: queue)
        try await server.waitForRequests(key)
        #expect(await cancelled(operation))
        try await server.release(key)
    }

    /// The operation ends with a value or as cancelled, depending on which comes first; nothing hangs, and no other
    /// error occurs.
    @Test func whenItIsJustAboutToEnd() async throws {
        for count in 0..<100 {
            let operation = AsyncOperation(HTTPData(server.url("/bytes/10"))).add(to: queue)
            if count % 2 == 0 {
                for await progress in operation.progressUpdates where progress.completedUnitCount > 0 { break }
            }
            operation.cancel()
            do throws(OperationError) {
                #expect(try await operation.value.data.count == 10)
            } catch {
                guard case .cancelled = error else {
                    Issue.record("\(error)")
                    return
                }
            }
        }
    }

    @Test func aDeadlineDoesNotHideIt() async throws {
        let url = server.url("/silent", ["key": key])
        let operation = AsyncOperation(HTTPData(url).deadline(.seconds(1000))).add(to: queue)
        try await server.waitForRequests(key)
        #expect(await cancelled(operation))
        try await server.release(key)
    }

    /// The operation usually ends within half a millisecond. The test has a process of its own, so that no other test
    /// slows it down, and the fastest run counts, because the machine may be busy.
    @Test func itIsOverWithinMilliseconds() async {
        await #expect(processExitsWith: .success) {
            let (queue, clock, key) = (AsyncOperationQueue(), ContinuousClock(), freshKey())
            var durations: [Duration] = []
            for number in 1...21 {
                let operation = AsyncOperation(HTTPData(server.url("/silent", ["key": key]))).add(to: queue)
                try await server.waitForRequests(key, count: number)
                let start = clock.now
                operation.cancel()
                _ = try? await operation.value
                durations.append(start.duration(to: clock.now))
            }
            precondition(durations.contains { $0 < .milliseconds(100) }, "\(durations)")
        }
    }
}
