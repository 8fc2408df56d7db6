import BatonTesting
import Testing

@testable import Baton

/// A cancellation marks the operation under its lock, and cancels the task of its worker afterwards. In between the
/// body may return.
@Suite struct LateCancelTests {
    @Test("A cancellation of a task that comes after the end of the body does not reach the next operation")
    func afterTheEndOfTheBody() {
        let stage = TestQueue(width: 1)
        let workers = EventLog<Worker>()
        let first = AsyncOperation("first") { context in
            let worker = context.operation.withLifecycle { life in
                _ = life.cancel()
                return life.worker
            }
            if let worker { workers(worker) }
        }
        let second = AsyncOperation("second") { [log = stage.log] in
            workers.events[0].task.cancel()
            log(Task.isCancelled ? "cancelled" : "not cancelled")
        }
        stage.run(first, second)
        #expect(first.ending == "success")
        #expect(stage.ran == ["not cancelled"])
    }
}
