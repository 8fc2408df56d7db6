/// A simulation in which every operation that can finish does, and releases its exclusions to those that wait for them.
/// It runs to its end on a copy of the ``ExclusionStateMachine``. The time is roughly proportional to the number of
/// operations, waits and claims on the exclusions in question.
struct WaitSimulation {
    private struct Node {
        let operation: AnyOperation
        let number: UInt32
        let waitsForExclusions: Bool
        /// The operations that it waits for, except because of exclusions.
        var sources: [Int] = []
        /// The operations that wait for it, except because of exclusions.
        var dependents: [Int] = []
        var unfinishedSources = 0
        var hasExclusions: Bool
        var isFinishable = false
    }

    private var machine: ExclusionStateMachine<AnyOperation>
    private var nodes: [Node] = []
    private var places: [ObjectIdentifier: Int] = [:]
    /// The operations that would get their exclusions if they were not queued behind others.
    private var queueJumpers: [AnyOperation] = []
    private var stuck: [StuckOperation] = []
    private var cycles: [DeadlockedCycle] = []

    /// True if all operations can finish.
    var isClear: Bool { queueJumpers.isEmpty && cycles.isEmpty }

    /// Returns nil if there are more operations or claims than `limit`.
    init?(from origins: [AnyOperation], limit: Int = .max) {
        guard let machine = ExclusionManager.snapshot(maxClaims: limit) else { return nil }
        self.machine = machine
        guard collectNodes(from: origins, limit: limit) else { return nil }
        run()
    }

    private mutating func collectNodes(from origins: [AnyOperation], limit: Int) -> Bool {
        var extent = ExclusionTable.Extent(limit: .max)
        for origin in origins { _ = place(of: origin) }
        var next = 0
        while next < nodes.count {
            if nodes.count > limit { return false }
            let operation = nodes[next].operation
            for source in operation.waitsFor {
                let place = place(of: source)
                nodes[next].sources.append(place)
                nodes[place].dependents.append(next)
            }
            nodes[next].unfinishedSources = nodes[next].sources.count
            for holder in machine.possibleBlockers(of: operation, within: &extent) { _ = place(of: holder) }
            next += 1
        }
        return true
    }

    private mutating func place(of operation: AnyOperation) -> Int {
        if let place = places[ObjectIdentifier(operation)] { return place }
        let number = operation.claimNumber
        let isWaiting = if case .waiting = machine.standing(of: operation) { true } else { false }
        places[ObjectIdentifier(operation)] = nodes.count
        nodes.append(
            Node(operation: operation, number: number, waitsForExclusions: isWaiting, hasExclusions: !isWaiting))
        return nodes.count - 1
    }

    private mutating func run() {
        for place in nodes.indices { finish(place) }
        letQueueJumpersPass()
        stuck = nodes.filter { !$0.isFinishable }.map {
            StuckOperation(operation: $0.operation, waitsForExclusions: $0.waitsForExclusions, number: $0.number)
        }
        for place in nodes.indices {
            while !nodes[place].isFinishable { breakCycle(from: place) }
        }
    }

    /// Finishes the operation at `first` if it can finish, and then all others that can finish because of that.
    private mutating func finish(_ first: Int) {
        var finishing: [AnyOperation] = []
        func note(_ place: Int) {
            let node = nodes[place]
            if node.isFinishable || !node.hasExclusions || node.unfinishedSources > 0 { return }
            nodes[place].isFinishable = true
            finishing.append(node.operation)
        }
        note(first)
        while let operation = finishing.popLast() {
            if let place = places[ObjectIdentifier(operation)] {
                for dependent in nodes[place].dependents {
                    nodes[dependent].unfinishedSources -= 1
                    note(dependent)
                }
            }
            for next in machine.release(operation).granted {
                // An operation that is not in the graph waits for nothing but exclusions, so it can finish.
                guard let place = places[ObjectIdentifier(next)] else {
                    finishing.append(next)
                    continue
                }
                nodes[place].hasExclusions = true
                note(place)
            }
        }
    }

    private mutating func letQueueJumpersPass() {
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for place in nodes.indices where !nodes[place].hasExclusions {
                let operation = nodes[place].operation
                guard machine.standing(of: operation) == .waiting(isQueued: true), machine.isAllowed(operation) else {
                    continue
                }
                queueJumpers.append(operation)
                for next in machine.leaveQueues(operation) {
                    guard let place = places[ObjectIdentifier(next)] else { continue }
                    nodes[place].hasExclusions = true
                    finish(place)
                }
                isGrowing = true
            }
        }
    }

    /// Follows the waits of a stuck operation to a cycle, and ends the cycle as if one of its members had failed.
    private mutating func breakCycle(from start: Int) {
        var path: [Int] = []
        var steps: [Int: Int] = [:]
        var place = start
        while steps[place] == nil {
            steps[place] = path.count
            path.append(place)
            guard let next = nextStuck(after: place) else { return assumeFinished(place) }
            place = next
        }
        let cycle = path[steps[place]!...]
        let waiting = cycle.filter { !nodes[$0].hasExclusions }.map { place in
            let node = nodes[place]
            return DeadlockedCycle.Claimant(
                operation: node.operation, number: node.number, arrival: machine.arrival(of: node.operation) ?? 0)
        }
        // If nobody on the cycle waits for exclusions, it is left to ``CycleFinder``.
        guard let deadlock = DeadlockedCycle(cycle.map { nodes[$0].operation }, waiting: waiting) else {
            return assumeFinished(place)
        }
        cycles.append(deadlock)
        assumeFinished(places[ObjectIdentifier(deadlock.victim)]!)
    }

    private func nextStuck(after place: Int) -> Int? {
        if let source = nodes[place].sources.first(where: { !nodes[$0].isFinishable }) { return source }
        return machine.obstacle(for: nodes[place].operation).flatMap { places[ObjectIdentifier($0.holder)] }
    }

    /// Assumes that the operation finishes, because it fails here or because another search will end it.
    private mutating func assumeFinished(_ place: Int) {
        nodes[place].hasExclusions = true
        nodes[place].unfinishedSources = 0
        finish(place)
    }

    /// Resolves what a second simulation has found as well, and what was therefore true all the time in between.
    func resolve(confirmedBy second: WaitSimulation) {
        let confirmedJumpers = Set(second.queueJumpers.map { ObjectIdentifier($0) })
        if queueJumpers.filter({ confirmedJumpers.contains(ObjectIdentifier($0)) }).count(
            where: ExclusionManager.leaveQueues)
            > 0
        {
            return
        }
        let confirmed = Dictionary(second.stuck.map { (ObjectIdentifier($0.operation), $0) }) { $1 }
        guard stuck.allSatisfy({ confirmed[ObjectIdentifier($0.operation)] == $0 }) else { return }
        for cycle in cycles { cycle.break() }
    }
}
