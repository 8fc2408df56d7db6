// Statements of AOperation, ‘Basics’, and the page on Combine that it links to
//
// Baton has asynchronous sequences in the place of publishers, because they exist on every platform.
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

private struct Page: Sendable, Equatable {
    let text: String
}

/// The receiver, which takes an address.
private struct Retrieval: InputProcedure {
    let log: EventLog<String>

    func execute(_ address: String, in context: OperationContext) async throws -> Page {
        log("retrieves \(address)")
        if address.isEmpty { throw Oops(text: "no address") }
        return Page(text: "page of \(address)")
    }
}

@Suite(.timeLimit(.minutes(10))) struct AOperation_Sequences {
    /// AOperation's `operation.publisher(on: queue).sink { completion in } receiveValue: { value in }`
    @Test func AOperationPages_6_anOperationHasOneValueAndThenItsCompletion() async throws {
        let stage = TestQueue()
        let operation = AsyncOperation(Retrieval(log: stage.log), input: "a")
        let sink = stage.steps.task { try? await stage.queue.run(operation) }
        stage.steps.runAll()
        #expect(await sink.value == Page(text: "page of a"))
        // The operation has no other value, and later readers get the same one.
        #expect(try await operation.value == Page(text: "page of a"))
        #expect(stage.ran == ["retrieves a"])
    }

    @Test func AOperationPages_6_anOperationThatFailsCompletesWithItsError() async {
        let stage = TestQueue()
        let operation = AsyncOperation(Retrieval(log: stage.log), input: "")
        stage.run(operation)
        await #expect(throws: OperationError.self) { try await operation.value }
        #expect(operation.ending == "failed: no address")
    }

    /// AOperation's `publisher.deliver(to: operation, on: queue)`
    @Test func AOperationPages_6_everyElementIsDeliveredToAFreshOperation() {
        let stage = TestQueue()
        let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
        let made = EventLog<AnyOperation>()
        stage.consume(
            addresses.deliver(to: Retrieval(log: stage.log), on: stage.queue) { operation, _ in made(operation) })
        for address in ["a", "b"] {
            continuation.yield(address)
            stage.steps.runAll()
        }
        #expect(stage.ran.filter { $0.hasPrefix("retrieves") } == ["retrieves a", "retrieves b"])
        #expect(stage.ran.filter { $0.hasPrefix("Page") }.count == 2)
        #expect(Set(made.events).count == 2)
        continuation.finish()
        stage.steps.runAll()
        #expect(stage.ran.last == "end")
    }

    @Test func AOperationPages_6_aFailureCompletesTheSequence() {
        let stage = TestQueue()
        let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
        stage.consume(addresses.deliver(to: Retrieval(log: stage.log), on: stage.queue))
        for address in ["a", "", "c"] {
            continuation.yield(address)
            stage.steps.runAll()
        }
        #expect(stage.ran.filter { $0.hasPrefix("retrieves") } == ["retrieves a", "retrieves "])
        #expect(stage.ran.last == "failed: no address")
    }

    @Test func AOperationPages_6_cancellingTheSubscriptionCancelsWhatIsUnderWay() {
        let stage = TestQueue()
        let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
        continuation.onTermination = { [log = stage.log] _ in log("upstream ended") }
        let operations = EventLog<AnyOperation>()
        let subscription = stage.consume(
            addresses.deliver(on: stage.queue, configure: { operation, _ in operations(operation) }) { _ in
                try await Gate().waitUnlessCancelled()
            })
        continuation.yield("a")
        stage.steps.runAll()
        subscription.cancel()
        stage.steps.runAll()
        #expect(operations.events.map(\.ending) == ["cancelled with the task that awaited it"])
        #expect(stage.ran == ["upstream ended", "cancelled with the task that awaited it"])
    }
}
