import BatonTesting
import Testing

@testable import Baton

/// Tests of deeply nested parents and children at width 1. An effect that spreads from one to the next must not
/// recurse.
@Suite(.timeLimit(.minutes(10))) struct DeepCancelTests {
    /// This depth overflows any stack if code recurses. Each level has a task that waits, so a test takes 10 KB per
    /// level in a debug build.
    private static let depth = min(20_000, veryMany)

    /// The depth that is promised. With sanitizers it is smaller, because they would need more memory than there is.
    private static var promisedDepth: Int { veryMany }

    /// Makes an operation that runs a child inside a child. The innermost one waits at the gate.
    private func nest(_ depth: Int, _ gate: Gate, _ log: EventLog<Bool>) -> AsyncOperation<Int> {
        AsyncOperation { context in
            if depth == 0 {
                await gate.wait()
                log(Task.isCancelled)
                return 0
            }
            return try await context.run(nest(depth - 1, gate, log)) + 1
        }
    }

    private func started(
        depth: Int = Self.depth
    ) async -> (AsyncOperationQueue, AsyncOperation<Int>, Gate, EventLog<Bool>) {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let log = EventLog<Bool>()
        let top = nest(depth, gate, log)
        queue.add(top)
        await gate.waitForWaiters(count: 1)
        #expect(queue.operationCount == depth + 1)
        return (queue, top, gate, log)
    }

    @Test func G32_cancelledAtTheTop() async {
        let (queue, top, gate, log) = await started(depth: Self.promisedDepth)
        top.cancel()
        gate.open()
        #expect((try? await top.value) == Self.promisedDepth, "A value after a cancellation is a success.")
        #expect(top.isCancelled)
        #expect(log.events == [true], "It has reached the innermost.")
        await queue.waitUntilIdle()
    }

    @Test func allCancelledAtOnce() async {
        let (queue, top, gate, log) = await started()
        queue.cancelAll()
        gate.open()
        _ = try? await top.value
        #expect(log.events == [true])
        await queue.waitUntilIdle()
    }

    @Test(arguments: [false, true]) func released(whileSuspended: Bool) async {
        let (top, gate, log) = await {
            let (queue, top, gate, log) = await started()
            queue.isSuspended = whileSuspended
            return (top, gate, log)
        }()
        gate.open()
        #expect((try? await top.value) == Self.depth)
        #expect(log.events == [false])
    }

    /// Each `onCancel` handler cancels the next operation inside the cancellation of its own operation.
    @Test func fromOnCancelHandlersInARow() async {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: .max)
        let gate = Gate()
        var operations: [AsyncOperation<Void>] = []
        for _ in 0..<Self.depth {
            operations.append(
                AsyncOperation { [next = operations.last] in
                    await withTaskCancellationHandler {
                        await gate.wait()
                    } onCancel: {
                        next?.cancel()
                    }
                })
        }
        queue.add(operations)
        await gate.waitForWaiters(count: Self.depth)
        operations.last?.cancel()
        #expect(operations.allSatisfy { $0.isCancelled })
        gate.open()
        await queue.waitUntilIdle()
    }
}
