import Baton
import BatonTesting
import Testing

/// A queue that is released while it is suspended ends the operations that have not begun, and no others.
@Suite(.timeLimit(.minutes(10))) struct RetryInReleasedQueueTests {
    private struct Oops: Error {}

    @Test("An attempt that fails while the queue is released is followed by the next one")
    func oneThatFailsWhileTheQueueIsReleasedHasItsNextAttempt() async throws {
        let clock = TestClock()
        let (running, mayFail) = (Gate(), Gate())
        let retried = AsyncOperation { context in
            if context.attempt == 2 { return 7 }
            running.open()
            await mayFail.wait()
            throw Oops()
        }
        .retry(.constant(.seconds(1)), attempts: 2)
        let neverAdded = AsyncOperation {}
        func fill() async {
            let queue = AsyncOperationQueue(executor: ThreadExecutor(threads: 1), clock: clock)
            // The release of the queue releases the body of `ended`, which captures this object.
            let release = Release {
                mayFail.open()
                while retried.state == .executing {}
            }
            let ended = AsyncOperation { withExtendedLifetime(release) {} }.addDependency(neverAdded)
            queue.add(ended)
            queue.add(retried)
            await running.wait()
            queue.isSuspended = true
        }
        await fill()
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        #expect(try await retried.value == 7)
    }
}
