import Baton
import Synchronization

/// Sees what happens in a round, and notes what must not.
final class Ledger: Sendable {
    let graph: Graph
    let nodes: [NodeRecord]
    let queues: [QueueRecord]
    let census = ResourceCount()
    /// One thread runs everything, so that what comes first in the code comes first in time.
    let isSeeded: Bool
    let trace = Locked<[TraceEvent]>([])
    /// What the operations have at the moment: what waits for them may have raised it.
    let priorities = Locked<(@Sendable () -> [OperationPriority?])?>(nil)
    private let found = Locked<[String]>([])
    let holdings: Holdings
    let hasProbe: Bool
    private let knowsQueues: Bool
    /// Under threads an event may be told a little later than it is true, by another thread: bodies say it themselves.
    private let namesFollowEvents: Bool

    init(_ graph: Graph, hasProbe: Bool, isSeeded: Bool) {
        self.graph = graph
        holdings = Holdings(graph)
        self.isSeeded = isSeeded
        // Without events, only a single queue is known to be the one.
        self.hasProbe = hasProbe
        namesFollowEvents = hasProbe && isSeeded
        knowsQueues = hasProbe || graph.queues.count == 1
        nodes = graph.nodes.map { _ in NodeRecord() }
        queues = graph.queues.map { QueueRecord(width: $0.width) }
    }

    /// Nor do events tell when the run of one that repeats is over.
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

    /// Everybody who sees an outcome sees the same one (G1).
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

    /// Who adds. The event of an add comes on the task that adds.
    enum Adder {
        /// A group that starts, or conditions that bring something along.
        case engine
        case driver
        /// A body, inside `context.run` or `group.add`.
        case parent
        /// A body, inside `queue.run`.
        case awaiter
        case product

        var addsChildren: Bool { self == .engine || self == .parent }
    }

    @TaskLocal static var adder = Adder.engine

    func told(_ event: OperationEvent, queue: Int) {
        let id = event.operation.node
        if id < 0 { return }
        // Those who misuse it after its end do not wait for one another, and this is called outside the lock that
        // orders what observers are told.
        if case .misuse = event.kind, nodes[id].phase.load(ordering: .relaxed) == 3 { return }
        if let fault = nodes[id].events.withLock({ $0.fault(in: event) }) {
            violation("G27: n\(id): \(fault)")
        }
        let next: Int
        switch event.kind {
        case .added: next = 1
        case .started:
            // As ``EventOrder`` says.
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
