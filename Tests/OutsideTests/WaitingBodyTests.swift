import Baton
import BatonTesting
import Synchronization
import Testing

@Suite("A wait in a child task of a body counts as a wait of the body")
struct WaitingBodyTests {
    /// How a body waits for another operation.
    enum Wait: CaseIterable, Sendable {
        case asyncLet, taskGroup, nestedTasks, value, contextRun, sequence

        func perform(_ queue: AsyncOperationQueue, _ context: OperationContext) async throws -> Int {
            switch self {
            case .asyncLet:
                async let part = queue.run(AsyncOperation("part") { 1 })
                return try await part
            case .taskGroup:
                return try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<3 { group.addTask { try await queue.run(AsyncOperation("part") { 1 }) } }
                    return try await group.reduce(0, +) / 3
                }
            case .nestedTasks:
                async let outer = withThrowingTaskGroup(of: Int.self) { group in
                    group.addTask {
                        async let inner = queue.run(AsyncOperation("part") { 1 })
                        return try await inner
                    }
                    return try await group.reduce(0, +)
                }
                return try await outer
            case .value:
                let part = queue.add("part") { 1 }
                async let value = part.value
                return try await value
            case .contextRun:
                async let part = context.run(AsyncOperation("part") { 1 })
                return try await part
            case .sequence:
                async let sum = sumOfParts(queue)
                return try await sum
            }
        }

