import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct IdleTests {
    /// Logs "idle" when the queue is idle.
    private func watch(_ stage: TestQueue) {
        stage.steps.task { [queue = stage.queue, log = stage.log] in
            await queue.waitUntilIdle()
            log("idle")
        }
        stage.steps.runAll()
    }

    @Test func anEmptyQueueIsIdle() async {
        await AsyncOperationQueue().waitUntilIdle()
        await AsyncOperationQueue(isSuspended: true).waitUntilIdle()
    }

    @Test("A queue is idle when all operations have finished")
    func itIsIdleWhenEverythingHasFinished() {
        let stage = TestQueue()
        let gate = Gate()
        let first = stage.waiting("first", at: gate)
        stage.queue.add(first, stage.noting("second", after: first))
        watch(stage)
        watch(stage)
        #expect(stage.ran == ["first"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["first", "second", "idle", "idle"])
    }

    @Test("A suspended queue with operations is not idle")
    func itIsNotWhileItIsSuspendedWithOperations() {
        let stage = TestQueue(isSuspended: true)
        stage.queue.add(stage.noting("operation"))
        watch(stage)
        #expect(stage.ran == [])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["operation", "idle"])
    }

    @Test("A queue may become idle repeatedly")
    func itMayBecomeIdleAgainAndAgain() {
        let stage = TestQueue()
        for round in 1...3 {
            stage.queue.add(stage.noting("operation"))
            watch(stage)
            #expect(stage.ran.filter { $0 == "idle" }.count == round)
        }
    }

    @Test func aCancelledOperationDoesNotKeepItBusy() {
        let stage = TestQueue()
        let missing = stage.noting("missing")
        let waiting = stage.noting("waiting", after: missing)
        stage.run(waiting)
        watch(stage)
        #expect(stage.ran == [])
        waiting.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["idle"])
    }
}
