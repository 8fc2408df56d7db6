// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Baton
import BatonTesting
import Synchronization
import Testing

/// The place at which an operation waits when it is ended before it runs.
enum WaitingPlace: CaseIterable {
    case behindASource
    case behindTwoSources
    case behindTheSameSourceTwice
    case behindASourceOfAnotherQueue
    case behindASourceThatNobodyAdds
    case readyInABusyQueue
    case readyInASuspendedQueue
    case readyWithAnotherPriority
    case inADelay
    case betweenTwoAttempts
    case inLineForAName
    case behindABarrier
    case withEverything
}

/// Queues that stay alive, and obstacles that keep their operations from starting.
private final class Scene: Sendable {
    let place: WaitingPlace
    let queue: AsyncOperationQueue
    let other = AsyncOperationQueue()
    let gate = Gate()
    let tokens = Tokens()
    let signal: AsyncOperation<Void>
    let second: AsyncOperation<Void>
    private let started = Atomic<Int>(0)

    init(_ place: WaitingPlace) {
        self.place = place
        let isNarrow = place == .readyInABusyQueue || place == .readyWithAnotherPriority
        queue = AsyncOperationQueue(
            maxConcurrentOperationCount: isNarrow ? 1 : 4, isSuspended: place == .readyInASuspendedQueue)
        signal = AsyncOperation("signal") { [gate] in await gate.wait() }
        second = AsyncOperation("second") { [gate] in await gate.wait() }
        switch place {
        case .behindASourceOfAnotherQueue: signal.add(to: other)
        case .behindASourceThatNobodyAdds, .readyInASuspendedQueue: break
        case .inLineForAName:
            signal.addCondition(.mutuallyExclusive("lifetime"))
            signal.add(to: queue)
        default: signal.add(to: queue)
        }
        if place == .behindTwoSources { second.add(to: other) }
        if place == .behindABarrier { queue.addBarrier(second) }
    }

    /// Starts the sources, so that operations that are added afterwards wait.
    func begin() async {
        switch place {
        case .behindASourceThatNobodyAdds, .readyInASuspendedQueue: break
        default: await eventually { signal.state == .executing }
        }
    }

    func make() -> AnyOperation {
        let operation: AsyncOperation<Void>
        let token = tokens.make()
        switch place {
        case .betweenTwoAttempts:
            operation = AsyncOperation { [self] in
                token.touch()
                started.wrappingAdd(1, ordering: .relaxed)
                throw CancellationError()
            }
            operation.retry(.constant(.seconds(100_000)), attempts: 2)
        case .inADelay:
            let delay = AsyncOperation<Void>.delay(.seconds(100_000))
            delay.didFinish { _ in token.touch() }
            return delay
        default: operation = AsyncOperation { token.touch() }
        }
        switch place {
        case .behindASource, .behindASourceOfAnotherQueue, .behindASourceThatNobodyAdds:
            operation.addDependency(signal)
        case .behindTwoSources: operation.addDependency(signal).addDependency(second)
        case .behindTheSameSourceTwice: operation.addDependency(signal).addDependency(signal)
        case .readyWithAnotherPriority: operation.priority = .low
        case .inLineForAName: operation.addCondition(.mutuallyExclusive("lifetime"))
        case .withEverything:
            operation.addDependency(signal).name("everything").timeout(waiting: .seconds(100_000))
                .retry(.immediately, attempts: 3)
            operation.addCondition("a condition") { _ in .satisfied }
            operation.didFinish { _ in token.touch() }
            operation.didStart { token.touch() }
        default: break
        }
        return operation
    }

    /// Returns when all operations wait at the place under test.
    func settle(_ operations: [AnyOperation]) async {
        switch place {
        case .betweenTwoAttempts, .inADelay:
            for operation in operations { await eventually { operation.state == .waiting } }
            if place == .betweenTwoAttempts {
                await eventually { started.load(ordering: .relaxed) == operations.count }
            }
        default: break
        }
    }