        private func sumOfParts(_ queue: AsyncOperationQueue) async throws -> Int {
            let elements = AsyncStream { continuation in
                for _ in 0..<3 { continuation.yield(1) }
                continuation.finish()
            }
            var sum = 0
            for try await part in elements.deliver(on: queue, { element in element }) { sum += part }
            return sum / 3
        }
    }

    @Test("As many bodies as the queue is wide wait in child tasks", arguments: Wait.allCases, [1, 2, 64])
    func G25_asManyBodiesAsTheQueueIsWideWaitInChildTasks(wait: Wait, width: Int) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let bodies = (0..<2 * width).map { number in
                AsyncOperation("page \(number)") { context in try await wait.perform(queue, context) }
            }
            queue.add(bodies)
            for body in bodies {
                let value = try await body.value
                #expect(value == 1)
            }
        }
    }

    @Test(
        "Waits in child tasks work on a small executor, nested, with a barrier and an exclusion",
        // With `value`, the body adds an operation itself, which would come after the barrier.
        arguments: Wait.allCases.filter { $0 != .value })
    func pairs(wait: Wait) async throws {
        try await within {
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: 1, executor: ThreadExecutor(threads: 1))
            let parent = AsyncOperation("parent") { context in
                try await context.run(AsyncOperation("child") { context in try await wait.perform(queue, context) })
            }.addCondition(.mutuallyExclusive("WaitingBodyTests \(wait)"))
            queue.add(parent)
            let barrier = AsyncOperation("barrier") {}
            queue.addBarrier(barrier)
            let value = try await parent.value
            #expect(value == 1)
            try await barrier.value
        }
    }

    @Test("Never more bodies than the width compute at once")
    func G22_waitsInChildTasks() async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
            let meter = Meter()
            for _ in 0..<50 {
                queue.add {
                    meter.compute()
                    async let part: Void = queue.run(AsyncOperation { meter.compute() })
                    try await part
                    meter.compute()
                }
            }
            await queue.waitUntilIdle()
            #expect(meter.most <= 2)
        }
    }

    @Test("A child task that waits for a dependent of its body gets an error", arguments: [1, 4])
    func cycle(width: Int) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let needed = Guarded<AsyncOperation<Void>?>(nil)
            let body = AsyncOperation("body") {
                let operation = needed.withLock { $0 }
                async let wait: Void? = operation?.value
                try await wait
            }
            let dependent = AsyncOperation("dependent") {}.addDependency(body)
            needed.withLock { $0 = dependent }
            queue.add([body, dependent])
            let error = await #expect(throws: OperationError.self) { try await body.value }
            #expect("\(error as Any)".contains("waits for itself"))
        }
    }

    @Test("explain() names the operation that a child task waits for")
    func explanation() async throws {
        try await within {
            let queue = AsyncOperationQueue()
            let gate = Gate()
            let slow = AsyncOperation("slow") { await gate.wait() }
            let body = AsyncOperation("body") {
                async let wait: Void = queue.run(slow)
                try await wait
            }
            queue.add(body)
            while body.explain().waitsFor.isEmpty { await Task.yield() }
            #expect(body.explain().waitsFor == [slow.reference])
            gate.open()
            await queue.waitUntilIdle()
        }
    }

    @Test("An unstructured task does not count as part of the body that started it")
    func unstructuredTask() async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let tasks = Guarded<[Task<Int, any Error>]>([])
            let operations = (0..<50).map { number in
                AsyncOperation("\(number)") { context in
                    // This task waits for the end of the body that started it. That is not a cycle, because the body
                    // does not wait for the task.
                    let own = context.operation
                    let task = Task {
                        for await event in own.events where event.kind.description.hasPrefix("finished") {}
                        return try await queue.run(AsyncOperation { number })
                    }
                    tasks.withLock { $0.append(task) }
                }
            }
            queue.add(operations)
            for operation in operations { try await operation.value }
            var sum = 0
            for task in tasks.withLock({ $0 }) { sum += try await task.value }
            #expect(sum == 49 * 25)
        }
    }

    @Test("A child task of a body does not wait until its own queue is idle")
    func idle() async throws {
        try await within {
            let misuses = EventLog<String>()
            let queue = AsyncOperationQueue(onMisuse: { misuses($0.description) })
            queue.add {
                async let idle: Void = queue.waitUntilIdle()
                await idle
            }
            await queue.waitUntilIdle()
            #expect(misuses.count == 1)
        }
    }

    @Test(
        "A body that awaits the idleness of another queue releases its permit, and says so", arguments: [false, true])
    func idlenessOfAnotherQueue(inChildTask: Bool) async throws {
        try await within {
            let (queue, other) = (
                AsyncOperationQueue(maxConcurrentOperationCount: 1), AsyncOperationQueue(name: "other")
            )
            let gate = Gate()
            let waiting = AsyncOperation("waiting") {
                if inChildTask {
                    async let idle: Void = other.waitUntilIdle()
                    await idle
                } else {
                    await other.waitUntilIdle()
                }
            }
            let needed = AsyncOperation("needed") { await gate.wait() }
            let start = Gate()
            other.add {
                await start.wait()
                _ = try await queue.run(needed)
            }
            queue.add(waiting)
            while waiting.state != .executing { await Task.yield() }
            start.open()
            while waiting.state != .executing || needed.state != .executing { await Task.yield() }
            let explanation = waiting.explain()
            #expect("\(explanation)".contains("idleness of “other”"))
            #expect(explanation.roots.map(\.operation.name).contains("needed"), "\(explanation)")
            gate.open()
            await queue.waitUntilIdle()
            #expect(waiting.error == nil)
        }
    }

    @Test("A stall report says what to do about a wait that the queue cannot see")
    func stallReport() async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let given = Gate()
            queue.onStall(after: .milliseconds(20)) { report in
                // The first report may come before the hidden task has added its operation.
                if report.description.contains("context.run") { given.open() }
            }
            let stop = Gate()
            queue.add("page") {
                // The queue cannot know that the body waits for this task.
                let hidden = Task { try await queue.run(AsyncOperation("part") { 1 }) }
                await stop.wait()
                hidden.cancel()
            }
            await given.wait()
            stop.open()
            await queue.waitUntilIdle()
        }
    }
}

/// Counts how many bodies compute at once.
private final class Meter: Sendable {
    private let running = Atomic<Int>(0)
    private let peak = Atomic<Int>(0)

    var most: Int { peak.load(ordering: .relaxed) }

    func compute() {
        peak.max(running.add(1, ordering: .acquiringAndReleasing).newValue, ordering: .relaxed)
        var sum = 0
        for number in 0..<1_000 { sum &+= number.hashValue }
        running.subtract(sum == 1 ? 1 : 1, ordering: .acquiringAndReleasing)
    }
}
