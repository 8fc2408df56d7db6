// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct WidthGuarantees {
    @Test(arguments: [1, 2, 5]) func G22_neverMoreThanTheWidthRun(width: Int) {
        let stage = TestQueue(width: width)
        let gate = Gate()
        stage.queue.add((0..<10).map { stage.waiting("\($0)", at: gate) })
        stage.steps.runAll()
        #expect(stage.ran.count == width)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == (0..<10).map { "\($0)" })
    }

    @Test(arguments: [1, 3, 64]) func G22_underThreads(width: Int) async {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
        let meter = Meter()
        queue.add(
            (0..<500).map { _ in
                AsyncOperation {
                    meter.enter()
                    await Task.yield()
                    meter.leave()
                }
            })
        await queue.waitUntilIdle()
        #expect(meter.most <= width)
        #expect(meter.most >= 1)
        #expect(meter.now == 0)
    }

    /// A body holds no permit while it waits, and holds one while it executes between two waits.
    @Test func G22_withChildrenUnderSeeds() async throws {
        try await exploring(schedules: tries(200)) { scheduler in
            let width = scheduler.random(in: 1...3)
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width, executor: scheduler)
            let meter = Meter()
            for _ in 0..<6 {
                queue.add(
                    AsyncOperation { context in
                        for _ in 0..<2 {
                            await meter.pass()
                            try await context.run(AsyncOperation { await meter.pass() })
                        }
                        await meter.pass()
                    })
            }
            await queue.waitUntilIdle()
            try #require(meter.most <= width)
            try #require(meter.passes == 6 * 5)
        }
    }

    @Test func G22_aBodyThatHasWaitedGoesOnOnlyWithAPermit() {
        let stage = TestQueue(width: 1)
        let elsewhere = TestQueue(on: stage.steps)
        let gate = Gate()
        let source = stage.noting("source")
        let parent = AsyncOperation("parent") { [log = stage.log] in
            try await source.value
            log("parent goes on")
        }
        stage.run(parent)
        stage.run(stage.waiting("busy", at: gate), stage.noting("next"))
        elsewhere.run(source)
        #expect(stage.ran == ["busy", "source"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["busy", "source", "parent goes on", "next"], "Ahead of what has not started.")
        #expect(parent.ending == "success")
    }

    /// While one branch waits, the body holds no permit, although its other branch still executes.
    @Test func G22_oneWaitOfTwoBranchesIsEnough() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let childGate = Gate()
        let child = stage.waiting("child", at: childGate)
        let parent = AsyncOperation("parent") { context in
            async let first: Void = context.run(child)
            await gate.wait()
            try await first
        }
        stage.run(parent, stage.noting("next"))
        #expect(stage.ran == ["child"])
        childGate.open()
        stage.steps.runAll()
        #expect(parent.ending == "executing")
        gate.open()
        stage.steps.runAll()
        #expect(parent.ending == "success")
        #expect(stage.ran == ["child", "next"])
    }

    @Test func G22_twoWaitsOfABodyGiveBackOnePermit() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let children = [stage.waiting("one", at: gate), stage.waiting("other", at: gate)]
        let parent = AsyncOperation("parent") { context in
            async let one: Void = context.run(children[0])
            async let other: Void = context.run(children[1])
            _ = try await (one, other)
        }
        stage.run(parent)
        #expect(stage.ran.count == 1)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.count == 2)
        #expect(parent.ending == "success")
    }

    @Test func G23_aHigherPriorityStartsFirst() {
        let stage = TestQueue(width: 1, isSuspended: true)
        for priority in [OperationPriority.low, .veryHigh, .normal, .veryLow, .high] {
            for number in 1...2 {
                let operation = stage.noting("\(priority) \(number)")
                operation.priority = priority
                stage.queue.add(operation)
            }
        }
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(
            stage.ran
                == ["veryHigh", "high", "normal", "low", "veryLow"].flatMap { ["\($0) 1", "\($0) 2"] })
    }

    @Test(arguments: SchedulingOrder.allCases) func G23_aFollowerComesByTheOrderOfItsQueue(order: SchedulingOrder) {
        let stage = TestQueue(width: 1, isSuspended: true)
        stage.queue.schedulingOrder = order
        #expect(stage.queue.schedulingOrder == order)
        let first = stage.noting("first")
        stage.queue.add(first, stage.noting("follower", after: first), stage.noting("second"), stage.noting("third"))
        stage.queue.isSuspended = false
        stage.steps.runAll()
        switch order {
        case .depthFirst: #expect(stage.ran == ["first", "follower", "second", "third"])
        case .firstInFirstOut: #expect(stage.ran == ["first", "second", "third", "follower"])
        case .lastInFirstOut: #expect(stage.ran == ["third", "second", "first", "follower"])
        }
    }

    /// A worker continues inline with a chain for at most 16 operations while another operation of the same priority
    /// waits.
    @Test func G23_aChainGoesOnInlineForSixteen() {
        let stage = TestQueue(width: 2, isSuspended: true)
        let gate = Gate()
        // The blocker takes the second permit, so that only the worker of the chain can run the operation that waits.
        stage.queue.add(stage.waiting("blocker", at: gate))
        var chain = [stage.noting("0")]
        for number in 1..<40 { chain.append(stage.noting("\(number)", after: chain.last!)) }
        stage.queue.add(chain)
        stage.queue.add(stage.noting("waits"))
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["blocker"] + (0...16).map { "\($0)" } + ["waits"] + (17..<40).map { "\($0)" })
        gate.open()
        stage.steps.runAll()
    }

    @Test func G23_aHigherPriorityStopsAChainAtOnce() {
        let stage = TestQueue(width: 2, isSuspended: true)
        let gate = Gate()
        stage.queue.add(stage.waiting("blocker", at: gate))
        let urgent = stage.noting("urgent")
        urgent.priority = .high
        let first = AsyncOperation("first") { [queue = stage.queue, log = stage.log] in
            log("first")
            queue.add(urgent)
        }
        let second = stage.noting("second", after: first)
        stage.queue.add(first, second)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["blocker", "first", "urgent", "second"])
        gate.open()
        stage.steps.runAll()
    }
}

/// Counts how many operations are inside, and the maximum of that number.
final class Meter: Sendable {
    private let state = Locked((now: 0, most: 0, passes: 0))

    var now: Int { state.withLock { $0.now } }
    var most: Int { state.withLock { $0.most } }
    var passes: Int { state.withLock { $0.passes } }

    func enter() {
        state.withLock { state in
            state.now += 1
            state.passes += 1
            state.most = max(state.most, state.now)
        }
    }

    func leave() { state.withLock { $0.now -= 1 } }

    nonisolated(nonsending) func pass() async {
        enter()
        await Task.yield()
        leave()
    }
}
