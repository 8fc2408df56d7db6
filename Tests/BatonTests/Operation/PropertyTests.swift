import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct PropertyTests {
    @Test("Name, priority and executor can be set in an expression or by their properties")
    func expressions() {
        let threads = ThreadExecutor(threads: 1)
        let operation = AsyncOperation { 1 }
        #expect(operation.name("one").priority(.high).executor(threads) === operation)
        #expect(operation.name == "one")
        #expect(operation.priority == .high)
        #expect(operation.executor === threads)
        #expect(operation.executor(nil).executor == nil)
    }

    @Test("Name and executor cannot be set in an expression after the add")
    func tooLate() async {
        let changes = EventLog<String>()
        let queue = AsyncOperationQueue(isSuspended: true) { changes("\($0)") }
        let operation = AsyncOperation { 1 }
        queue.add(operation)
        let line = #line + 1
        operation.name("late").executor(ThreadExecutor(threads: 1))
        #expect(operation.name == nil && operation.executor == nil)
        #expect(changes.count == 2)
        #expect(changes.events.allSatisfy { $0.contains("PropertyTests.swift:\(line)") }, "\(changes.events)")
        operation.cancel()
        queue.isSuspended = false
        await queue.waitUntilIdle()
    }

    @Test("A retry without a backoff uses the standard one")
    func standardBackoff() {
        let backoff = Backoff.standard
        let error = OperationError.callbackDropped
        for (failures, longest) in [(1, 100), (2, 200), (5, 1600), (8, 10_000), (100, 10_000)] {
            let delays = (0..<200).map { _ in backoff.delay(after: failures, error: error) }
            #expect(delays.allSatisfy { $0 >= .zero && $0 <= .milliseconds(longest) })
            #expect(delays.contains { $0 > .milliseconds(longest / 2) })
        }
        let stage = TestQueue()
        let work = AsyncOperation<Int>("work") { [log = stage.log] in
            log("attempt")
            throw Oops()
        }
        stage.run(work.retry(attempts: 3))
        for attempt in 1...3 {
            #expect(stage.ran.count == attempt)
            stage.advance(by: .milliseconds(200))
        }
        #expect(stage.ran.count == 3 && work.result != nil)
        let other = AsyncOperation<Int>("other") { throw Oops() }.retry(attempts: 3) { _ in false }
        stage.run(other)
        #expect(other.attempts.count == 1)
    }
}
