// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct EventGuarantees {
    // MARK: Order

    /// Another thread cancels the operation while it finishes. In every interleaving the events come in a possible
    /// order.
    @Test func G27_eventsComeInTheOrderOfTheLifeWhenACancelRacesWithTheFinish() async {
        let received = Locked<[UInt64: [OperationEvent]]>([:])
        let queue = AsyncOperationQueue()
        let observation = queue.observe { event in
            received.withLock { $0[event.operation.id, default: []].append(event) }
        }
        for round in 0..<tries(2000) {
            let operation = AsyncOperation("a") { for _ in 0..<round % 4 { await Task.yield() } }
            // In some rounds the cancellation also races with the add.
            if round % 5 > 0 { queue.add(operation) }
            async let cancelled: Void = operation.cancel()
            if round % 5 == 0 { queue.add(operation) }
            _ = try? await operation.value
            await cancelled
        }
        await queue.waitUntilIdle()
        await observation.delivered()
        let orders = [
            ["added", "ready", "started", "finished success"],
            ["added", "ready", "started", "cancel", "finished success"],
            ["added", "ready", "cancel", "finished cancelled"], ["added", "cancel", "finished cancelled"],
        ]
        let all = received.withLock { $0 }
        for events in all.values {
            let short = events.map { $0.inShort.split(separator: " ").dropFirst().joined(separator: " ") }
            #expect(orders.contains(short), "\(short)")
        }
        #expect(all.count >= tries(1600), "Those that were added before anybody cancelled them.")
    }

    /// When a task has received the outcome, the stream already contains the finish event, so that a recording never
    /// lacks the last operation.
    @Test func G27_whoHasTheOutcomeFindsTheEndToldWhateverThreadTells() async {
        let queue = AsyncOperationQueue()
        let events = queue.events
        var missing = 0
        for round in 0..<tries(5000) {
            let operation = AsyncOperation("a") { for _ in 0..<round % 3 { await Task.yield() } }
            queue.add(operation)
            async let cancelled: Void = round % 4 == 0 ? operation.cancel() : ()
            // The loop reads the outcome as soon as it is published.
            while round % 2 == 0, operation.result == nil { await Task.yield() }
            _ = try? await operation.value
            if !events.takeAll().contains(where: { $0.isFinish && $0.operation == operation.reference }) {
                missing += 1
            }
            await cancelled
        }
        #expect(missing == 0)
    }

    @Test func G27_anIdleQueueHasToldEveryEndWhateverThreadTells() async {
        let queue = AsyncOperationQueue()
        let events = queue.events
        var missing = 0
        for round in 0..<tries(5000) {
            let operation = AsyncOperation("a") { for _ in 0..<round % 3 { await Task.yield() } }
            queue.add(operation)
            async let cancelled: Void = round % 4 != 0 ? operation.cancel() : ()
            await queue.waitUntilIdle()
            if !events.takeAll().contains(where: { $0.isFinish && $0.operation == operation.reference }) {
                missing += 1
            }
            await cancelled
        }
        #expect(missing == 0)
    }

    @Test func G27_numbersRiseStrictlyWhateverThreadTells() async {
        let queues = (0..<4).map { _ in AsyncOperationQueue() }
        let received = Locked<[UInt32: [OperationEvent]]>([:])
        let observations = queues.map { queue in
            queue.observe { event in received.withLock { $0[event.queue!.number, default: []].append(event) } }
        }
        await withTaskGroup { group in
            for adder in 0..<4 {
                group.addTask {
                    for round in 0..<50 {
                        let operations = (0..<10).map { _ in AsyncOperation {} }
                        for (place, operation) in operations.enumerated() {
                            if place > 0 { operation.addDependency(operations[place - 1]) }
                            queues[(adder + round + place) % 4].add(operation)
                        }
                        operations[5].cancel()
                    }
                }
            }
        }
        for queue in queues { await queue.waitUntilIdle() }
        for observation in observations { await observation.delivered() }
        for (_, events) in received.withLock({ $0 }) {
            #expect(zip(events, events.dropFirst()).allSatisfy { $0.number < $1.number && $0.time <= $1.time })
            let finishes = events.filter(\.isFinish).map(\.operation)
            #expect(finishes.count == 500 && Set(finishes).count == 500)
        }
    }

    /// All observers of an operation see the same events.
    @Test func G27_theOperationsObserversSeeWhatThoseOfItsQueueSee() {
        let stage = TestQueue()
        let (ofQueue, ofOperation) = (EventLog<OperationEvent>(), EventLog<OperationEvent>())
        stage.queue.observe { ofQueue($0) }
        let operation = stage.noting("a", after: stage.noting("source")).observe { ofOperation($0) }
        for source in operation.dependencies { stage.run(source) }
        stage.run(operation)
        #expect(ofOperation.events.map(\.inShort) == ["a added source", "a ready", "a started", "a finished success"])
        let same = ofQueue.events.filter { $0.operation == operation.reference }
        #expect(same.map(\.number) == ofOperation.events.map(\.number))
        #expect(same.map(\.time) == ofOperation.events.map(\.time))
    }

    /// The seed also determines everything that the observers do.
    @Test func G27_underEveryScheduleWithAnObserverThatAddsAndCancels() async throws {
        try await exploring(schedules: tries(300)) { scheduler in
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2, executor: scheduler)
            let received = Locked<[UInt64: [String]]>([:])
            let observation = queue.observe { event in
                received.withLock { $0[event.operation.id, default: []].append(event.inShort) }
            }
            let victims = (0..<4).map { number in AsyncOperation("victim \(number)") { await Task.yield() } }
            let meddling = queue.observe { event in
                guard event.operation.name == "first" else { return }
                switch event.kind {
                case .started: queue.add(victims[2], victims[3])
                case .finished: for victim in victims { victim.cancel() }
                default: break
                }
            }
            let first = AsyncOperation("first") { await Task.yield() }
            for victim in victims { victim.addDependency(first) }
            queue.add(victims[0], victims[1], first)
            await queue.waitUntilIdle()
            await meddling.delivered()
            await queue.waitUntilIdle()
            await observation.delivered()
            for victim in victims {
                let events = received.withLock { $0[victim.reference.id] } ?? []
                try #require(events.first?.hasSuffix("added first") == true)
                try #require(events.last?.contains("finished") == true)
                let wasCancelled = events.contains { $0.hasSuffix(" cancel") }
                try #require(wasCancelled == victim.isCancelled)
                try #require(events.filter { $0.contains("finished") }.count == 1)
            }
        }
    }

    // MARK: Misuse

    @Test func G10_misuseOfAnOperationIsAnEvent() {
        let stage = TestQueue()
        let notes = stage.noteEvents()
        let operation = stage.noting("a")
        stage.run(operation)
        operation.name = "b"
        stage.run(operation)
        #expect(
            notes.events == [
                "a added", "a ready", "a started", "a finished success", "a misuse changedAfterAdding(\"the name\")",
                "a misuse addedTwice",
            ])
        #expect(stage.misuseKinds == [.changedAfterAdding("the name"), .addedTwice])
    }

    @Test func G10_misuseOfOneThatIsWaitingIsAnEvent() {
        let stage = TestQueue(isSuspended: true)
        let notes = stage.noteEvents()
        let operation = stage.noting("a")
        stage.run(operation)
        operation.addDependency(stage.noting("b"))
        stage.steps.runAll()
        #expect(notes.events == ["a added", "a ready", "a misuse changedAfterAdding(\"the dependency on ‘b’\")"])
        stage.queue.isSuspended = false
        stage.steps.runAll()
    }

    // MARK: Independence of observers

    @Test func G29_anObserverThatNeverReturnsHoldsUpNobody() {
        let stage = TestQueue(width: 1)
        let (gate, calls) = (Gate(), Tally())
        let operation = stage.noting("a")
        operation.observe { _ in await gate.wait() }
        stage.queue.observe { _ in
            calls.add()
            await gate.wait()
        }
        let notes = stage.noteEvents()
        stage.run(operation, stage.noting("b", after: operation))
        #expect(stage.ran == ["a", "b"])
        #expect(stage.queue.operationCount == 0)
        #expect(notes.events.last == "b finished success")
        #expect(calls.count == 1, "One at a time.")
        gate.open()
        stage.steps.runAll()
        #expect(calls.count == notes.count)
    }

    @Test func G29_anObserverThatBlocksItsThreadHoldsUpNobody() async {
        let queue = AsyncOperationQueue(executor: ThreadExecutor(threads: 2))
        let barrier = Barrier()
        let (blocked, received) = (EventLog<Void>(), EventLog<String>())
        let observation = queue.observe { _ in
            blocked(())
            barrier.block()
        }
        queue.observe { received($0.inShort) }
        queue.add(AsyncOperation("a") {})
        await blocked.waitForCount(1)
        queue.add(AsyncOperation("b") {})
        await queue.waitUntilIdle()
        await received.waitForCount(8)
        #expect(received.events.contains("b finished success"))
        #expect(blocked.count == 1)
        barrier.open()
        await observation.delivered()
        #expect(blocked.count == 8)
    }

    // MARK: Releases

    @Test func G31_observersAreReleasedWithWhatTheyObserve() {
        let tokens = Tokens()
        let stage = TestQueue()
        let operation = stage.noting("a")
        do {
            let token = tokens.make()
            operation.observe { _ in token.touch() }
        }
        stage.run(operation)
        #expect(tokens.alive == 0, "Those of an operation after its finish.")
        operation.observe { [token = tokens.make()] _ in token.touch() }
        stage.steps.runAll()
        #expect(tokens.alive == 0, "Those that come late when they have been told.")
        let observation = stage.queue.observe { [token = tokens.make()] _ in token.touch() }
        observation.cancel()
        #expect(tokens.alive == 0, "Those of a queue when they are taken away.")
        var queue: AsyncOperationQueue? = AsyncOperationQueue(executor: stage.steps)
        queue!.observe { [token = tokens.make()] _ in token.touch() }
        queue!.add(stage.noting("b"))
        stage.steps.runAll()
        #expect(tokens.alive == 1)
        queue = nil
        #expect(tokens.alive == 0, "Those of a queue that has gone.")
    }

    @Test func G31_noEventRetainsAnOperation() {
        let (tokens, stage) = (Tokens(), TestQueue())
        let events = stage.queue.events
        let kept = EventLog<OperationEvent>()
        stage.queue.observe { kept($0) }
        do {
            let token = tokens.make()
            let source = AsyncOperation { token.touch() }
            let product = AsyncOperation { token.touch() }
            let reader = source.then { token.touch() }.addCondition("good") { _ in .satisfied }
            let parent = AsyncOperation { context in
                try await context.run(reader)
                try context.produce(product)
                context.progress.report(completed: 1, of: 2)
                token.touch()
                throw Oops()
            }
            parent.cancel()
            stage.run(AsyncOperation { context in try await context.run(parent) })
            stage.run(parent)
        }
        #expect(tokens.alive == 0)
        #expect(kept.count > 0)
        withExtendedLifetime(events) {}
    }

    /// An event that was dropped or never read can contain an object of the user, whose `deinit` may call the queue.
    @Test func G31_whatIsNotReadIsReleasedWithoutALock() {
        final class QueueCallingError: Error, Sendable {
            let queue: AsyncOperationQueue
            init(_ queue: AsyncOperationQueue) { self.queue = queue }
            deinit { _ = queue.events }
        }
        let stage = TestQueue()
        do {
            let events = stage.queue.events(buffering: .newest(1))
            for _ in 0..<3 {
                let operation = AsyncOperation<Void> { [queue = stage.queue] in throw QueueCallingError(queue) }
                stage.run(operation)
            }
            withExtendedLifetime(events) {}
        }
        stage.queue.observe { _ in }.cancel()
        stage.run(stage.noting("a"))
        #expect(stage.ran == ["a"])
    }

    /// Another thread may publish events after the release of the queue. The stream ends after the last of them.
    @Test func G31_aQueuesStreamEndsAfterTheLastEvent() async {
        for _ in 0..<300 {
            let operation = AsyncOperation("a") { await Task.yield() }
            var last: OperationEvent?
            var events: OperationEvents?
            do {
                let queue = AsyncOperationQueue()
                events = queue.events
                queue.add(operation)
            }
            async let cancelled: Void = operation.cancel()
            for await event in events! { last = event }
            await cancelled
            #expect(last?.isFinish == true)
        }
    }

    /// An observer that is added while operations are added misses none that is added after the call.
    @Test func G27_anObserverMissesNothingThatIsAddedAfterIt() async {
        for _ in 0..<300 {
            let queue = AsyncOperationQueue()
            async let adding: Void = { for _ in 0..<30 { queue.add {} } }()
            let received = Locked<[String: Int]>([:])
            let observation = queue.observe { event in
                received.withLock {
                    $0[event.inShort.split(separator: " ").last.map(String.init) ?? "", default: 0] += 1
                }
            }
            for _ in 0..<10 { queue.add(AsyncOperation("mine") {}) }
            await adding
            await queue.waitUntilIdle()
            await observation.delivered()
            let counts = received.withLock { $0 }
            #expect(counts["added", default: 0] >= 10)
            #expect(counts["success", default: 0] >= counts["added", default: 0])
        }
    }
}
