import Baton
import BatonTesting
import Synchronization

/// One run of a ``UniquePlan``.
final class UniqueRound: Sendable {
    let plan: UniquePlan
    let recorder: UniqueRecorder
    let scheduler: SeededScheduler?
    private let queues: [AsyncOperationQueue]
    private let gates: [Gate]
    /// The private sources.
    let sources = Locked<[Int: AsyncOperation<Void>]>([:])
    let outcomes = Locked<[Outcome?]>([])
    private let number: Int
    /// The number of drivers that have not performed all of their actions.
    private let drivers: Atomic<Int>
    private static let rounds = Atomic<Int>(0)

    /// A key whose hash is the same for all keys of a round, so that they collide in the hash table.
    private struct Key: Hashable {
        let round: Int
        let number: Int
        let token: Token

        static func == (left: Self, right: Self) -> Bool { left.round == right.round && left.number == right.number }
        func hash(into hasher: inout Hasher) { hasher.combine(round) }
    }

    init(_ plan: UniquePlan, scheduler: SeededScheduler? = nil, pool: ThreadPool? = nil) {
        self.plan = plan
        self.scheduler = scheduler
        drivers = Atomic(plan.drivers.count)
        number = Self.rounds.add(1, ordering: .relaxed).newValue
        let recorder = UniqueRecorder(plan, isSeeded: scheduler != nil)
        self.recorder = recorder
        gates = (0..<plan.gateCount).map { _ in Gate() }
        queues = plan.queues.enumerated().map { index, note in
            let executor: (any TaskExecutor)? = scheduler ?? (index.isMultiple(of: 2) ? nil : pool)
            let misused: @Sendable (Misuse) -> Void = { misuse in
                recorder.check(misuse.isPlanned, "G10: \(misuse)")
            }
            guard let clock = scheduler?.clock else {
                return AsyncOperationQueue(
                    maxConcurrentOperationCount: note.width, isSuspended: note.isSuspendedAtFirst, executor: executor,
                    onMisuse: misused)
            }
            return AsyncOperationQueue(
                maxConcurrentOperationCount: note.width, isSuspended: note.isSuspendedAtFirst, executor: executor,
                clock: clock, onMisuse: misused)
        }
        for node in plan.nodes { recorder.add(make(node)) }
    }

    // MARK: OperationFactory

    private func make(_ node: UniqueNode) -> AsyncOperation<Value> {
        let token = Token(recorder.census)
        let body: @Sendable (OperationContext) async throws -> Value = { [weak self] context in
            guard let self else { throw CancellationError() }
            defer { withExtendedLifetime(token) {} }
            return try await self.run(node, context)
        }
        let operation: AsyncOperation<Value>
        if let input = node.input.flatMap({ recorder.operation($0) }) {
            operation = AsyncOperation(input) { _, context in try await body(context) }
        } else {
            operation = AsyncOperation { context in try await body(context) }
        }
        operation.name = node.name
        for source in node.order { if let source = recorder.operation(source) { operation.addDependency(source) } }
        if node.hasPrivateSource {
            let source = AsyncOperation("p\(node.id)") { withExtendedLifetime(token) {} }
            operation.addDependency(source)
            sources.withLock { $0[node.id] = source }
        }
        if let limit = node.waitingLimit { operation.timeout(waiting: limit) }
        if node.failures > 0 { operation.retry(.constant(node.delay), attempts: node.failures + 1) }
        if let key = node.key {
            let key = Key(round: number, number: key, token: token)
            if key.number.isMultiple(of: 2) {
                operation.unique(by: key, policy: node.policy)
            } else {
                operation.unique(by: key, in: "stress", policy: node.policy)
            }
        }
        return operation
    }

