// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Synchronization
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct FairnessGuarantees {
    /// Dependents that become ready at the same time start in the order in which they were added.
    @Test(arguments: [false, true]) func G23_dependentsComeInOrder(othersWait: Bool) {
        let stage = TestQueue(width: 1, isSuspended: true)
        let source = stage.noting("source")
        stage.queue.add(source)
        if othersWait { stage.queue.add(stage.noting("other")) }
        for number in 1...5 { stage.queue.add(stage.noting("\(number)", after: source)) }
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["source"] + (1...5).map { "\($0)" } + (othersWait ? ["other"] : []))
    }

    @Test func G23_dependentsInAnotherQueueComeInOrder() {
        let stage = TestQueue(width: 1, isSuspended: true)
        let other = TestQueue(width: 1, isSuspended: true, on: stage.steps)
        let source = stage.noting("source")
        stage.queue.add(source)
        other.queue.add(other.noting("ready"))
        for number in 1...20 { other.queue.add(other.noting("\(number)", after: source)) }
        stage.queue.isSuspended = false
        stage.steps.runAll()
        other.queue.isSuspended = false
        stage.steps.runAll()
        #expect(other.ran == (1...16).map { "\($0)" } + ["ready"] + (17...20).map { "\($0)" })
    }

    /// The limit of 16 also counts the dependents that a worker continues with inline.
    @Test func G23_shortChainsPassForSixteen() {
        let stage = TestQueue(width: 1, isSuspended: true)
        let root = stage.noting("root")
        stage.queue.add(root)
        stage.queue.add(stage.noting("waits"))
        for chain in 1...5 {
            var last = root
            for number in 1...10 {
                last = stage.noting("\(chain).\(number)", after: last)
                stage.queue.add(last)
            }
        }
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran.firstIndex(of: "waits") == 17)
        #expect(stage.ran.count == 52)
    }

    /// On this executor a time slice is 64 operations. Those that start after its end count, too.
    @Test("At most sixteen followers in a row pass others, also when a time slice ends in between")
    func G23_sixteenInARow() {
        let stage = TestQueue(width: 1, isSuspended: true)
        var last = stage.noting("first")
        stage.queue.add(last)
        for _ in 0..<600 {
            last = stage.noting("follower", after: last)
            stage.queue.add(last)
        }
        stage.queue.add((0..<30).map { _ in stage.noting("waits") })
        stage.queue.isSuspended = false
        stage.steps.runAll()
        let inARow = stage.ran.dropFirst().split(separator: "waits").map(\.count).dropLast()
        #expect(inARow.count == 30)
        #expect(inARow.allSatisfy { $0 == 16 }, "\(inARow)")
    }

    /// On this executor a time slice is 64 operations. When it is over, the next job after the worker's runs.
    @Test func G34_aTaskBesideABusyQueueWaitsForOneSlice() {
        let stage = TestQueue(width: 1)
        var chain = [stage.noting("0")]
        for number in 1..<1_000 { chain.append(stage.noting("\(number)", after: chain.last!)) }
        stage.queue.add(chain)
        let position = EventLog<Int>()
        stage.steps.task { [log = stage.log] in position(log.count) }
        stage.steps.runAll()
        #expect(position.events == [64])
        #expect(stage.ran == (0..<1_000).map { "\($0)" })
    }

    @Test func G34_aWorkerYieldsAfterEverySlice() {
        let stage = TestQueue(width: 1)
        stage.queue.add((0..<640).map { stage.noting("\($0)") })
        let jobs = stage.steps.runAll()
        #expect(jobs >= 10)
        #expect(stage.ran == (0..<640).map { "\($0)" })
    }

    /// The worker runs none of the operations, because each requests a name and waits for it.
    @Test func G34_aWorkerYieldsAmongOperationsThatWaitForNames() {
        let name = Names()
        let stage = TestQueue(width: 1)
        let elsewhere = TestQueue(on: stage.steps)
        let gate = Gate()
        elsewhere.run(elsewhere.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name("x"))))
        stage.queue.add((0..<640).map { stage.noting("\($0)").addCondition(.mutuallyExclusive(name("x"))) })
        #expect(stage.steps.runAll() >= 10)
        #expect(stage.ran.isEmpty)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == (0..<640).map { "\($0)" })
    }

    /// There are more queues whose bodies never suspend than most machines have threads, and a task that stops them.
    /// Without time slices the task would run after the last of them. The queues end by themselves, so that the test
    /// cannot hang. Each queue has a lock of its own, because a thread that waits for a shared lock would make Dispatch
    /// start another thread.
    @Test func G34_underThreads() async {
        let relays = (0..<16).map { _ in Relay(length: 60_000) }
        for relay in relays { relay.start() }
        await Task { Relay.stop.store(true, ordering: .relaxed) }.value
        for relay in relays { await relay.queue.waitUntilIdle() }
        let runs = relays.map { $0.runs.load(ordering: .relaxed) }
        #expect(runs.reduce(0, +) < 16 * 60_000 / 2, "\(runs)")
    }
}

/// A sequence of operations, each of which adds the next one until the sequence is stopped.
private final class Relay: Sendable {
    static let stop = Atomic<Bool>(false)

    let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
    let runs = Atomic<Int>(0)
    private let length: Int

    init(length: Int) { self.length = length }

    func start() {
        queue.add {
            let count = self.runs.wrappingAdd(1, ordering: .relaxed).newValue
            if count < self.length, !Relay.stop.load(ordering: .relaxed) { self.start() }
        }
    }
}
