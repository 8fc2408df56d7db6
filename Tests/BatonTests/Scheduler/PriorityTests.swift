import BatonTesting
import Testing

@testable import Baton

@Suite("A priority counts until the operation starts, and sources get at least the same priority")
struct PriorityTests {
    private func serial() -> TestQueue { TestQueue(width: 1, isSuspended: true) }

    private func runAll(_ stage: TestQueue) -> [String] {
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.misuses.count == 0)
        return stage.ran
    }

    // MARK: Changing

    @Test("A ready operation moves to the list of its new priority")
    func ofOneThatIsReady() {
        let stage = serial()
        let operations = (0..<5).map { stage.noting("\($0)") }
        stage.queue.add(operations)
        operations[3].priority = .high
        operations[0].priority = .low
        operations[4].priority(.veryHigh)
        #expect(operations.map(\.priority) == [.low, .normal, .normal, .high, .veryHigh])
        #expect(runAll(stage) == ["4", "3", "1", "2", "0"])
    }

    @Test("The new priority of a waiting operation counts when it is ready")
    func ofOneThatWaits() {
        let stage = serial()
        let source = stage.noting("source")
        let (first, second) = (stage.noting("first", after: source), stage.noting("second", after: source))
        stage.queue.add(source, first, second)
        first.priority = .low
        #expect(runAll(stage) == ["source", "second", "first"])
    }

    @Test("Operations that another operation has released move to the lists of their new priorities")
    func ofReleased() {
        let stage = serial()
        let source = stage.noting("source")
        let followers = (1...2).map { stage.noting("\($0)", after: source) }
        let first = AsyncOperation("0") { [log = stage.log] in
            log("0")
            followers[1].priority = .high
        }
        stage.queue.add(source, first.addDependency(source))
        stage.queue.add(followers)
        #expect(runAll(stage) == ["source", "0", "2", "1"])
    }

    @Test("Children of a body move to the lists of their new priorities")
    func ofChildren() {
        let stage = serial()
        let children = (0..<3).map { stage.noting("\($0)") }
        let first = AsyncOperation("first") { [log = stage.log] in
            log("first")
            children[2].priority = .high
        }
        stage.queue.add(
            AsyncOperation("parent") { context in try await context.run(GroupOperation([first] + children)) })
        #expect(runAll(stage) == ["first", "2", "0", "1"])
    }

    @Test("A change has no effect after the operation has started or finished")
    func tooLate() {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let running = stage.waiting("running", at: gate)
        stage.run(running)
        running.priority = .high
        gate.open()
        stage.steps.runAll()
        running.priority = .low
        #expect(running.ending == "success")
        #expect(stage.misuses.count == 0)
    }

    @Test("A body changes the priorities of operations that are ready behind it")
    func ofManyReadyOperations() {
        let steps = StepExecutor()
        let log = EventLog<String>()
        let queue = AsyncOperationQueue(
            maxConcurrentOperationCount: 2, isSuspended: true, executor: steps)
        let operations = (0..<10).map { number in AsyncOperation("\(number)") { log("\(number)") } }
        let first = AsyncOperation("first") { log("first") }
        let second = AsyncOperation("second") {
            log("second")
            operations[7].priority = .high
            operations[2].priority = .low
        }
        queue.add(first, second)
        queue.add(operations)
        queue.isSuspended = false
        steps.runAll()
        #expect(log.events == ["first", "second", "7", "0", "1", "3", "4", "5", "6", "8", "9", "2"])
    }

    // MARK: Sources

    @Test("An urgent operation raises the priority of the operation that it waits for", arguments: [false, true])
    func dependencyIsRaised(isAddedFirst: Bool) {
        let stage = serial()
        let needed = stage.noting("needed")
        needed.priority = .veryLow
        let between = stage.noting("between", after: needed)
        between.priority = .low
        let urgent = stage.noting("urgent", after: between)
        urgent.priority = .veryHigh
        if isAddedFirst { stage.queue.add(needed, between) }
        stage.queue.add((0..<20).map { stage.noting("other \($0)") })
        stage.queue.add(urgent)
        if !isAddedFirst {
            stage.queue.add(between)
            stage.queue.add(needed)
        }
        #expect(needed.priority == .veryHigh)
        #expect(runAll(stage).prefix(3) == ["needed", "between", "urgent"])
    }

    @Test("A later change raises the priority of sources")
    func laterChange() {
        let stage = serial()
        let needed = stage.noting("needed")
        let urgent = stage.noting("urgent", after: needed)
        stage.queue.add((0..<20).map { stage.noting("other \($0)") })
        stage.queue.add(needed, urgent)
        urgent.priority = .high
        #expect(needed.priority == .high)
        urgent.priority = .low
        #expect(needed.priority == .high)
        #expect(runAll(stage).first == "needed")
    }

    @Test("Sources in another queue are raised")
    func inAnotherQueue() {
        let stage = serial()
        let other = TestQueue(width: 1, isSuspended: true, on: stage.steps)
        let needed = other.noting("needed")
        other.queue.add(other.noting("first"))
        other.queue.add(needed)
        let urgent = stage.noting("urgent", after: needed)
        urgent.priority = .high
        stage.queue.add(urgent)
        #expect(runAll(other) == ["needed", "first"])
    }

    @Test("The original of a join is raised")
    func original() {
        let stage = serial()
        let key = Names()("join")
        stage.queue.add(stage.noting("first"))
        let original = stage.noting("original").unique(by: key, policy: .join)
        stage.queue.add(original)
        let urgent = stage.noting("urgent").unique(by: key, policy: .join)
        urgent.priority = .high
        stage.queue.add(urgent)
        #expect(original.priority == .high)
        #expect(runAll(stage) == ["original", "first"])
        #expect(urgent.ending == "success")
    }

    @Test("Operations that a body awaits and the children of a group are raised")
    func awaited() {
        let stage = serial()
        let awaited = stage.noting("awaited")
        let children = (0..<2).map { stage.noting("child \($0)") }
        let urgent = AsyncOperation("urgent") { context in
            try await awaited.value
            try await context.run(GroupOperation(children))
        }
        urgent.priority = .high
        stage.queue.add((0..<3).map { stage.noting("other \($0)") })
        stage.queue.add(awaited, urgent)
        #expect(runAll(stage) == ["awaited", "child 0", "child 1", "other 0", "other 1", "other 2"])
        #expect(children.map(\.priority) == [.high, .high])
    }

    @Test("A barrier raises operations before it, and operations behind it raise the barrier")
    func barrier() {
        let stage = serial()
        let (before, behind) = (stage.noting("before"), stage.noting("behind"))
        behind.priority = .high
        stage.queue.add(before)
        let barrier = stage.queue.addBarrier("barrier") {}
        stage.queue.add(behind)
        #expect(barrier.priority == .high)
        #expect(before.priority == .high)
        #expect(runAll(stage) == ["before", "behind"])
    }

    @Test("Operations that are raised together start in the order of the waits", arguments: SchedulingOrder.allCases)
    func orderOfInputs(order: SchedulingOrder) {
        let stage = serial()
        stage.queue.schedulingOrder = order
        let pages = (0..<6).map { number in
            AsyncOperation { [log = stage.log] in
                log("\(number)")
                return number
            }
        }
        stage.queue.add(AsyncOperation.collect(pages).priority(.high))
        #expect(runAll(stage) == (0..<6).map { "\($0)" })
    }

    @Test("A body that waits for a permit to continue is raised")
    func resumption() {
        let stage = TestQueue(width: 1)
        let other = TestQueue(on: stage.steps)
        let gate = Gate()
        let awaited = other.waiting("awaited", at: gate)
        let blocker = Gate()
        let parent = AsyncOperation("parent") { [log = stage.log, queue = other.queue] in
            try await queue.run(awaited)
            log("parent goes on")
        }
        parent.priority = .low
        stage.run(parent)
        stage.run(stage.waiting("blocker", at: blocker))
        stage.queue.add((0..<5).map { stage.noting("\($0)") })
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["blocker"])
        let urgent = stage.noting("urgent", after: parent)
        urgent.priority = .veryHigh
        stage.queue.add(urgent)
        blocker.open()
        stage.steps.runAll()
        #expect(Array(stage.ran.prefix(3)) == ["blocker", "parent goes on", "urgent"])
        #expect(stage.ran.count == 8)
    }

    @Test("The operations of a sequence that a body iterates are raised")
    func elements() {
        let stage = serial()
        let urgent = AsyncOperation("urgent") { [log = stage.log, queue = stage.queue] in
            for try await number in [1, 2, 3].deliver(on: queue, width: 1, { $0 }) { log("element \(number)") }
        }
        urgent.priority = .high
        stage.queue.add((0..<3).map { stage.noting("\($0)") })
        stage.queue.add(urgent)
        #expect(Array(runAll(stage).prefix(3)) == ["element 1", "element 2", "element 3"])
    }

    @Test("A cycle is raised and ends")
    func cycle() {
        let stage = serial()
        let (one, other) = (stage.noting("one"), stage.noting("other"))
        one.addDependency(other)
        other.addDependency(one)
        one.priority = .veryHigh
        stage.queue.add(one, other)
        other.priority = .veryHigh
        _ = runAll(stage)
        #expect(one.error != nil && other.error != nil)
    }

    @Test("Each level visits each operation once, however many wait for it")
    func growth() {
        let stage = serial()
        let needed = stage.noting("needed")
        stage.queue.add(needed)
        for number in 0..<2_000 {
            let waiting = stage.noting("\(number)", after: needed)
            waiting.priority = number % 2 == 0 ? .high : .veryHigh
            stage.queue.add(waiting)
        }
        #expect(needed.priority == .veryHigh)
        #expect(runAll(stage).first == "needed")
    }

    /// This test is of use under ThreadSanitizer.
    @Test("Several threads may change priorities while the queue runs", .timeLimit(.minutes(10)))
    func underThreads() async throws {
        for width in [1, 2, 8] {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            var operations: [AsyncOperation<Void>] = []
            for number in 0..<500 {
                let operation = AsyncOperation("\(number)") { if number % 7 == 0 { await Task.yield() } }
                if number % 3 != 0 { operation.addDependency(operations[number / 2]) }
                operations.append(operation)
            }
            let all = operations
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for operation in all { queue.add(operation) } }
                for task in 0..<2 {
                    group.addTask {
                        for (place, operation) in all.reversed().enumerated() {
                            operation.priority = OperationPriority.allCases[(place + task) % 5]
                        }
                    }
                }
            }
            await queue.waitUntilIdle()
            #expect(all.allSatisfy { $0.ending == "success" })
        }
    }
}