    func end() async {
        gate.open()
        if place == .behindASourceThatNobodyAdds { signal.add(to: other) }
        queue.isSuspended = false
        await queue.waitUntilIdle()
        await other.waitUntilIdle()
    }
}

@Suite("Lifetimes of operations, queues and outputs", .timeLimit(.minutes(10)))
struct LifetimeTests {
    private static let count = 200

    @Test("A cancelled operation is released at once, wherever it waited", arguments: WaitingPlace.allCases)
    func G31_aCancelledOperationIsGoneWhereverItWaited(place: WaitingPlace) async throws {
        try await ends(place) { operations in
            for operation in operations { operation.cancel() }
        }
    }

    @Test("A cancelled operation is released while its neighbours still wait", arguments: WaitingPlace.allCases)
    func G31_aCancelledOperationIsGoneAmongNeighbours(place: WaitingPlace) async throws {
        try await within {
            let scene = Scene(place)
            await scene.begin()
            var cancelled = Unkept()
            var kept: [AnyOperation] = []
            do {
                let operations = (0..<Self.count).map { _ in scene.make() }
                scene.queue.add(operations)
                await scene.settle(operations)
                for (number, operation) in operations.enumerated() {
                    if number % 3 == 1 {
                        kept.append(operation)
                    } else {
                        cancelled.append(operation)
                        operation.cancel()
                    }
                }
            }
            let gone = cancelled
            await eventually { gone.alive == 0 }
            for operation in kept where place == .betweenTwoAttempts || place == .inADelay { operation.cancel() }
            await scene.end()
            #expect(kept.allSatisfy { $0.state == .finished })
            switch place {
            case .betweenTwoAttempts, .inADelay: break
            default: #expect(kept.allSatisfy { $0.error == nil })
            }
        }
    }

    @Test("Operations that cancelAll ends are released at once", arguments: WaitingPlace.allCases)
    func G31_whatCancelAllEndsIsGone(place: WaitingPlace) async throws {
        try await within {
            let scene = Scene(place)
            await scene.begin()
            var unkept = Unkept()
            do {
                let operations = (0..<Self.count).map { _ in scene.make() }
                for operation in operations { unkept.append(operation) }
                scene.queue.add(operations)
                await scene.settle(operations)
            }
            scene.queue.cancelAll()
            let gone = unkept
            await eventually { gone.alive == 0 && scene.tokens.alive == 0 }
            await scene.end()
        }
    }

    @Test("Operations that have waited too long are released at once", arguments: WaitingPlace.allCases)
    func G31_whatHasWaitedTooLongIsGone(place: WaitingPlace) async throws {
        switch place {
        // The limit for waiting no longer applies after the first start.
        case .betweenTwoAttempts, .inADelay: return
        default: break
        }
        try await within {
            let scene = Scene(place)
            await scene.begin()
            var unkept = Unkept()
            for _ in 0..<Self.count {
                let operation = scene.make()
                operation.timeout(waiting: .milliseconds(1))
                unkept.append(operation)
                scene.queue.add(operation)
            }
            let gone = unkept
            await eventually { gone.alive == 0 && scene.tokens.alive == 0 }
            await scene.end()
        }
    }

    private func ends(
        _ place: WaitingPlace, by end: @escaping @Sendable ([AnyOperation]) -> Void
    ) async throws {
        try await within {
            let scene = Scene(place)
            await scene.begin()
            var unkept = Unkept()
            do {
                let operations = (0..<Self.count).map { _ in scene.make() }
                for operation in operations { unkept.append(operation) }
                scene.queue.add(operations)
                await scene.settle(operations)
                end(operations)
            }
            let gone = unkept
            await eventually { gone.alive == 0 && scene.tokens.alive == 0 }
            await scene.end()
        }
    }

    // MARK: Joining and replacing

