import Testing

@testable import Baton

/// An operation that a task leaves for its child tasks, as `WorkerTaskContext` does. The task awaits its child tasks
/// before it removes the operation, and releases the operation after that.
@Suite struct AtomicReferenceInterleavingTests {
    private final class Scenario {
        private let reference = AtomicReference<AnyOperation>()
        private var operations: [AnyOperation?] = [AsyncOperation("first") {}, AsyncOperation("second") {}]
        /// The operation that the reference contains, by number. Read instead of the object, which may be released.
        private var stored: Int?
        private(set) var found: [Int] = []
        private(set) var hasDangled = false

        func store(_ number: Int?) {
            reference.object = number.flatMap { operations[$0] }
            stored = number
        }

        func release(_ number: Int) { operations[number] = nil }

        /// Reads the reference on a child task.
        func read() {
            if let stored, operations[stored] == nil { return hasDangled = true }
            if let object = reference.object { found.append(operations.firstIndex { $0 === object }!) }
        }

        var isEmpty: Bool { reference.object == nil }
    }

    /// Runs two operations, one after another, each with a child task, and stops at each step.
    private func explore(removesBeforeRelease: Bool, _ check: @escaping (Scenario, [Int]) -> Void) {
        exploreInterleavings {
            let scenario = Scenario()
            let (task, children) = (Steps(), [Steps(), Steps()])
            func run(_ number: Int) {
                let end = {
                    if removesBeforeRelease {
                        task.append { scenario.store(nil) }
                        task.append { scenario.release(number) }
                    } else {
                        task.append { scenario.release(number) }
                        task.append { scenario.store(nil) }
                    }
                    if number == 0 { task.append { run(1) } }
                }
                scenario.store(number)
                children[number].append { scenario.read() }
                children[number].append {
                    scenario.read()
                    if removesBeforeRelease { end() }
                }
                // Without a wait for the child, the task goes on at once.
                if !removesBeforeRelease { end() }
            }
            task.append { run(0) }
            return ([task] + children, { check(scenario, $0) })
        }
    }

    @Test("Child tasks find the operation of their task, and nothing after it was released")
    func childTasks() {
        explore(removesBeforeRelease: true) { scenario, order in
            #expect(scenario.found == [0, 0, 1, 1], "\(order)")
            #expect(!scenario.hasDangled && scenario.isEmpty, "\(order)")
        }
    }

    @Test("The exploration finds that the reference has to be removed before the release")
    func lateRemoval() {
        var canDangle = false
        explore(removesBeforeRelease: false) { scenario, _ in if scenario.hasDangled { canDangle = true } }
        #expect(canDangle)
    }

    @Test("A thread that reads while others store finds one of the stored objects")
    func concurrentStores() {
        let objects = (0..<2).map { AsyncOperation("\($0)") {} as AnyOperation }
        exploreInterleavings {
            let box = Box()
            var found: AnyOperation?
            return (
                [
                    Steps({ box.object = objects[0] }), Steps({ box.object = objects[1] }),
                    Steps({ found = box.object }),
                ],
                { order in
                    let before = order.prefix { $0 != 2 }
                    #expect(found === before.last.map { objects[$0] }, "\(order)")
                }
            )
        }
    }

    private final class Box {
        private let reference = AtomicReference<AnyOperation>()

        var object: AnyOperation? {
            get { reference.object }
            set { reference.object = newValue }
        }
    }
}

@Suite struct RunningTaskTests {
    @TaskLocal private static var number = 0

    private static var place: UInt { RunningTask.place(ofValueOf: $number) }

    @Test("A child task finds a task-local at the place of its parent, and an unstructured task at another one")
    func places() async {
        #expect(Self.place == 0)
        await Self.$number.withValue(1) {
            let own = Self.place
            #expect(own != 0)
            async let child = Self.place
            #expect(await child == own)
            let copy = await Task { Self.place }.value
            #expect(copy != 0 && copy != own)
            Self.$number.withValue(2) { #expect(Self.place != own) }
            #expect(Self.place == own)
        }
        #expect(Self.place == 0)
    }

    @Test("The priority of a task is the one that it was created with, until somebody raises it")
    func priority() async {
        // Waiting for the value of the task would raise its priority.
        let (before, after) = await withCheckedContinuation { continuation in
            _ = Task(priority: .low) {
                let task = RunningTask()
                let before = task.priority
                withUnsafeCurrentTask { $0?.escalatePriority(to: .high) }
                continuation.resume(returning: (before, task.priority))
            }
        }
        #expect(before == UInt(TaskPriority.low.rawValue))
        #expect(after == UInt(TaskPriority.high.rawValue))
    }

    @Test("A child task asks for the priority of the task that made the value")
    func priorityOfParent() async {
        await Task(priority: .low) {
            let task = RunningTask()
            async let seen = task.priority
            #expect(await seen == task.priority)
        }.value
    }

    /// The steps of `WorkerTaskContext.run(of:_:)` and `WorkerTaskContext.current`: a task notes the place of the value
    /// that it has bound, and a task that finds the value at that place belongs to it.
    private final class Context {
        let noted = AtomicHint<UInt>(0)
    }

    /// Returns true if an unstructured task can take itself for a part of the task that it was made by.
    ///
    /// - Parameter forgets: True if the place is forgotten before another task can bind a value there.
    private func mistakesTasks(forgets: Bool) -> Bool {
        var isMistaken = false
        exploreInterleavings {
            let context = Context()
            let (place, copied): (UInt, UInt) = (16, 32)
            let worker = Steps()
            worker.append { context.noted.value = place }
            if forgets { worker.append { context.noted.value = 0 } }
            /// The place at which the unstructured task finds its copy: another one at first, and the place of the
            /// worker's value after that is free.
            var found = copied
            worker.append { found = place }
            let other = Steps({ if found == context.noted.value { isMistaken = true } })
            return ([worker, other], { _ in })
        }
        return isMistaken
    }

    @Test("An unstructured task never belongs to the task that it was made by, also after that has ended")
    func unstructuredTasks() { #expect(!mistakesTasks(forgets: true)) }

    @Test("The exploration finds that the place has to be forgotten before another value can be bound there")
    func lateForgetting() { #expect(mistakesTasks(forgets: false)) }
}
