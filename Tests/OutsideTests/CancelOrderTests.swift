import Baton
import BatonTesting
import Synchronization
import Testing

@Suite("A cancellation has taken effect when the call returns")
struct CancelOrderTests {
    @Test("A cancellation from an onCancel block reaches a running body before the block continues")
    func G16_aCancelInsideACancelHasHappened() async throws {
        try await within {
            let queue = AsyncOperationQueue(executor: ThreadExecutor(threads: 2))
            let (aRuns, bRuns) = (Gate(), Gate())
            let bSawIt = Barricade()
            let sawItInTime = Atomic<Bool>(false)
            let b = queue.add("b") {
                bRuns.open()
                while !Task.isCancelled { await Task.yield() }
                bSawIt.open()
            }
            let a = queue.add("a") {
                await withTaskCancellationHandler {
                    aRuns.open()
                    while !Task.isCancelled { await Task.yield() }
                } onCancel: {
                    b.cancel()
                    sawItInTime.store(bSawIt.blockThread(), ordering: .releasing)
                }
            }
            await aRuns.wait()
            await bRuns.wait()
            // The block keeps the cancelling thread busy until the body of `b` has continued.
            await onOwnThread { a.cancel() }
            let wasInTime = sawItInTime.load(ordering: .acquiring)
            #expect(wasInTime)
            await queue.waitUntilIdle()
        }
    }

    /// Runs a job inside `enqueue`, so that a task begins before the code that creates it has received it.
    private final class AtOnceExecutor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    @Test("A cancellation reaches a body while the thread that starts its task is still in that call")
    func G16_aCancelOfATaskThatHasJustBegun() async throws {
        try await within {
            let queue = AsyncOperationQueue(executor: AtOnceExecutor())
            let wasInTime = Guarded<[Bool]>([])
            for _ in 0..<100 {
                let itself = Guarded<AnyOperation?>(nil)
                let operation = AsyncOperation {
                    itself.withLock { $0 }?.cancel()
                    let isCancelled = Task.isCancelled
                    wasInTime.withLock { $0.append(isCancelled) }
                }
                itself.withLock { $0 = operation }
                queue.add(operation)
                await queue.waitUntilIdle()
                itself.withLock { $0 = nil }
            }
            #expect(wasInTime.withLock { $0 } == [Bool](repeating: true, count: 100))
        }
    }

    @Test("A hundred operations each cancel the next one from an onCancel block")
    func cancelsInsideOneAnother() async throws {
        try await within {
            let count = 100
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: count)
            let running = (0..<count).map { _ in Gate() }
            let order = Guarded<[Int]>([])
            var next: AnyOperation?
            for number in (0..<count).reversed() {
                let following = next
                next = queue.add("\(number)") {
                    await withTaskCancellationHandler {
                        running[number].open()
                        while !Task.isCancelled { await Task.yield() }
                    } onCancel: {
                        following?.cancel()
                        order.withLock { $0.append(number) }
                    }
                }
            }
            for gate in running { await gate.wait() }
            next?.cancel()
            // The innermost of the nested cancels returns first. When the stack became too deep, the rest was done in a
            // loop.
            let first = order.withLock { $0 }.first
            #expect(first ?? 0 >= 50)
            await queue.waitUntilIdle()
            #expect(order.withLock { $0.sorted() } == Array(0..<count))
        }
    }
}
