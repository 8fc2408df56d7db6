import BatonTesting
import Testing

@testable import Baton

/// Parents and children that are nested deep, at width 1: what goes from one to the next must not recurse.
@Suite(.timeLimit(.minutes(10))) struct DeepCancelTests {
    /// Enough to overflow any stack. Each level has a task that waits, so a test takes 10 KB a level in a debug build.
    private static let depth = min(20_000, veryMany)

    /// As deep as is promised; sanitizers would need more memory than there is.
    private static var promisedDepth: Int { veryMany }

    /// Runs a child inside a child; the innermost waits at the gate.
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
        #expect((try? await top.value) == Self.promisedDepth, "A value after a cancel is a success.")
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

    /// Each handler cancels the next operation, inside the cancel of the one before.
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
