import Baton

/// Follows the events of a seeded run, and checks what depends on the order in which operations became ready (G23,
/// G24).
struct TraceChecker {
    private struct NodeHistory {
        var queue = -1
        /// True for a child, which starts before other operations of its priority, also in a suspended queue.
        var isChild = false
        var isFinished = false
        var hasBegun = false
        /// The time at which the operation became ready. Operations that became ready in one step have the same
        /// number.
        var ready: Int?
        /// True if the end of another operation made this one ready, false if it was ready when it was added.
        var isReleased = false
        /// The number of released operations of the same priority that have begun before this one, which was not
        /// released, since the last operation that was not released began.
        var passedInARow = 0
        /// Like ``passedInARow``, but including operations that conditions, exclusions or failed dependencies hold
        /// back. They are taken up too, and start later or never.
        var mayHavePassed = 0
        var hasStarted = false
        /// True if a driver has set the priority.
        var isMoved = false
        /// The operations that a barrier separates from this one.
        var separatedFrom: [Int] = []
    }

    private let graph: Graph
    private let withPreconditions: Set<Int>
    /// The groups that may have each node as a child.
    private let families: [[Int]]
    private var dependents: [[Int]]
    private var places: [NodeHistory]
    private var waiting: [[Int]]
    private var isSuspended: [Bool]
    /// The groups that start no further child, because the outcome of one child has decided them.
    private var decided: Set<Int> = []
    private var addBegan: Int?
    /// The time at which an operation finished that may have decided a group. Until another kind of event follows,
    /// other operations end in the same step: the other children are cancelled before the dependents of the first one
    /// are released.
    private var decisionBegan: Int?
    private(set) var faults: [String] = []

    init(_ graph: Graph) {
        self.graph = graph
        withPreconditions = graph.withPreconditions
        var dependents = Array(repeating: [Int](), count: graph.nodes.count)
        for node in graph.nodes { for source in Set(node.sources).sorted() { dependents[source].append(node.id) } }
        self.dependents = dependents
        var families = Array(repeating: [Int](), count: graph.nodes.count)
        for node in graph.nodes {
            for child in node.group.map({ $0.children + $0.late }) ?? [] { families[child].append(node.id) }
        }
        self.families = families
        places = graph.nodes.map { _ in NodeHistory() }
        waiting = graph.queues.map { _ in [] }
        isSuspended = graph.queues.map { _ in false }
    }

    mutating func follow(_ trace: [TraceEvent]) {
        for case .started(let id, _, _) in trace { places[id].hasStarted = true }
        for (time, event) in trace.enumerated() {
            if case .finished = event {} else { decisionBegan = nil }
            switch event {
            case .suspended(let queue): isSuspended[queue] = true
            case .resumed(let queue): isSuspended[queue] = false
            case .width, .addBegan, .addEnded: break
            case .priority(let id): places[id].isMoved = true
            case .asked(let id): asked(id)
            case .added(let id, let queue, let isChild, let isAwaited):
                // Operations that are added in one step become ready in one step, whatever the order of their events.
                let step = addBegan ?? time
                addBegan = step
                if !isAwaited { separate(id, queue) }
                added(id, queue, isChild, step)
                continue
            case .started(let id, let queue, let priorities): started(id, queue, priorities)
            case .finished(let outcome, let id, let queue):
                if decide(id, outcome) { decisionBegan = decisionBegan ?? time }
                finished(id, queue, decisionBegan ?? time)
            }
            addBegan = nil
        }
    }

    private mutating func added(_ id: Int, _ queue: Int, _ isChild: Bool, _ step: Int) {
        places[id].queue = queue
        places[id].isChild = isChild
        listIfReady(id, step)
    }

    /// Notes the barriers that the operation has to respect. Operations that a body awaits are not held back by
    /// barriers.
    private mutating func separate(_ id: Int, _ queue: Int) {
        let isBarrier = graph.nodes[id].isBarrier
        let others = places.indices.filter {
            places[$0].queue == queue && !places[$0].isFinished && (isBarrier || graph.nodes[$0].isBarrier)
        }
        places[id].separatedFrom = others
        for other in others { dependents[other].append(id) }
    }

    private mutating func finished(_ id: Int, _ queue: Int, _ time: Int) {
        places[id].isFinished = true
        if !places[id].hasBegun { passed(id) }
        if let group = graph.nodes[id].group, places[id].hasBegun {
            for child in group.children where places[child].queue >= 0 && !places[child].isFinished {
                faults.append("G17: group n\(id) finished before its child n\(child)")
            }
        }
        waiting[queue].removeAll { $0 == id }
        for dependent in dependents[id] { listIfReady(dependent, time, isReleased: true) }
    }