    @Test("A replaced operation is released although the queue is suspended")
    func G31_aReplacedOperationIsGone() async throws {
        try await within {
            let tokens = Tokens()
            let queue = AsyncOperationQueue(isSuspended: true)
            for _ in 0..<1_000 {
                let token = tokens.make()
                let search = AsyncOperation { token.touch() }.unique(by: "replaced while suspended", policy: .replace)
                queue.add(search)
            }
            await eventually { tokens.alive == 1 }
            queue.isSuspended = false
            await queue.waitUntilIdle()
            await eventually { tokens.alive == 0 }
        }
    }

    @Test("A cancelled joiner is released before its original has finished")
    func G31_aCancelledJoinerIsGone() async throws {
        try await within {
            let gate = Gate()
            let queue = AsyncOperationQueue()
            let original = AsyncOperation { await gate.wait() }.unique(by: "joined and cancelled", policy: .join)
            queue.add(original)
            var unkept = Unkept()
            for _ in 0..<1_000 {
                let joiner = AsyncOperation {}.unique(by: "joined and cancelled", policy: .join)
                queue.add(joiner)
                unkept.append(joiner)
                joiner.cancel()
            }
            let gone = unkept
            await eventually { gone.alive == 0 }
            gate.open()
            await queue.waitUntilIdle()
            #expect(original.error == nil)
        }
    }

    @Test("A cancelled barrier is released, and the operations after it start")
    func G31_aCancelledBarrierIsGone() async throws {
        try await within {
            let gate = Gate()
            let queue = AsyncOperationQueue()
            queue.add { await gate.wait() }
            var unkept = Unkept()
            for _ in 0..<100 {
                let barrier = AsyncOperation {}
                queue.addBarrier(barrier)
                unkept.append(barrier)
                barrier.cancel()
            }
            let gone = unkept
            await eventually { gone.alive == 0 }
            try await queue.add {}.value
            gate.open()
            await queue.waitUntilIdle()
        }
    }

    // MARK: Idle queues

    /// How an operation ends while others of its queue end on other threads.
    enum LastRelease: CaseIterable {
        case aWorker
        case aCancelInTheRun
        case aFailedDependency
        case aTimeLimitOfTheWait
        case aTimeLimitOfTheRun
        case aCancelAtTheEndOfAPause
        case aShutdown
    }

