import Testing

@testable import Baton

/// Local queues as values, with the state of a queue.
@Suite struct LocalQueueTests {
    private let operations: [AnyOperation] = (0..<40).map { AsyncOperation("\($0)") {} }
    private let localQueue = LocalQueue()

    private func state(width: Int = 2, _ count: Int = 40) -> QueueCore.State {
        var state = QueueCore.State(scheduler: Scheduler(width: width, isSuspended: false))
        for operation in operations[..<count] {
            state.registry.insert(.passUnretained(operation))
            state.scheduler.append(.passUnretained(operation))
        }
        return state
    }

    /// Reports batches to the local queue, which raises its limit.
    private func learn(_ times: Int = 1) { for _ in 0..<times { localQueue.endBatch(isPlain: true, isNeeded: false) } }

    private func name(_ turn: Scheduler.WorkerAction) -> String? {
        guard case .run(let operation) = turn else { return nil }
        return operation.takeUnretainedValue().name
    }

    private func rest(_ state: inout QueueCore.State) -> [String] {
        var names: [String] = []
        while let name = name(state.nextAction { $0.nextAction() }) { names.append(name) }
        return names
    }

    private func numbers(_ range: Range<Int>) -> [String] { range.map { "\($0)" } }

    /// Returns the name of the next operation after the worker has run this one.
    private func popNext(afterRemoving number: Int) -> String? {
        localQueue.popNext(afterRemoving: .passUnretained(operations[number]))?.takeUnretainedValue().name
    }

    private func remove(_ number: Int) -> Bool { localQueue.remove(.passUnretained(operations[number])) }

    @Test func aNewWorkerTakesOne() {
        var state = state()
        #expect(name(state.nextAction(refilling: localQueue)) == "0")
        #expect(state.localQueues.isEmpty)
        #expect(popNext(afterRemoving: 0) == nil)
    }

    @Test(arguments: [(0, 1), (1, 2), (3, 8), (4, 16), (9, 16)]) func itGrows(times: Int, size: Int) {
        var state = state()
        learn(times)
        #expect(name(state.nextAction(refilling: localQueue)) == "0")
        for number in 1..<size { #expect(popNext(afterRemoving: number - 1) == "\(number)") }
        #expect(popNext(afterRemoving: size - 1) == nil, "It has not left the last one, and asks.")
    }

    @Test func itBeginsAnewWhenOthersNeedWhatIsInIt() {
        learn(4)
        localQueue.endBatch(isPlain: true, isNeeded: true)
        #expect(localQueue.batchLimit == 1)
        learn(4)
        localQueue.endBatch(isPlain: false, isNeeded: false)
        #expect(localQueue.batchLimit == 1)
    }

    @Test func itDoesNotGrowWhileBodiesAreLong() {
        localQueue.sampleClock(bodiesAreShort: false)
        learn(4)
        #expect(localQueue.batchLimit == 1)
        localQueue.sampleClock(bodiesAreShort: true)
        learn(4)
        #expect(localQueue.batchLimit == 16)
    }

    /// Two operations may take ten microseconds.
    @Test func itBeginsAnewWhenThoseInItHaveTakenLong() {
        let timed = LocalQueue(initialBatchLimit: 2, isTimed: true)
        var state = state()
        _ = state.nextAction(refilling: timed)
        #expect(timed.popNext(afterRemoving: .passUnretained(operations[0])) != nil, "It has run all of them.")
        let start = ContinuousClock.now
        while ContinuousClock.now - start < .milliseconds(1) {}
        timed.sampleClock(bodiesAreShort: true)
        state.reclaim(own: timed, isPlain: true)
        #expect(timed.batchLimit == 2)
    }

    @Test func whatWaitsInItComesBackInItsPlace() {
        var state = state()
        learn(4)
        #expect(name(state.nextAction(refilling: localQueue)) == "0")
        #expect(popNext(afterRemoving: 0) == "1")
        state.reclaimAll()
        #expect(popNext(afterRemoving: 1) == nil, "The worker has to ask.")
        #expect(state.localQueues.isEmpty)
        #expect(rest(&state) == numbers(2..<40))
    }

    @Test func whatItHasMovedOnFromHasLeft() {
        var state = state()
        learn(4)
        _ = state.nextAction(refilling: localQueue)
        #expect(state.count() == 40)
        learn(4)
        // The local queue was closed, so the worker asks for its next action, while the first operation is still to be
        // removed.
        state.registry.remove(operations[0])
        _ = state.nextAction(refilling: localQueue)
        for number in 1..<4 { _ = popNext(afterRemoving: number) }
        #expect(Set(state.members()) == Set(operations[4...]))
        #expect(state.count() == 36)
        #expect(state.registry.removedCount == 4)
    }

    @Test func anotherWorkerTakesItBackWhenThereIsNothingElse() {
        var state = state(6)
        learn(4)
        _ = state.nextAction(refilling: localQueue)
        let other = LocalQueue()
        #expect(name(state.nextAction(refilling: other)) == "1", "The first that waits.")
        #expect(popNext(afterRemoving: 0) == nil)
        state.reclaim(own: localQueue, isPlain: true)
        #expect(localQueue.batchLimit == 1)
    }

    /// The second request sees that the local queue has made no progress, and reclaims it.
    @Test func aStuckOneIsTakenBackAlthoughOthersAreReady() {
        var state = state()
        learn(4)
        _ = state.nextAction(refilling: localQueue)
        let other = LocalQueue()
        #expect(name(state.nextAction(refilling: other)) == "16")
        #expect(name(state.nextAction(refilling: other)) == "1")
    }

    @Test func oneThatMovesIsLeftAlone() {
        var state = state()
        learn(4)
        _ = state.nextAction(refilling: localQueue)
        let other = LocalQueue()
        for number in 16..<24 {
            #expect(name(state.nextAction(refilling: other)) == "\(number)")
            #expect(popNext(afterRemoving: number - 16) == "\(number - 15)")
        }
    }

    @Test func allOfThemAreOfOnePriority() {
        var state = state(3)
        learn(4)
        operations[5].priority = .low
        state.registry.insert(.passUnretained(operations[5]))
        state.scheduler.append(.passUnretained(operations[5]))
        _ = state.nextAction(refilling: localQueue)
        let other = LocalQueue()
        #expect(
            name(state.nextAction(refilling: other)) == "1", "It comes before the low one, in whose hand it may be.")
    }