    /// Notes the group that this outcome decides, and returns true if it may decide any group. In an ordered group the
    /// dependencies do this.
    private mutating func decide(_ id: Int, _ outcome: OperationOutcome) -> Bool {
        let deciding = families[id].filter { graph.nodes[$0].group.map { outcome == $0.decidingOutcome } ?? false }
        if let owner = graph.nodes[id].owner, deciding.contains(owner) { decided.insert(owner) }
        return !deciding.isEmpty
    }

    private mutating func listIfReady(_ id: Int, _ time: Int, isReleased: Bool = false) {
        guard places[id].queue >= 0, !places[id].isFinished, places[id].ready == nil else { return }
        let sources = graph.nodes[id].sources + places[id].separatedFrom
        guard sources.allSatisfy({ places[$0].isFinished }) else { return }
        places[id].ready = time
        places[id].isReleased = isReleased
        waiting[places[id].queue].append(id)
    }

    private mutating func started(_ id: Int, _ queue: Int, _ priorities: [OperationPriority?]) {
        waiting[queue].removeAll { $0 == id }
        places[id].hasBegun = true
        let (node, place) = (graph.nodes[id], places[id])
        for other in place.separatedFrom where !places[other].isFinished {
            faults.append("n\(id) began before n\(other) had finished, and one of them is a barrier")
        }
        if isSuspended[queue] {
            if !place.isChild { faults.append("G24: n\(id) began while queue \(queue) was suspended") }
            return
        }
        if let owner = node.owner, decided.contains(owner) {
            faults.append("n\(id) began although its group n\(owner) had been decided")
        }
        // Operations with conditions or exclusions may begin some time after they were taken up.
        if places[id].isReleased || places[id].ready == nil { passed(id) }
        if places[id].ready != nil, !places[id].isReleased {
            for other in waiting[queue]
            where
                priorities[other] == priorities[id] && places[other].isChild == places[id].isChild
            {
                places[other].passedInARow = 0
                places[other].mayHavePassed = 0
            }
        }
        if withPreconditions.contains(id) { return }
        // A cancelled operation may remain in the list while its `willFinish` handlers run.
        for other in waiting[queue] where places[other].hasStarted && !withPreconditions.contains(other) {
            guard let priority = priorities[id], let rival = priorities[other] else { continue }
            if rival > priority {
                faults.append("G23: n\(id) began before n\(other), of higher priority")
            }
            let areEqual = rival == priority && place.isChild == places[other].isChild
            // An operation whose priority was raised is placed behind the others of that priority.
            let areAsMade =
                priority == node.priority && rival == graph.nodes[other].priority && !places[other].isMoved
                && !places[id].isMoved
            if areEqual, areAsMade, isSerial(queue) { compare(id, with: other, in: graph.queues[queue].order) }
        }
    }

    /// Compares an operation that has begun with one of the same priority that waits in the same serial queue.
    private mutating func compare(_ id: Int, with other: Int, in order: SchedulingOrder) {
        let (place, rival) = (places[id], places[other])
        // For some operations it is unknown when they became ready.
        guard let ready = place.ready else { return }
        switch order {
        case .depthFirst: break
        case .firstInFirstOut:
            if rival.ready! < ready { faults.append("G23: n\(id) began before n\(other), which was ready earlier") }
            return
        case .lastInFirstOut:
            if rival.ready! > ready { faults.append("G23: n\(id) began before n\(other), which was ready later") }
            return
        }
        if !place.isReleased && !rival.isReleased {
            if rival.ready! < ready {
                faults.append("G23: n\(id) began before n\(other), which was ready earlier, in a serial queue")
            }
        } else if place.isReleased, !rival.isReleased {
            places[other].passedInARow += 1
            if places[other].passedInARow > 16 { faults.append("G23: more than 16 in a row began before n\(other)") }
        } else if rival.isReleased, !place.isReleased, place.mayHavePassed < 8 {
            // Half of the limit of 16, because not every operation that is taken up has an event.
            faults.append("G23: n\(id) began before n\(other), which was released, in a serial queue")
        }
    }

    private mutating func passed(_ id: Int) {
        if places[id].queue < 0 { return }
        for other in waiting[places[id].queue] { places[other].mayHavePassed += 1 }
    }

    /// The operation evaluates its conditions next.
    private mutating func asked(_ id: Int) {
        let place = places[id]
        passed(id)
        if isSuspended[place.queue], !place.isChild {
            faults.append("G24: the conditions of n\(id) were asked while queue \(place.queue) was suspended")
        }
    }

    private func isSerial(_ queue: Int) -> Bool { graph.keepsWidths && graph.queues[queue].width == 1 }
}
