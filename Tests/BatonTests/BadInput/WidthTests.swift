import BatonTesting
import Testing

@testable import Baton

@Suite struct WidthTests {
    @Test("An invalid width at creation falls back to the default", arguments: [0, -1, Int.min])
    func aQueueOfNoWidthHasTheDefault(width: Int) {
        let misuses = EventLog<Misuse>()
        let queue = AsyncOperationQueue(
            name: "kitchen", maxConcurrentOperationCount: width, onMisuse: { misuses($0) })
        #expect(queue.maxConcurrentOperationCount == AsyncOperationQueue.defaultMaxConcurrentOperationCount)
        #expect(misuses.events.map(\.kind) == [.invalidWidth(width)])
        #expect(misuses.events.first?.queue == "kitchen")
    }

    @Test(arguments: [0, -1, Int.min]) func theOldWidthStays(width: Int) {
        let stage = TestQueue(width: 3)
        stage.queue.maxConcurrentOperationCount = width
        #expect(stage.queue.maxConcurrentOperationCount == 3)
        #expect(stage.misuseKinds == [.invalidWidth(width)])
        stage.run(stage.noting("operation"))
        #expect(stage.ran == ["operation"])
    }

    /// The test would take many minutes if the time were quadratic, and would overflow the stack if the code recursed.
    @Test(.timeLimit(.minutes(10))) func veryManyParentsWithAChildEachAtWidthOne() async {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let meter = Meter()
        let parents = (0..<veryMany).map { number in
            AsyncOperation { context in
                try await context.run(
                    AsyncOperation {
                        meter.enter()
                        meter.leave()
                        return number
                    })
            }
        }
        queue.add(parents)
        await queue.waitUntilIdle()
        #expect(meter.passes == veryMany)
        #expect(meter.most == 1)
        #expect((try? parents.last?.result?.get()) == veryMany - 1)
        #expect((try? parents.first?.result?.get()) == 0)
    }

    /// The operation that is awaited last finishes first. The test would take many minutes if the time were quadratic.
    @Test(.timeLimit(.minutes(10))) func veryManyWaitsOfOneBodyAtOnce() {
        let stage = TestQueue()
        let others = TestQueue(isSuspended: true, on: stage.steps)
        let operations = (0..<veryMany).map { number in AsyncOperation { number } }
        others.queue.add(operations.reversed())
        let body = AsyncOperation { context in
            // A task group has a list of its own that takes quadratic time in this order, so the body uses tasks.
            let waits = operations.map { operation in
                stage.steps.task { try? await context.run(operation) }
            }
            var sum = 0
            for wait in waits { sum += await wait.value ?? 0 }
            return sum
        }
        stage.run(body)
        #expect(body.waits.count == veryMany)
        others.queue.isSuspended = false
        stage.steps.runAll()
        #expect((try? body.result?.get()) == veryMany * (veryMany - 1) / 2)
    }

    /// The parents must not all start before the first child, on whatever executor the workers run. On
    /// ``ImmediateExecutor`` a worker runs inside the step in which a parent releases its permit.
    @Test(arguments: [StepExecutor() as any TaskExecutor, ImmediateExecutor()])
    func parentsDoNotAllStartBeforeTheFirstChild(executor: any TaskExecutor) async {
        let log = EventLog<String>()
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true, executor: executor)
        for number in 0..<10 {
            queue.add(
                AsyncOperation { context in
                    log("parent \(number)")
                    try await context.run(AsyncOperation { log("child \(number)") })
                })
        }
        queue.isSuspended = false
        (executor as? StepExecutor)?.runAll()
        await queue.waitUntilIdle()
        #expect(log.events == (0..<10).flatMap { ["parent \($0)", "child \($0)"] })
    }
}