    @Test("When a queue has become idle, none of its operations is alive", arguments: LastRelease.allCases)
    func G31_anIdleQueueHasReleasedEverything(by last: LastRelease) async throws {
        try await within(.seconds(300)) {
            var left = 0
            for round in 0..<reduced(4_000) {
                let tokens = Tokens()
                let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1 + round % 3)
                let unkept = self.start(last, in: queue, tokens)
                if last == .aShutdown {
                    await queue.shutdown(within: .microseconds(50))
                } else {
                    await queue.waitUntilIdle()
                }
                if unkept.alive + tokens.alive > 0 { left += 1 }
            }
            #expect(left == 0)
        }
    }

    private func start(_ last: LastRelease, in queue: AsyncOperationQueue, _ tokens: Tokens) -> Unkept {
        let operations = (0..<3).map { _ in
            AsyncOperation {
                await Task.yield()
                return tokens.make()
            }
        }
        switch last {
        case .aFailedDependency:
            operations[1].addDependency(AsyncOperation { throw CancellationError() }.add(to: queue))
        case .aTimeLimitOfTheWait: operations[1].timeout(waiting: .microseconds(1))
        case .aTimeLimitOfTheRun: operations[1].timeout(.microseconds(1))
        case .aCancelAtTheEndOfAPause: operations[1].delay(.microseconds(200))
        case .aShutdown: queue.isSuspended = true
        default: break
        }
        var unkept = Unkept()
        for operation in operations { unkept.append(operation) }
        queue.add(operations)
        switch last {
        case .aCancelInTheRun: operations[1].cancel()
        case .aCancelAtTheEndOfAPause:
            let end = ContinuousClock.now + .microseconds(190 + Int.random(in: 0..<40))
            while ContinuousClock.now < end {}
            operations[1].cancel()
        default: break
        }
        return unkept
    }

    // MARK: Ends during a run

    @Test("Operations that are ended while workers run others finish once, and are released")
    func endedWhileOthersRun() async throws {
        try await within {
            let tokens = Tokens()
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
            for round in 0..<20 {
                let operations = (0..<2_000).map { _ in
                    let token = tokens.make()
                    return AsyncOperation { token.touch() }
                }
                queue.add(operations)
                for (number, operation) in operations.enumerated() where (number + round) % 2 == 0 {
                    operation.cancel()
                }
                await queue.waitUntilIdle()
                #expect(operations.allSatisfy { $0.state == .finished })
            }
            await eventually { tokens.alive == 0 }
        }
    }

    @Test("Sources that finish while their dependents end decrement each counter once")
    func endsThatRaceWithSources() async throws {
        try await within {
            let tokens = Tokens()
            let queues = (0..<2).map { AsyncOperationQueue(maxConcurrentOperationCount: $0 + 1) }
            for round in 0..<200 {
                let gate = Gate()
                let sources = (0..<3).map { _ in AsyncOperation { await gate.wait() } }
                queues[0].add(sources)
                let dependents = (0..<60).map { number in
                    let token = tokens.make()
                    let dependent = AsyncOperation { token.touch() }
                    for source in sources.prefix(1 + number % 3) { dependent.addDependency(source) }
                    return dependent
                }
                for (number, dependent) in dependents.enumerated() { queues[number % 2].add(dependent) }
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { gate.open() }
                    group.addTask {
                        for (number, dependent) in dependents.enumerated() where (number + round) % 4 != 0 {
                            dependent.cancel()
                        }
                    }
                }
                for queue in queues { await queue.waitUntilIdle() }
                #expect(dependents.allSatisfy { $0.state == .finished })
            }
            await eventually { tokens.alive == 0 }
        }
    }

    @Test("Ending many operations takes time in proportion to their number")
    func endingIsLinear() async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(4_000) { size in
                let gate = Gate()
                let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
                let signal = AsyncOperation { await gate.wait() }
                let other = AsyncOperation { await gate.wait() }
                queue.add(signal)
                let operations = (0..<size).map { number in
                    let operation = AsyncOperation {}
                    if number % 3 > 0 { operation.addDependency(signal) }
                    if number % 3 > 1 { operation.addDependency(other) }
                    return operation
                }
                queue.add(operations)
                for operation in operations.reversed() { operation.cancel() }
                gate.open()
                await queue.waitUntilIdle()
            }
        }
    }

    // MARK: Outputs

    /// Returns the last operation of a chain. Its body ends when at most two outputs of the others are alive.
    ///
    /// The body has to wait for that, because the add of a chain retains its operations until it returns, and another
    /// thread may run all of them before.
    private static func chain(_ tokens: Tokens) -> AsyncOperation<Void> {
        var last = AsyncOperation { tokens.make() }
        for _ in 1..<300 { last = last.then { _ in tokens.make() } }
        return last.then { _ in await eventually { tokens.alive <= 2 } }
    }

    @Test("The outputs of a chain that `run` runs live as long as they are needed")
    func G31_outputsOfRun() async throws {
        try await within {
            let queue = AsyncOperationQueue()
            try await queue.run(Self.chain(Tokens()))
        }
    }

    @Test("The outputs of a chain that a body runs live as long as they are needed")
    func G31_outputsOfContextRun() async throws {
        try await within {
            let queue = AsyncOperationQueue()
            let last = Self.chain(Tokens())
            try await queue.run(AsyncOperation { try await $0.run(last) })
        }
    }

    @Test("The outputs of a chain that is added live as long as they are needed")
    func outputsOfAdd() async throws {
        try await within {
            let queue = AsyncOperationQueue()
            try await Self.chain(Tokens()).add(to: queue).value
        }
    }

    @Test("The outputs of a group's children are released while another child runs")
    func G31_outputsOfChildren() async throws {
        try await within {
            let tokens = Tokens()
            let gate = Gate()
            let queue = AsyncOperationQueue()
            let group = GroupOperation(
                (0..<100).map { _ in AsyncOperation { tokens.make() } as AnyOperation }
                    + [AsyncOperation { await gate.wait() }])
            queue.add(group)
            await gate.waitForWaiters(count: 1)
            await eventually { tokens.alive == 0 }
            gate.open()
            try await group.value
        }
    }

    @Test("The outputs of an ordered group's children are released while the last child runs")
    func outputsOfOrderedChildren() async throws {
        try await within {
            let tokens = Tokens()
            let gate = Gate()
            let queue = AsyncOperationQueue()
            let group = GroupOperation(
                .ordered,
                (0..<100).map { _ in AsyncOperation { tokens.make() } as AnyOperation } + [AsyncOperation {}]
                    + [AsyncOperation { await gate.wait() }])
            queue.add(group)
            await gate.waitForWaiters(count: 1)
            await eventually { tokens.alive == 0 }
            gate.open()
            try await group.value
        }
    }

    @Test("A finished barrier is released while its queue continues")
    func G31_outputOfABarrier() async throws {
        try await within {
            let tokens = Tokens()
            let gate = Gate()
            let queue = AsyncOperationQueue()
            let first = Gate()
            queue.addBarrier { tokens.make() }
            queue.add { await first.wait() }
            await first.waitForWaiters(count: 1)
            queue.add { await gate.wait() }
            await gate.waitForWaiters(count: 1)
            first.open()
            await eventually { tokens.alive == 0 }
            gate.open()
            await queue.waitUntilIdle()
        }
    }

    private struct Brings: OperationCondition {
        let tokens: Tokens

        func dependency(for operation: AnyOperation) -> AnyOperation? {
            AsyncOperation { [tokens] in tokens.make() }
        }

        func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
    }

    @Test("Operations that a condition brings along are released when the body runs")
    func outputOfACondition() async throws {
        try await within {
            let tokens = Tokens()
            let gate = Gate()
            let queue = AsyncOperationQueue()
            let operation = AsyncOperation { await gate.wait() }.addCondition(Brings(tokens: tokens))
                .addCondition(Brings(tokens: tokens))
            queue.add(operation)
            await gate.waitForWaiters(count: 1)
            await eventually { tokens.alive == 0 }
            gate.open()
            try await operation.value
        }
    }

    @Test("The children that a body has run are released while it continues")
    func outputsOfChildrenOfABody() async throws {
        try await within {
            let tokens = Tokens()
            let gate = Gate()
            let queue = AsyncOperationQueue()
            let operation = AsyncOperation<Void> { context in
                for _ in 0..<10 { _ = try await context.run(AsyncOperation { tokens.make() }) }
                _ = try await queue.run(AsyncOperation { tokens.make() })
                _ = try await queue.add { tokens.make() }.value
                await gate.wait()
            }
            queue.add(operation)
            await gate.waitForWaiters(count: 1)
            await eventually { tokens.alive == 0 }
            gate.open()
            try await operation.value
        }
    }

    // MARK: Cancelled runs

    @Test("A cancelled run cancels only the unfinished operations that it has added")
    func cancelledRunTakesBack() async throws {
        try await within {
            let queue = AsyncOperationQueue()
            for _ in 0..<100 {
                let gate = Gate()
                let finished = AsyncOperation {}
                let waiting = AsyncOperation { try await gate.waitUnlessCancelled() }.addDependency(finished)
                let foreign = AsyncOperation {}.addDependency(waiting)
                let last = AsyncOperation {}.addDependency(waiting).addDependency(foreign)
                let task = Task { try await queue.run(last) }
                await eventually { waiting.state == .executing }
                // The new operations may reuse the places of finished ones in the registry.
                let strangers = (0..<4).map { _ in queue.add { await gate.wait() } }
                task.cancel()
                _ = await task.result
                #expect(last.isCancelled && waiting.isCancelled && foreign.isCancelled)
                #expect(!finished.isCancelled && strangers.allSatisfy { !$0.isCancelled })
                gate.open()
            }
            await queue.waitUntilIdle()
        }
    }
}
