import BatonTesting
import Testing

@testable import Baton

/// The one point where every event passes.
@Suite struct EngineEventTests {
    private func events(_ body: (Stage) -> Void) -> [String] {
        let log = EventLog<String>()
        let stage = Stage(width: 1, tap: { log("\($0.operation.name) \($0.kind)") })
        body(stage)
        stage.steps.runAll()
        return log.events.map { $0.replacing("Baton.OperationOutcome.", with: "") }
    }

    @Test func aRun() {
        let seen = events { $0.queue.add($0.noting("a")) }
        #expect(seen == ["a added", "a started", "a finished(success)"])
    }

    @Test func oneThatNeverStarts() {
        let seen = events { stage in
            let source = AsyncOperation<Int>("source") { throw Oops() }
            let reader = source.then { $0 }
            reader.name = "reader"
            stage.queue.add(reader, source)
        }
        #expect(
            seen == [
                "reader added", "source added", "source started", "source finished(failure)",
                "reader finished(failure)",
            ])
    }

    @Test func oneThatIsCancelled() {
        let seen = events { stage in
            let operation = stage.noting("a")
            stage.queue.add(operation)
            operation.cancel()
            operation.cancel()
        }
        #expect(seen == ["a added", "a finished(cancelled)"])
    }

    @Test func oneThatIsCancelledBeforeTheAddIsNoEvent() {
        let seen = events { stage in
            let operation = stage.noting("a")
            operation.cancel()
            stage.queue.add(operation)
        }
        #expect(seen == [])
    }
}
