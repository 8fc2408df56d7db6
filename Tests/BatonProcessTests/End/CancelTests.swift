import Baton
import BatonProcess
import BatonTesting
import Foundation
import Testing

/// Tests a cancellation at every stage of a run.
@Suite(.timeLimit(.minutes(10))) struct CancelTests {
    private let log = EventLog<String>()
    private let queue = AsyncOperationQueue()

    private func start(_ script: String, _ argument: String = "") -> AsyncOperation<SubprocessResult> {
        let operation = AsyncOperation(sh(script, argument, output: .lines { [log] in log($0) }))
        queue.add(operation)
        return operation
    }

    @Test func beforeTheStartNothingIsStarted() async throws {
        let folder = try Folder()
        let operation = AsyncOperation(sh("touch $1", folder.file("mark")))
        operation.cancel()
        queue.add(operation)
        await operation.finished()
        #expect(operation.wasCancelled)
        // A run in a task that is already cancelled does not start the program either.
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await sh("touch $1", folder.file("mark")).execute(in: OperationContext())
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(folder.names.isEmpty)
    }

    @Test func whenItHasJustStarted() async {
        for _ in 0..<20 {
            let operation = AsyncOperation(sh("exec sleep 1000"))
            operation.didStart { [weak operation] in operation?.cancel() }
            queue.add(operation)
            await operation.finished()
            #expect(operation.wasCancelled)
        }
    }

    @Test func whileItRuns() async {
        let operation = start("echo $$; exec sleep 1000")
        let pid = Int32(await log.waitForCount(1)[0]) ?? 0
        operation.cancel(reason: .because("of rain"))
        await operation.finished()
        guard case .cancelled(.because("of rain"))? = operation.error else {
            Issue.record("\(operation)")
            return
        }
        #expect(!Neighbours.isAlive(pid))
    }

    @Test func whileItsOutputStreams() async {
        let operation = start("exec yes")
        await log.waitForCount(1_000)
        operation.cancel()
        await operation.finished()
        #expect(operation.wasCancelled)
        let count = log.count
        await Task.yield()
        #expect(log.count == count)
    }

    @Test func whileItsInputIsWritten() async {
        let input = StandardInput.data(Data(count: 1_000_000))
        let operation = AsyncOperation(
            sh("echo ready; exec sleep 1000", input: input, output: .lines { [log] in log($0) }))
        queue.add(operation)
        await log.waitForCount(1)
        operation.cancel()
        await operation.finished()
        #expect(operation.wasCancelled)
    }

    @Test func whileAHandlerThinks() async {
        let gate = Gate()
        let operation = AsyncOperation(
            sh("echo; exec sleep 1000", output: .lines { _ in try await gate.waitUnlessCancelled() }))
        queue.add(operation)
        await gate.waitForWaiters(count: 1)
        operation.cancel()
        await operation.finished()
        #expect(operation.wasCancelled)
    }

    /// The program has already succeeded, so its outcome is not changed by the cancellation.
    @Test func whenItHasEndedAndItsOutputIsStillRead() async throws {
        let gate = Gate()
        let operation = AsyncOperation(
            sh(
                "echo $$",
                output: .lines { [log] in
                    log($0)
                    await gate.wait()
                }))
        queue.add(operation)
        let pid = Int32(await log.waitForCount(1)[0]) ?? 0
        await Neighbours.waitForReaping(of: pid)
        operation.cancel()
        gate.open()
        #expect(try await operation.value.status == 0)
    }

    @Test func aCancelOfAllEndsAll() async {
        let operations = (0..<30).map { _ in start("echo ready; exec sleep 1000") }
        await log.waitForCount(30)
        queue.cancelAll()
        for operation in operations {
            await operation.finished()
            #expect(operation.wasCancelled)
        }
    }

    @Test("A program that returns normally on the signal still counts as cancelled")
    func oneThatReturnsOnTheSignalWasCancelledAllTheSame() async {
        let operation = start("trap 'exit 0' TERM; echo ready; sleep 1000 & wait")
        await log.waitForCount(1)
        operation.cancel()
        await operation.finished()
        #expect(operation.wasCancelled)
    }

    /// The test has a process of its own, so that no other test slows it down. The fastest run counts, because the
    /// machine may be busy.
    @Test("A cancelled program ends within milliseconds")
    func itIsOverWithinMilliseconds() async {
        await #expect(processExitsWith: .success) {
            let (queue, clock, log) = (AsyncOperationQueue(), ContinuousClock(), EventLog<String>())
            var durations: [Duration] = []
            for number in 1...21 {
                let program = sh("echo; exec sleep 1000", output: .lines { log($0) }, grace: .milliseconds(400))
                let operation = AsyncOperation(program)
                queue.add(operation)
                await log.waitForCount(number)
                let start = clock.now
                operation.cancel()
                await operation.finished()
                durations.append(start.duration(to: clock.now))
            }
            precondition(durations.contains { $0 < .milliseconds(100) }, "\(durations)")
        }
    }
}
