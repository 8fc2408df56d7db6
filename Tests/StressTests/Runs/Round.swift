import Baton
import Synchronization
import BatonTesting

/// One run of a graph by a plan, from the creation of the operations to the end of the last one.
final class Round: Sendable {
    let graph: Graph
    let plan: Plan
    let site: Site
    let operations: Locked<[AnyOperation?]>
    let remaining: Locked<[WeakOperation]>
    let ends = Locked<[End?]>([])
    let observations = Locked<[Observation]>([])
    let endedScripts = EventLog<Void>()

    struct WeakOperation: Sendable {
        weak let operation: AnyOperation?
    }

    /// The state of an operation at the end of the round.
    struct End: Sendable {
        let outcome: Outcome
        let isCancelled: Bool
        /// The attempts of the operation, or nil if the operation was released early.
        let history: [AttemptEnd]?
    }

    /// Creates a round that runs on a scheduler, or on threads: those of the global executor, and of `pool` if there
    /// is one.
    init(_ graph: Graph, _ plan: Plan, scheduler: SeededScheduler? = nil, pool: ThreadPool? = nil) {
        self.graph = graph
        self.plan = plan
        let recorder = RunRecorder(graph, hasProbe: plan.hasProbe, isSeeded: scheduler != nil)
        var queues: [AsyncOperationQueue] = []
        for (index, note) in graph.queues.enumerated() {
            if note.isSuspendedAtFirst { recorder.note(.suspended(index)) }
            let executor: (any TaskExecutor)? = scheduler ?? (index.isMultiple(of: 2) ? nil : pool)
            queues.append(Self.queue(index, note, executor, recorder, scheduler?.clock))
        }
        site = Site(recorder, scheduler: scheduler, pool: pool, queues: queues)
        let made = OperationFactory.operations(of: graph, at: site)
        remaining = Locked(made.map { WeakOperation(operation: $0) })
        operations = Locked(made)
        site.recorder.priorities.withLock { priorities in
            priorities = { [weak self] in
                self?.remaining.withLock { $0.map { $0.operation?.priority } } ?? []
            }
        }
        beginObserving(first: true)
        if plan.keepsOperations { return }
        for node in graph.nodes {
            OperationFactory.addHandler(to: made[node.id], node.id, isLate: false, at: site)
            // The bodies that run a nested operation retain it.
            if node.isNested { operations.withLock { $0[node.id] = nil } }
        }
    }

    private static func queue(
        _ index: Int, _ note: QueueNote, _ executor: (any TaskExecutor)?, _ recorder: RunRecorder,
        _ clock: TestClock?
    ) -> AsyncOperationQueue {
        if let clock { return queue(index, note, executor, recorder, on: clock) }
        return queue(index, note, executor, recorder, on: ContinuousClock())
    }

    private static func queue(
        _ index: Int, _ note: QueueNote, _ executor: (any TaskExecutor)?, _ recorder: RunRecorder,
        on clock: some Clock<Duration>
    ) -> AsyncOperationQueue {
        let probe: @Sendable (OperationEvent) -> Void = { recorder.note($0, queue: index) }
        let made = AsyncOperationQueue(
            name: "q\(index)", maxConcurrentOperationCount: note.width, isSuspended: note.isSuspendedAtFirst,
            executor: executor, clock: clock,
            carrying: note.carriesMark ? [CarriedTaskLocal(RunRecorder.$mark)] : [],
            onMisuse: { misuse in
                if !misuse.isPlanned { recorder.violation("G10: \(misuse)") }
            },
            probe: recorder.hasProbe ? probe : nil)
        made.schedulingOrder = note.order
        if recorder.graph.hasHooks {
            made.around { context, body in
                let id = context.operation.reference.node
                if id >= 0 { recorder.nodes[id].handlers.hooked.add(1, ordering: .relaxed) }
                try await body()
            }
        }
        return made
    }

    func operation(_ id: Int) -> AnyOperation? { operations.withLock { $0[id] } }

    /// Releases operations that were added, unless the plan keeps them.
    func forget(_ ids: [Int]) {
        if plan.keepsOperations { return }
        for id in ids {
            let operation = operations.withLock { $0[id].take() }
            withExtendedLifetime(operation) {}
        }
    }
}
