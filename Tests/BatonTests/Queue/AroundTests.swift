import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct AroundTests {
    @TaskLocal private static var request = 0

    @Test func aHookIsAroundEveryBody() {
        let stage = TestQueue(width: 1)
        stage.queue.around { [log = stage.log] context, body in
            log("before \(context.operation.name!)")
            try await body()
            log("after \(context.operation.name!)")
        }
        stage.run(stage.noting("a"), stage.noting("b"))
        #expect(stage.ran == ["before a", "a", "after a", "before b", "b", "after b"])
    }

    @Test func theFirstHookIsOutermost() {
        let stage = TestQueue()
        for name in ["outer", "inner"] {
            stage.queue.around { [log = stage.log] _, body in
                log(name)
                try await body()
            }
        }
        stage.run(stage.noting("body"))
        #expect(stage.ran == ["outer", "inner", "body"])
    }

    @Test func taskLocalsReachTheBodyAndItsChildTasksAlone() async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        queue.around { _, body in try await Self.$request.withValue(7) { try await body() } }
        let operation = AsyncOperation { () -> [Int] in
            async let child = Self.request
            return [Self.request, await child]
        }
        let seen = EventLog<Int>()
        operation.didFinish { _ in seen(Self.request) }
        #expect(try await queue.run(operation) == [7, 7])
        await queue.waitUntilIdle()
        #expect(seen.events == [0])
    }

    @Test func aBodyStillReleasesItsPermitInsideAHook() async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        queue.around { _, body in try await body() }
        let operation = AsyncOperation { context in
            try await context.run(AsyncOperation { 1 }) + queue.run(AsyncOperation { 2 })
        }
        #expect(try await queue.run(operation) == 3)
    }

    @Test func theHookSeesWhatTheBodyThrew() {
        let stage = TestQueue()
        stage.queue.around { [log = stage.log] _, body in
            do { try await body() } catch { log("\(error)") }
        }
        let operation = AsyncOperation("operation") { throw Oops() } as AsyncOperation<Void>
        stage.run(operation)
        #expect(stage.ran == ["oops"])
        #expect(operation.ending == "failed: oops")
    }

    @Test func anErrorOfTheHookFailsTheOperation() {
        for isBefore in [true, false] {
            let stage = TestQueue()
            stage.queue.around { _, body in
                if isBefore { throw Oops(text: "before") }
                try await body()
                throw Oops(text: "after")
            }
            let operation = stage.noting("operation")
            stage.run(operation)
            #expect(stage.ran == (isBefore ? [] : ["operation"]))
            #expect(operation.ending == "failed: \(isBefore ? "before" : "after")")
        }
    }

    @Test func aHookThatLeavesTheBodyOutFailsTheOperation() {
        let stage = TestQueue()
        stage.queue.around { _, _ in }
        let operation = stage.noting("operation")
        let reader = operation.then {}
        stage.run(operation, reader)
        #expect(operation.ending == "misuse: leftBodyOut")
        #expect(stage.ran == [])
        #expect(reader.state == .finished)
    }

    @Test func aHookThatCallsTheBodyTwiceRunsItOnce() {
        let stage = TestQueue()
        stage.queue.around { [log = stage.log] _, body in
            try await body()
            do { try await body() } catch { log((error as? OperationError)?.inShort ?? "") }
        }
        let operation = stage.noting("operation")
        stage.run(operation)
        #expect(stage.ran == ["operation", "misuse: calledBodyTwice"])
        #expect(operation.ending == "success")
    }

    @Test func noHookIsCalledForABodyThatDoesNotRun() {
        let stage = TestQueue()
        stage.queue.around { [log = stage.log] context, body in
            log(context.operation.name!)
            try await body()
        }
        let failing = AsyncOperation("failing") { throw Oops() } as AsyncOperation<Void>
        let reader = failing.then {}
        let skipped = stage.noting("skipped").addDependency(failing, on: .success)
        let cancelled = stage.noting("cancelled")
        stage.queue.add(failing, reader, skipped, cancelled)
        cancelled.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["failing"])
    }

    @Test func aHookDoesNotConcernWhatHasStarted() {
        let stage = TestQueue()
        let gate = Gate()
        let operation = stage.waiting("operation", at: gate)
        stage.run(operation)
        stage.queue.around { [log = stage.log] _, body in
            log("hook")
            try await body()
        }
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["operation"])
    }
}
