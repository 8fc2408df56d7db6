import BatonTesting
import Testing

@testable import Baton

private enum Request {
    @TaskLocal static var id = 0
    @TaskLocal static var tag: Payload?
}

private final class Payload: Sendable {}

/// The task-local values that a queue carries from the task that adds an operation to its body and handlers.
@Suite(.timeLimit(.minutes(10))) struct TaskLocalTests {
    private let ids = EventLog<String>()
    private let queue = AsyncOperationQueue(taskLocals: Request.$id, Request.$tag)

    private func noting(_ name: String) -> AsyncOperation<Int> {
        AsyncOperation(name) { [ids] in
            ids("\(name) \(Request.id)")
            return Request.id
        }
    }

    @Test("A body finds the values of the task that added its operation")
    func bodiesFindThem() async throws {
        let (first, second, third) = (noting("a"), noting("b"), noting("c"))
        Request.$id.withValue(1) { _ = queue.add(first) }
        Request.$id.withValue(2) { queue.add([second, third]) }
        #expect(try await first.value == 1)
        #expect(try await second.value == 2)
        #expect(try await third.value == 2)
        #expect(try await queue.run(noting("d")) == 0)
        #expect(try await Request.$id.withValue(5) { try await queue.run(noting("e")) } == 5)
    }

    @Test("An input that comes along with its reader finds the values of that add")
    func inputsFindThem() async throws {
        let input = noting("input")
        let reader = input.then { $0 * 10 + Request.id }
        Request.$id.withValue(3) { _ = queue.add(reader) }
        #expect(try await reader.value == 33)
    }

    @Test("Children, products and groups find the values of their parent")
    func childrenFindThem() async throws {
        let product = noting("product")
        let inGroup = noting("in group")
        let parent = AsyncOperation { [self] context in
            try context.produce(product)
            try await context.run(GroupOperation(inGroup))
            async let child = context.run(noting("child"))
            return try await child
        }
        Request.$id.withValue(4) { _ = queue.add(parent) }
        #expect(try await parent.value == 4)
        #expect(try await product.value == 4)
        #expect(try await inGroup.value == 4)
    }

    @Test("Every attempt and repetition finds the values")
    func attemptsFindThem() async throws {
        let operation = AsyncOperation { [ids] context in
            ids("\(context.attempt) \(Request.id)")
            if context.attempt == 1 { throw Oops() }
        }
        .retry(.immediately, attempts: 2).repeat(every: .zero, count: 2)
        Request.$id.withValue(5) { _ = queue.add(operation) }
        try await operation.value
        #expect(ids.events == ["1 5", "2 5", "1 5", "2 5"])
    }

    @Test("The closures that decide about another run find the values")
    func decidingClosuresFindThem() async throws {
        let operation = AsyncOperation { context in if context.attempt == 1 { throw Oops() } }
            .retry(.immediately, attempts: 2) { [ids] _ in
                ids("retry \(Request.id)")
                return true
            }
            .repeat(every: .zero) { [ids] _ in
                ids("until \(Request.id)")
                return true
            }
        Request.$id.withValue(7) { _ = queue.add(operation) }
        try await operation.value
        #expect(ids.events == ["retry 7", "until 7"])
        let failing = AsyncOperation {}.repeat(every: .zero) { _ in throw Oops(text: "\(Request.id)") }
        Request.$id.withValue(8) { _ = queue.add(failing) }
        _ = try? await failing.value
        #expect(failing.error?.underlyingError as? Oops == Oops(text: "8"))
    }

    @Test("Every handler finds the values, even if it is added later")
    func handlersFindThem() async throws {
        let (running, gate) = (Gate(), Gate())
        let operation = AsyncOperation { context in
            try context.produce(AsyncOperation {})
            running.open()
            await gate.wait()
            throw Oops()
        }
        .didStart { [ids] in ids("start \(Request.id)") }
        .didProduce { [ids] _ in ids("product \(Request.id)") }
        .didCancel { [ids] _ in ids("cancel \(Request.id)") }
        .willFinish { [ids] _ in ids("before finish \(Request.id)") }
        Request.$id.withValue(6) { _ = queue.add(operation) }
        operation.didFinish { [ids] _ in ids("finish \(Request.id)") }
        await running.wait()
        operation.cancel()
        gate.open()
        await #expect(throws: OperationError.self) { try await operation.value }
        await queue.waitUntilIdle()
        #expect(Set(ids.events) == ["start 6", "product 6", "cancel 6", "before finish 6", "finish 6"])
    }

    /// The finish is published after the operation has finished, and before its handlers become due.
    @Test("A finish handler finds the values, even if a start handler returns while the finish is published")
    func finishHandlersFindThemAfterALateStartHandler() async throws {
        let isFinished = Gate()
        let core = Locked<QueueCore?>(nil)
        let queue = AsyncOperationQueue(
            carrying: [CarriedTaskLocal(Request.$id)],
            probe: { event in
                guard case .finished = event.kind, let core = core.withLock({ $0 }) else { return }
                isFinished.open()
                // Waits for the end of the start handler's delivery. Handlers have threads of their own.
                while core.state.withLock({ $0.handlerDispatcher.completedCount }) == 0 {}
            })
        core.withLock { $0 = queue.core }
        let operation = AsyncOperation {}
            .didStart { await isFinished.wait() }
            .didFinish { [ids] _ in ids("finish \(Request.id)") }
        Request.$id.withValue(1) { _ = queue.add(operation) }
        await queue.waitUntilIdle()
        core.withLock { $0 = nil }
        #expect(ids.events == ["finish 1"])
    }

    @Test("Hooks around the body find the values, and the body finds the values that a hook binds")
    func hooksFindThem() async throws {
        queue.around { [ids] _, body in
            ids("hook \(Request.id)")
            try await Request.$id.withValue(Request.id + 100) { try await body() }
        }
        #expect(try await Request.$id.withValue(7) { try await queue.run(noting("a")) } == 107)
        #expect(ids.events == ["hook 7", "a 107"])
    }

    @Test("A body on an executor of its own finds the values")
    func bodiesElsewhereFindThem() async throws {
        let operation = noting("a").executor(ThreadExecutor(threads: 1))
        Request.$id.withValue(8) { _ = queue.add(operation) }
        #expect(try await operation.value == 8)
    }

    @Test("Operations of a sequence find the values of the task that iterates")
    func deliveredOnesFindThem() async throws {
        let outputs = (1...3).deliver(on: queue) { number in Request.id * 10 + number }
        let found = try await Request.$id.withValue(9) {
            var found: [Int] = []
            for try await output in outputs { found.append(output) }
            return found
        }
        #expect(found == [91, 92, 93])
    }

    @Test("A queue without task-locals binds no values")
    func otherQueuesBindNone() async throws {
        let plain = AsyncOperationQueue()
        let operation = noting("a")
        Request.$id.withValue(10) { _ = plain.add(operation) }
        #expect(try await operation.value == 0)
    }

    @Test("Under every seed each operation finds its own values", arguments: [1, 3])
    func seedsFindThem(width: Int) async throws {
        try await exploring(schedules: 100) { scheduler in
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: width, executor: scheduler, taskLocals: Request.$id)
            let operations = (1...8).map { number in
                let operation = AsyncOperation { context in
                    let before = Request.id
                    let child = try await context.run(AsyncOperation { Request.id })
                    return [before, child, Request.id]
                }
                Request.$id.withValue(number) { _ = queue.add(operation) }
                return operation
            }
            for (index, operation) in operations.enumerated() {
                let found = try await operation.value
                try #require(found == Array(repeating: index + 1, count: 3))
            }
        }
    }

    // MARK: Release

    @Test("The end of an operation releases the values, even if it is retained", arguments: Handlers.allCases)
    private func valuesAreReleased(handlers: Handlers) async throws {
        let operation = noting("a")
        switch handlers {
        case .none: break
        case .ofTheStart: operation.didStart {}
        case .ofEveryPhase:
            operation.didStart {}.didFinish { _ in }
            operation.willFinish { _ in }
        }
        weak var payload: Payload?
        do {
            let value = Payload()
            payload = value
            Request.$tag.withValue(value) { _ = queue.add(operation) }
        }
        _ = try await operation.value
        await queue.waitUntilIdle()
        #expect(payload == nil)
        withExtendedLifetime(operation) {}
    }

    @Test("A handler that is never called does not keep the values")
    func valuesAreReleasedWithoutACall() async throws {
        let operation = noting("a").didCancel { _ in }
        weak var payload: Payload?
        do {
            let value = Payload()
            payload = value
            Request.$tag.withValue(value) { _ = queue.add(operation) }
        }
        await queue.waitUntilIdle()
        #expect(payload == nil)
        withExtendedLifetime(operation) {}
    }

    private enum Handlers: CaseIterable {
        case none, ofTheStart, ofEveryPhase
    }

    @Test("The values of an operation that ends before its run are released")
    func valuesOfACancelledOneAreReleased() async throws {
        let queue = AsyncOperationQueue(isSuspended: true, taskLocals: Request.$tag)
        let operation = noting("a")
        weak var payload: Payload?
        do {
            let value = Payload()
            payload = value
            Request.$tag.withValue(value) { _ = queue.add(operation) }
        }
        operation.cancel()
        await queue.waitUntilIdle()
        #expect(payload == nil)
        withExtendedLifetime(operation) {}
    }
}
