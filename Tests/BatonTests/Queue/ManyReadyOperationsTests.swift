// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Synchronization
import Testing

@testable import Baton

/// Queues in which many short operations are ready while one of them does something to the queue.
@Suite(.timeLimit(.minutes(10))) struct ManyReadyOperationsTests {
    /// The number of short operations that are ready behind the given ones.
    private static let many = 100

    /// Adds forty short operations, the given ones, and optionally many more, and then resumes the queue.
    private func add(_ operations: AnyOperation..., to stage: TestQueue, withMany: Bool = true) {
        stage.queue.isSuspended = true
        stage.queue.add((0..<40).map { stage.noting("before \($0)") })
        stage.queue.add(operations)
        if withMany { stage.queue.add((0..<Self.many).map { stage.noting("\($0)") }) }
        stage.queue.isSuspended = false
    }

    /// Adds an operation whose body runs while others are ready behind it.
    private func inTheMiddle(
        _ stage: TestQueue, _ body: nonisolated(nonsending) @escaping @Sendable (OperationContext) async throws -> Void
    ) -> AsyncOperation<Void> {
        let middle = AsyncOperation("middle") { context in try await body(context) }
        add(middle, to: stage)
        return middle
    }

    private func after(_ stage: TestQueue) -> [String] { stage.ran.filter { !$0.hasPrefix("before") } }

    private static let numbers = (0..<many).map { "\($0)" }

    @Test("Operations behind a body that waits start in order on another worker")
    func G23_operationsBehindABodyThatWaitsStartElsewhere() {
        let stage = TestQueue(width: 2)
        let gate = Gate()
        _ = inTheMiddle(stage) { _ in await gate.wait() }
        stage.steps.runAll()
        #expect(after(stage) == Self.numbers)
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    @Test("A body may await an operation that is ready behind it")
    func aBodyAwaitsAnOperationBehindIt() {
        let stage = TestQueue(width: 2)
        let next = Mutex<AsyncOperation<Void>?>(nil)
        let middle = inTheMiddle(stage) { _ in try await next.withLock { $0 }?.value }
        next.withLock { $0 = stage.queue.operations.first { $0.name == "3" } as? AsyncOperation<Void> }
        stage.steps.runAll()
        #expect(middle.ending == "success")
        #expect(after(stage) == Self.numbers)
    }

    @Test("A higher priority comes before all operations that are ready")
    func G23_aHigherPriorityComesBeforeManyReadyOperations() {
        let stage = TestQueue(width: 2)
        let urgent = stage.noting("urgent")
        urgent.priority = .high
        _ = inTheMiddle(stage) { [queue = stage.queue] _ in queue.add(urgent) }
        stage.steps.runAll()
        #expect(after(stage) == ["urgent"] + Self.numbers)
    }

    @Test func aChildComesNext() {
        let stage = TestQueue(width: 2)
        let child = stage.noting("child")
        _ = inTheMiddle(stage) { try await $0.run(child) }
        stage.steps.runAll()
        #expect(after(stage) == ["child"] + Self.numbers)
    }

    @Test func suspendedNothingMoreStarts() {
        let stage = TestQueue(width: 2)
        _ = inTheMiddle(stage) { [queue = stage.queue] _ in queue.isSuspended = true }
        stage.steps.runAll()
        #expect(after(stage).isEmpty)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(after(stage) == Self.numbers)
    }

    @Test func aNarrowerQueueIsFirstInFirstOut() {
        let stage = TestQueue(width: 2)
        _ = inTheMiddle(stage) { [queue = stage.queue] _ in queue.maxConcurrentOperationCount = 1 }
        stage.steps.runAll()
        #expect(after(stage) == Self.numbers)
    }

    @Test func finishedOperationsAreNotCounted() {
        let stage = TestQueue(width: 2)
        let seen = EventLog<Int>()
        _ = inTheMiddle(stage) { [queue = stage.queue] _ in
            seen(queue.operationCount)
            seen(queue.waitingOperationCount)
            seen(queue.operations.count)
        }
        stage.steps.runAll()
        #expect(seen.events == [Self.many + 1, Self.many, Self.many + 1])
    }

    @Test func finishedOperationsAreReleasedAtOnce() {
        final class Output: Sendable {}
        let stage = TestQueue(width: 2)
        let gate = Gate()
        weak let output: Output?
        do {
            let made = Output()
            output = made
            add(AsyncOperation("output") { made }, stage.waiting("waits", at: gate), to: stage, withMany: false)
        }
        stage.steps.runAll()
        #expect(stage.ran.last == "waits")
        #expect(output == nil)
        gate.open()
        stage.steps.runAll()
    }

    @Test func cancelledNoneOfThemRuns() {
        let stage = TestQueue(width: 2)
        let middle = inTheMiddle(stage) { [queue = stage.queue] _ in queue.cancelAll() }
        stage.steps.runAll()
        #expect(after(stage).isEmpty)
        #expect(middle.ending == "success")
        #expect(stage.queue.operationCount == 0)
        #expect(stage.queue.core.state.withLock { $0.hasNothingToDo && $0.scheduler.running == 0 })
    }

    /// The operations are cancelled while they are ready, and a new operation gets the index of one of them in the
    /// registry.
    @Test func aPlaceThatIsUsedAgainIsNotGivenBackTwice() {
        let stage = TestQueue(width: 2)
        let added = (0..<5).map { stage.noting("added \($0)") }
        _ = inTheMiddle(stage) { [queue = stage.queue] _ in
            for operation in queue.operations.filter({ ["0", "1", "2"].contains($0.name) }) { operation.cancel() }
            queue.add(added)
        }
        stage.steps.runAll()
        #expect(after(stage) == Array(Self.numbers[3...]) + added.map { $0.name! })
        #expect(stage.queue.operationCount == 0)
        #expect(stage.queue.core.state.withLock { $0.registry.insertedCount == $0.registry.removedCount })
    }

    /// Operations that a body makes ready run on the same worker. The operations that were ready before run after at
    /// most sixteen of them.
    @Test func aChainGoesOnForSixteen() {
        let stage = TestQueue(width: 2)
        let first = stage.noting("c0")
        var last = first
        for number in 1..<40 {
            last = stage.noting("c\(number)", after: last)
            stage.queue.add(last)
        }
        add(first, to: stage)
        stage.steps.runAll()
        #expect(Array(after(stage)[..<18]) == (0...16).map { "c\($0)" } + ["0"])
        #expect(after(stage).count == 40 + Self.many)
    }

    /// The follower runs before the operations that were ready before it, and leaves the queue when it has finished.
    @Test func aFollowerLeavesByItself() {
        let stage = TestQueue(width: 2)
        let seen = EventLog<[String]>()
        let source = stage.noting("source")
        let looks = AsyncOperation("looks") { [queue = stage.queue] in
            seen(queue.operations.map { $0.name! }.sorted())
        }
        add(source, stage.noting("follower", after: source), looks, to: stage)
        stage.steps.runAll()
        #expect(Array(after(stage)[..<3]) == ["source", "follower", "0"])
        #expect(seen.events == [(["looks"] + Self.numbers).sorted()])
        #expect(stage.queue.core.state.withLock { $0.registry.insertedCount == $0.registry.removedCount })
    }

    /// The worker continues with each operation without asking the queue. The queue counts only those that remain.
    @Test func finishedOperationsOfAChainAreNotCounted() {
        let stage = TestQueue(width: 2)
        let seen = EventLog<Int>()
        var chain = [stage.noting("0")]
        for number in 1..<50 {
            chain.append(
                AsyncOperation("\(number)") { [queue = stage.queue] in
                    if number % 7 == 0 {
                        seen(queue.operationCount)
                        #expect(queue.operations.count == 50 - number)
                    }
                }.addDependency(chain[number - 1]))
        }
        stage.queue.add(chain)
        stage.steps.runAll()
        #expect(seen.events == [43, 36, 29, 22, 15, 8, 1])
        #expect(stage.queue.core.state.withLock { $0.registry.insertedCount == $0.registry.removedCount })
    }

    /// The operation waits for an exclusion while its worker continues with another one.
    @Test func anOperationThatWaitsForAnExclusionStaysInTheQueue() {
        let name = Names()
        let stage = TestQueue(width: 2)
        let elsewhere = TestQueue(on: stage.steps)
        let gate = Gate()
        elsewhere.run(elsewhere.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name("x"))))
        let away = stage.noting("away").addCondition(.mutuallyExclusive(name("x")))
        add(away, to: stage)
        stage.steps.runAll()
        #expect(Set(after(stage)) == Set(Self.numbers))
        #expect(stage.queue.operations == [away])
        gate.open()
        stage.steps.runAll()
        #expect(after(stage).last == "away")
        #expect(stage.queue.core.state.withLock { $0.registry.insertedCount == $0.registry.removedCount })
    }

    /// Runs chains with other operations between them, while another task reads the queue.
    @Test func chainsUnderThreads() async {
        for round in 0..<20 {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2 + round % 3)
            let ran = Atomic<Int>(0)
            var operations: [AsyncOperation<Void>] = []
            for number in 0..<3_000 {
                let operation = AsyncOperation { _ = ran.wrappingAdd(1, ordering: .relaxed) }
                if number >= 8, number % 5 != 0 { operation.addDependency(operations[number - 1 - number % 8]) }
                operations.append(operation)
            }
            await withTaskGroup { [operations] group in
                group.addTask { queue.add(operations) }
                group.addTask {
                    for number in 0..<200 {
                        #expect((0...3_000).contains(queue.operationCount))
                        for operation in queue.operations.prefix(3) { _ = operation.state }
                        if number < 20 { operations[3_000 - 1 - number * 7].cancel() }
                        await Task.yield()
                    }
                }
            }
            await queue.waitUntilIdle()
            let failed = operations.count { $0.error != nil }
            #expect(ran.load(ordering: .relaxed) + failed == 3_000)
            #expect(queue.operationCount == 0)
            #expect(queue.core.state.withLock { $0.registry.insertedCount == $0.registry.removedCount })
        }
    }

    /// Runs everything that reads or changes the queue while the workers continue.
    @Test func underThreads() async {
        for round in 0..<20 {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2 + round % 7)
            let ran = Atomic<Int>(0)
            let operations = (0..<4_000).map { number in
                AsyncOperation {
                    ran.wrappingAdd(1, ordering: .relaxed)
                    if number % 500 == 7 { await Task.yield() }
                }
            }
            await withTaskGroup { group in
                group.addTask { for operation in operations { queue.add(operation) } }
                group.addTask {
                    for operation in operations.reversed() where operation.hashValue % 5 == 0 { operation.cancel() }
                }
                group.addTask {
                    for _ in 0..<200 {
                        let count = queue.operationCount
                        #expect((0...4_000).contains(count))
                        for operation in queue.operations.prefix(3) { _ = operation.state }
                        await Task.yield()
                    }
                }
                group.addTask {
                    for number in 0..<100 {
                        queue.isSuspended = number % 2 == 0
                        await Task.yield()
                    }
                    queue.isSuspended = false
                }
                group.addTask {
                    for _ in 0..<50 {
                        let urgent = AsyncOperation {}
                        urgent.priority = .high
                        queue.add(urgent)
                        await Task.yield()
                    }
                }
            }
            await queue.waitUntilIdle()
            let cancelled = operations.count { $0.error != nil }
            #expect(ran.load(ordering: .relaxed) + cancelled == 4_000)
            #expect(queue.operationCount == 0)
            #expect(queue.core.state.withLock { $0.registry.insertedCount == $0.registry.removedCount })
        }
    }
}