    private func run(_ node: UniqueNode, _ context: OperationContext) async throws -> Value {
        recorder.bodyBegan(node.id, context.attempt)
        for step in node.steps {
            switch step {
            case .yield(let times): for _ in 0..<times { await Task.yield() }
            case .gate(let gate, let heedsCancel):
                if heedsCancel { try await gates[gate].waitUnlessCancelled() } else { await gates[gate].wait() }
            case .run(let child):
                guard let operation = recorder.operation(child) else { break }
                await recorder.adding(child) { _ = try? await context.run(operation) }
            case .cancel(let other): cancel(other, because: "b\(node.id)")
            }
            recorder.check(context.operation.state == .executing, "G1: n\(node.id) runs, and is not executing")
        }
        if node.throwsAtTheEnd || context.attempt <= node.failures {
            throw Thrown(by: node.id, token: Token(recorder.census))
        }
        return Value(number: UInt64(node.id), token: Token(recorder.census))
    }

    // MARK: Playing

    func play() async {
        await withDiscardingTaskGroup { group in
            for actions in plan.drivers { group.addTask(executorPreference: scheduler) { await self.drive(actions) } }
        }
        for node in plan.nodes.reversed() {
            guard let operation = recorder.operation(node.id), operation.state != .created else { continue }
            _ = try? await operation.value
        }
        for queue in queues { await queue.waitUntilIdle() }
        recorder.check(queues.allSatisfy { $0.operationCount == 0 }, "G25: a queue is idle and not empty")
        outcomes.withLock { $0 = plan.nodes.map { recorder.operation($0.id)?.result.map { Outcome($0) } } }
    }

    private func drive(_ actions: [UniqueAction]) async {
        await withDiscardingTaskGroup { group in
            for action in actions {
                switch action {
                case .add(let id):
                    guard let operation = recorder.operation(id) else { break }
                    recorder.addingAtOnce(id, withSources: false) { queues[plan.nodes[id].queue].add(operation) }
                case .addWithSources(let id):
                    guard let operation = recorder.operation(id) else { break }
                    recorder.addingAtOnce(id, withSources: true) {
                        operation.add(to: queues[plan.nodes[id].queue], includingDependencies: true)
                    }
                case .addTogether(let ids, let queue): queues[queue].add(ids.compactMap { recorder.operation($0) })
                case .run(let id, let yields):
                    group.addTask(executorPreference: scheduler) { await self.run(id, cancelledAfter: yields) }
                case .cancel(let id): cancel(id, because: "driver")
                case .cancelKey(let key):
                    for node in plan.nodes where node.key == key { cancel(node.id, because: "driver") }
                case .openGate(let gate): gates[gate].open()
                case .resume(let queue): queues[queue].isSuspended = false
                case .pause(let yields): for _ in 0..<yields { await Task.yield() }
                case .passTime(let time): scheduler?.clock.advance(by: time)
                }
            }
            // Other tasks of this group wait for the gates and the suspended queues.
            if drivers.subtract(1, ordering: .relaxed).newValue == 0 { openEverything() }
        }
    }

    private func openEverything() {
        for queue in queues { queue.isSuspended = false }
        for gate in gates { gate.open() }
    }

    private func run(_ id: Int, cancelledAfter yields: Int?) async {
        guard let operation = recorder.operation(id) else { return }
        let queue = queues[plan.nodes[id].queue]
        let caller = Task.detached(executorPreference: scheduler) { [recorder] in
            await recorder.adding(id) { _ = try? await queue.run(operation) }
        }
        if let yields {
            for _ in 0..<yields { await Task.yield() }
            recorder.cancel(id, because: .caller) { _ in caller.cancel() }
        }
        await caller.value
    }

    private func cancel(_ id: Int, because text: String) {
        recorder.cancel(id, because: .because(text)) { $0.cancel(reason: .because(text)) }
    }

    var explanation: String {
        plan.nodes.compactMap { recorder.operation($0.id) }.filter { $0.state != .created && $0.state != .finished }
            .map { "\($0): \($0.explain())\n      \(plan.nodes[$0.reference.node])" }.joined(separator: "\n")
    }
}
