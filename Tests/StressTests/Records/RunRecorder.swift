import Baton
import Synchronization

/// Observes the events of a round, and records violations.
final class RunRecorder: Sendable {
    let graph: Graph
    let nodes: [NodeRecord]
    let queues: [QueueRecord]
    let census = ResourceCount()
    /// True if one thread runs everything, so the order of statements is the order in time.
    let isSeeded: Bool
    let trace = Locked<[TraceEvent]>([])
    /// Returns the current priorities of the operations. Operations that wait for them may have raised them.
    let priorities = Locked<(@Sendable () -> [OperationPriority?])?>(nil)
    private let found = Locked<[String]>([])
    let holdings: Holdings
    let hasProbe: Bool
    private let knowsQueues: Bool
    /// True if events determine which exclusions are held. Under threads another thread may report an event a little
    /// late, so the bodies report it themselves.
    private let namesFollowEvents: Bool

    init(_ graph: Graph, hasProbe: Bool, isSeeded: Bool) {
        self.graph = graph
        holdings = Holdings(graph)
        self.isSeeded = isSeeded
        // Without events, the queue of an operation is known only if there is a single queue.
        self.hasProbe = hasProbe
        namesFollowEvents = hasProbe && isSeeded
        knowsQueues = hasProbe || graph.queues.count == 1
        nodes = graph.nodes.map { _ in NodeRecord() }
        queues = graph.queues.map { QueueRecord(width: $0.width) }
    }

    /// True if events determine when the node holds its exclusions. For repeated bodies no event tells when a run
    /// ends.
    func namesFollowEvents(of id: Int) -> Bool { namesFollowEvents && graph.nodes[id].attempts == nil }

    var violations: [String] { found.withLock { $0 } }

    func violation(_ text: @autoclosure () -> String) {
        let text = text()
        found.withLock { $0.append(text) }
    }

    func check(_ isKept: Bool, _ promise: @autoclosure () -> String) {
        if !isKept { violation(promise()) }
    }

    func note(_ event: @autoclosure () -> TraceEvent) {
        if !isSeeded { return }
        let event = event()
        trace.withLock { $0.append(event) }
    }

    func queue(of id: Int) -> Int? {
        if !knowsQueues { return nil }
        let queue = nodes[id].queue.load(ordering: .relaxed)
        return queue >= 0 ? queue : hasProbe ? nil : 0
    }

    // MARK: Outcomes

    /// Checks that every reader of an outcome sees the same one (G1).
    func saw(_ id: Int, _ outcome: Outcome) {
        let first = nodes[id].firstOutcome.withLock { first in
            if first == nil { first = outcome }
            return first
        }
        check(first == outcome, "G1: n\(id) ended with \(outcome) and with \(first!)")
        check(
            nodes[id].handlers.holdingBack.load(ordering: .relaxed) == 0,
            "G28: n\(id) has an outcome, and a willFinish handler has not returned")
        let (starts, ends) = (nodes[id].starts.load(ordering: .relaxed), nodes[id].ends.load(ordering: .relaxed))
        check(starts == ends, "G17: n\(id) has an outcome, and its body has not returned")
    }

    // MARK: Events of the engine

    /// The caller that adds an operation. The event of an add is reported on the task that adds.
    enum Adder {
        /// A group that starts its children, or conditions that bring operations along.
        case engine
        case driver
        /// A body that calls `context.run` or `group.add`.
        case parent
        /// A body that calls `queue.run`.
        case awaiter
        case product

        var addsChildren: Bool { self == .engine || self == .parent }
    }

    @TaskLocal static var adder = Adder.engine

    /// A number that most adds of drivers bind, and that some queues carry to bodies and handlers.
    @TaskLocal static var mark = 0

    /// Checks that the body or a handler of the node sees the task-local of the task that added the operation. Call
    /// this on the task of the body or handler.
    func checkMark(_ id: Int) {
        let (record, queue) = (nodes[id], nodes[id].queue.load(ordering: .relaxed))
        let mark = record.mark.load(ordering: .relaxed)
        if queue < 0 || mark < 0 || !graph.queues[queue].carriesMark { return }
        check(Self.mark == mark, "n\(id) sees the task-local \(Self.mark), and \(mark) was bound around its add")
    }

    func note(_ event: OperationEvent, queue: Int) {
        let id = event.operation.node
        if id < 0 { return }
        // Callers that misuse an operation after its end do not wait for one another, and the probe is called outside
        // the lock that orders the events of observers.
        if case .misuse = event.kind, nodes[id].phase.load(ordering: .relaxed) == 3 { return }
        if let fault = nodes[id].events.withLock({ $0.fault(in: event) }) {
            violation("G27: n\(id): \(fault)")
        }
        let next: Int
        switch event.kind {
        case .added: next = 1
        case .started:
            // An operation with several attempts starts several times; ``EventOrder`` checks their order.
            if graph.nodes[id].attempts != nil, nodes[id].phase.load(ordering: .relaxed) == 2 { return }
            next = 2
        case .finished: next = 3
        case .waiting, .delayed, .evaluating, .ready, .acquiring, .excluded, .waitingForRate, .granted, .progress,
            .produced,
            .retrying, .repeating, .cancelRequested, .misuse, .dropped:
            return
        }
        if next == 1 {
            nodes[id].queue.store(queue, ordering: .relaxed)
            nodes[id].isChild.store(Self.adder.addsChildren, ordering: .relaxed)
            // The children of a group are added by a worker, which binds nothing.
            if Self.adder != .engine { nodes[id].mark.store(Self.mark, ordering: .relaxed) }
        }
        let last = nodes[id].phase.exchange(next, ordering: .relaxed)
        check(last < next && (next == 1) == (last == 0), "G1, G2: event \(next) of n\(id) came after event \(last)")
        if next == 1 {
            let isChild = Self.adder.addsChildren
            note(.added(id, queue: queue, isChild: isChild, isAwaited: isChild || Self.adder == .awaiter))
        } else {
            let key = Holdings.Key(owner: id)
            if next == 2 {
                checkConditions(id)
                if namesFollowEvents(of: id) { holdsNames(key, graph.nodes[id].namesOfTheRun) }
                note(.started(id, queue: queue, priorities: priorities.withLock { $0 }?() ?? []))
            } else if case .finished(let outcome, _) = event.kind {
                if namesFollowEvents(of: id) { holdings.end(key) }
                note(.finished(outcome, id, queue: queue))
            }
        }
    }
}