    /// The operations were added in the same step in which the worker asks, so no thread has checked the local queues
    /// since.
    @Test func whatIsTakenBackKeepsItsPriority() {
        var state = state(20)
        learn(4)
        _ = state.nextAction(refilling: localQueue)
        for operation in operations[30..<33] {
            operation.priority = .high
            state.registry.insert(.passUnretained(operation))
            state.scheduler.append(.passUnretained(operation))
        }
        let other = LocalQueue(initialBatchLimit: 2)
        #expect(name(state.nextAction(refilling: other)) == "30")
        state.reclaimAll()
        #expect(rest(&state) == ["31", "32"] + numbers(1..<20))
    }

    enum Obstacle: CaseIterable { case width, suspension, noPermit, child, higher }

    @Test(arguments: Obstacle.allCases) func nothingIsDealtPast(_ obstacle: Obstacle) {
        var state = state(width: obstacle == .width ? 1 : 2, 10)
        learn(4)
        let (other, another) = (operations[20], operations[21])
        switch obstacle {
        case .width: break
        case .suspension: state.scheduler.isSuspended = true
        case .noPermit: state.scheduler.width = -1
        case .child:
            for child in [other, another] {
                child.goesFirst = true
                state.scheduler.append(.passUnretained(child))
            }
        case .higher:
            other.priority = .high
            state.scheduler.append(.passUnretained(other))
        }
        #expect(!state.scheduler.allowsLocalQueues(at: .normal))
        _ = state.nextAction(refilling: localQueue)
        #expect(state.localQueues.isEmpty)
    }

    @Test func whatWaitsInItIsToBeStarted() {
        var state = state(2)
        learn(4)
        _ = state.nextAction(refilling: localQueue)
        #expect(state.localQueues.haveMore)
        guard case .startWorker = state.scheduler.assignPermit(besides: state.localQueues.haveMore) else {
            Issue.record("No worker is started for it.")
            return
        }
        #expect(popNext(afterRemoving: 0) == "1")
        #expect(!state.localQueues.haveMore)
    }

    // MARK: Continuing with released operations

    /// Returns a state in which the worker runs the first operation, and continues with the second one.
    private func chain(width: Int = 2) -> QueueCore.State {
        var state = state(width: width, 0)
        for operation in operations { state.registry.insert(.passUnretained(operation)) }
        state.open(localQueue, continuingWith: .passUnretained(operations[1]))
        return state
    }

    @Test func sixteenLeaveWithoutTheLock() {
        var state = chain()
        for number in 0..<16 { #expect(remove(number)) }
        #expect(!remove(16), "There is no room, and the worker has to ask.")
        #expect(state.registry.count == 40)
        state.open(localQueue, continuingWith: .passUnretained(operations[17]))
        #expect(state.registry.count == 24)
        #expect(remove(16))
        #expect(Set(state.members()) == Set(operations[17...]))
        #expect(!remove(17), "Somebody has looked.")
    }

    @Test func nothingWaitsInTheHandOfAChain() {
        let state = chain()
        #expect(!state.localQueues.isEmpty && !state.localQueues.haveMore)
        #expect(state.scheduler.hint == 0)
        #expect(remove(0))
        #expect(popNext(afterRemoving: 1) == nil)
    }

    /// An operation of the local queue makes others ready, which run before the rest of it.
    @Test func whatWaitsStaysInTheHandMeanwhile() {
        var state = state(3)
        learn(2)
        #expect(name(state.nextAction(refilling: localQueue)) == "0")
        for operation in operations[3...] { state.registry.insert(.passUnretained(operation)) }
        #expect(remove(0))
        for number in 3..<18 { #expect(remove(number)) }
        #expect(!remove(18))
        state.open(localQueue, continuingWith: .passUnretained(operations[19]))
        #expect(remove(18))
        #expect(popNext(afterRemoving: 19) == "1")
        #expect(popNext(afterRemoving: 1) == "2")
        #expect(state.members() == [operations[2]] + operations[20...])
    }

    @Test func noHandOpensForAChainThatOthersComeBefore() {
        var state = chain(width: 1)
        #expect(state.localQueues.isEmpty && !remove(0))
        state = self.state(10)
        learn(4)
        _ = state.nextAction(refilling: localQueue)
        let (other, low) = (LocalQueue(), operations[30])
        low.priority = .low
        state.open(other, continuingWith: .passUnretained(low))
        #expect(!other.remove(.passUnretained(low)), "All that are out are of one priority.")
    }
}
