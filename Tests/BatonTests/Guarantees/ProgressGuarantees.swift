// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ProgressGuarantees {
    @Test func G24_suspendedNothingNewStarts() {
        let stage = TestQueue(width: 2)
        let gate = Gate()
        let running = stage.waiting("running", at: gate)
        let follower = stage.noting("follower", after: running)
        stage.run(running, follower)
        stage.queue.isSuspended = true
        stage.run(stage.noting("new"))
        gate.open()
        stage.steps.runAll()
        #expect(running.ending == "success", "What runs goes on.")
        #expect(stage.ran == ["running"])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(Set(stage.ran) == ["running", "follower", "new"])
    }

    @Test func G24_whatRunsGoesOnWithItsChildren() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let root = stage.noting("root")
        let child = stage.noting("child", after: root)
        let parent = AsyncOperation("parent") { [log = stage.log] context in
            await gate.wait()
            try await context.run(child)
            log("parent")
        }
        stage.run(parent)
        stage.queue.isSuspended = true
        stage.run(stage.noting("new"))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["root", "child", "parent"])
        #expect(parent.ending == "success")
    }

    @Test func G24_whatIsCancelledFinishes() async {
        let stage = TestQueue(isSuspended: true)
        let first = stage.noting("first")
        let second = stage.noting("second", after: first)
        stage.queue.add(first, second)
        second.cancel()
        #expect(second.ending == "cancelled on request")
        stage.queue.cancelAll()
        #expect(first.ending == "cancelled with everything in its queue")
        await stage.queue.waitUntilIdle()
    }

    @Test func G24_aQueueSuspendedByABodyStopsAfterIt() {
        let stage = TestQueue(width: 1)
        let first = AsyncOperation("first") { [queue = stage.queue] in queue.isSuspended = true }
        stage.run(first, stage.noting("second"), stage.noting("follower", after: first))
        #expect(first.ending == "success")
        #expect(stage.ran == [])
    }

    @Test func G25_whatCannotFinishSaysWhatItWaitsFor() {
        let stage = TestQueue()
        let missing = stage.noting("missing")
        let waiting = stage.noting("waiting", after: missing)
        stage.run(waiting)
        #expect(waiting.ending == "waiting")
        #expect(waiting.explain().roots.map(\.operation) == [missing.reference])
        #expect(waiting.explain().roots.map(\.cause) == [.notAdded])
        stage.run(missing)
        #expect(waiting.ending == "success")
    }

    /// Each operation waits for its children, at any depth, while only `width` bodies may run.
    @Test(arguments: [1, 2, 7]) func G25_nestedToAnyDepth(width: Int) {
        let stage = TestQueue(width: width)
        let top = nested(depth: 200, breadth: 1)
        let wide = nested(depth: 6, breadth: 3)
        stage.run(top, wide)
        #expect(try! top.result?.get() == 201)
        #expect(try! wide.result?.get() == (0...6).reduce(0) { sum, level in sum + power(3, level) })
    }

    @Test func G25_everyOperationWaitsForAnother() {
        let stage = TestQueue(width: 1)
        let last = AsyncOperation("last") { 1 }
        var operations = [last]
        for _ in 0..<100 {
            let previous = operations.last!
            operations.append(AsyncOperation { try await previous.value + 1 })
        }
        stage.queue.add(operations.reversed())
        stage.steps.runAll()
        #expect(try! operations.last!.result?.get() == 101)
    }

    /// A child task of a body waits as part of the body, because it uses the context of the body. This also holds for
    /// operations that were added before.
    @Test func G25_aBodyThatAwaitsAnotherInAChildTask() {
        let stage = TestQueue(width: 1)
        let other = AsyncOperation("other") { 1 }
        let body = AsyncOperation("body") { context in
            async let one = context.run(other)
            return try await one + 1
        }
        stage.run(body, other)
        #expect([body, other].map(\.ending) == ["success", "success"])
    }

    @Test func G25_underSeedsEveryAddedOperationFinishes() async throws {
        try await exploring(schedules: 100) { scheduler in
            let width = scheduler.random(in: 1...3)
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width, executor: scheduler)
            let tops = (0..<4).map { _ in nested(depth: scheduler.random(in: 1...5), breadth: 2) }
            queue.add(tops)
            let victim = tops[scheduler.random(in: 0..<4)]
            await Task.yield()
            victim.cancel()
            await queue.waitUntilIdle()
            try #require(tops.allSatisfy { $0.state == .finished })
            try #require(queue.operationCount == 0)
        }
    }

    /// All jobs run on one thread, so a job that blocked it would stop all others.
    @Test func G26_nothingBlocksAThread() {
        let stage = TestQueue(width: 1)
        let awaited = EventLog<String>()
        let gate = Gate()
        let gated = stage.waiting("gated", at: gate)
        let parent = AsyncOperation("parent") { [queue = stage.queue] context in
            try await context.run(stage.noting("child"))
            try await queue.run(stage.noting("other"))
            try await gated.value
            awaited("parent")
        }
        stage.queue.add(gated, parent)
        stage.steps.task { [queue = stage.queue] in
            await queue.waitUntilIdle()
            awaited("idle")
        }
        stage.steps.task {
            try? await parent.value
            awaited("value")
        }
        stage.steps.runAll()
        #expect(awaited.events == [])
        gate.open()
        stage.steps.runAll()
        #expect(Set(awaited.events) == ["parent", "value", "idle"])
    }
}

private func power(_ base: Int, _ exponent: Int) -> Int { (0..<exponent).reduce(1) { product, _ in product * base } }

/// Makes an operation that counts the operations of a tree, in which each operation waits for all of its children at
/// the same time.
func nested(depth: Int, breadth: Int) -> AsyncOperation<Int> {
    AsyncOperation { context in
        if depth == 0 { return 1 }
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<breadth {
                group.addTask { try await context.run(nested(depth: depth - 1, breadth: breadth)) }
            }
            return try await group.reduce(1, +)
        }
    }
}
