import Baton
import BatonTesting

/// The task of a body in which it waits.
enum WaitingTask: CaseIterable, Sendable {
    case body, asyncLet, taskGroup, discardingTaskGroup, nested, cancellationHandler

    static var childTasks: [WaitingTask] { allCases.filter { $0 != .body } }

    func wait(_ wait: @escaping @Sendable () async throws -> Void) async throws {
        switch self {
        case .body: try await wait()
        case .asyncLet:
            async let result: Void = wait()
            try await result
        case .taskGroup:
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await wait() }
                try await group.waitForAll()
            }
        case .discardingTaskGroup:
            try await withThrowingDiscardingTaskGroup { group in group.addTask { try await wait() } }
        case .nested:
            async let outer: Void = withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    async let inner: Void = wait()
                    try await inner
                }
                try await group.waitForAll()
            }
            try await outer
        case .cancellationHandler:
            async let result: Void = withTaskCancellationHandler {
                try await wait()
            } onCancel: {
            }
            try await result
        }
    }
}

/// The call by which a body waits for an operation.
enum WaitCall: CaseIterable, Sendable {
    case value, queueRun, contextRun

    func wait(for operation: AsyncOperation<Void>, _ queue: AsyncOperationQueue, _ context: OperationContext)
        async throws
    {
        switch self {
        case .value:
            if operation.state == .created { queue.add(operation) }
            try await operation.value
        case .queueRun: try await queue.run(operation)
        case .contextRun: try await context.run(operation)
        }
    }
}

/// Returns a name that no other test uses, because exclusions belong to the whole process.
func uniqueName(_ name: String) -> String { "\(name) \(UInt64.random(in: 0...(.max)))" }

/// Makes an operation whose body waits for another one.
func waiter(
    _ name: String, _ task: WaitingTask, _ call: WaitCall, on queue: AsyncOperationQueue,
    for other: @escaping @Sendable () -> AsyncOperation<Void>
) -> AsyncOperation<Void> {
    AsyncOperation(name) { context in
        try await task.wait { try await call.wait(for: other(), queue, context) }
    }
}

extension OperationError {
    var isDeadlock: Bool { if case .exclusionDeadlock = self { true } else { false } }
}

/// Bodies that wait until all of them have begun. The wait releases their permits, so that all can begin.
final class MeetingPoint: Sendable {
    private let gate = Gate()
    private let missing: Guarded<Int>
    private let opening: AsyncOperation<Void>

    init(of count: Int) {
        missing = Guarded(count)
        opening = AsyncOperationQueue().add { [gate] in await gate.wait() }
    }

    func join() async throws {
        let isLast = missing.withLock { count in
            count -= 1
            return count == 0
        }
        if isLast { gate.open() }
        try await opening.value
    }
}
