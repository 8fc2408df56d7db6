/// A cycle of operations, each of which waits for the next one. It begins with an operation that waits for exclusions.
struct DeadlockedCycle {
    struct Claimant {
        let operation: AnyOperation
        let claimNumber: UInt32
        let arrival: UInt64
    }

    private let members: [AnyOperation]
    private let victimClaim: Claimant

    var victim: AnyOperation { victimClaim.operation }

    /// Makes the cycle begin with the operation that requested its exclusions last. So if two threads find the cycle at
    /// the same time, both choose the same victim.
    /// Returns nil if no member waits for exclusions.
    init?(_ cycle: [AnyOperation], waiting: [Claimant]) {
        guard let victimClaim = waiting.max(by: { $0.arrival < $1.arrival }) else { return nil }
        guard let first = cycle.firstIndex(where: { $0 === victimClaim.operation }) else {
            preconditionFailure("an operation that waits for exclusions on a cycle is not on the cycle")
        }
        members = Array(cycle[first...] + cycle[..<first])
        self.victimClaim = victimClaim
    }

    /// Fails the first member. The other members leave their wait queues, so that claims queued ahead of them are not
    /// granted first: the operations with those claims could in turn wait for the members.
    func `break`() {
        // Made first, because a member that has left its wait queues is not known to wait for the width of a group.
        let path = members.indices.filter { !members[$0].isFence }.map(reference)
        for member in members.dropFirst() { _ = ExclusionManager.leaveQueues(member) }
        victim.endAsDeadlocked(path, claim: victimClaim.claimNumber)
    }

    /// Returns the reference to the member at `index`, with what it waits for.
    private func reference(toMemberAt index: Int) -> OperationReference {
        let (member, next) = (members[index], members[index + 1 == members.count ? 0 : index + 1])
        var reference = member.reference
        guard let obstacle = ExclusionManager.obstacle(for: member) else { return reference }
        if case .group(let group, let width) = obstacle.name {
            reference.cycleLink = .width(of: group, width)
        } else {
            let isHeldByNext = obstacle.holder === next && ExclusionManager.wait(of: next, upTo: 1) == nil
            let isBody = next.withLifecycle { $0.phase == .executing && $0.optionalState?.childGroups.isEmpty != false }
            reference.cycleLink = .exclusion("\(obstacle.name)", isHeldByNext: isHeldByNext, isNextBody: isBody)
        }
        return reference
    }
}

/// A member of a deadlocked set. Two searches that find equal members have found the operation in the same wait.
struct StuckOperation: Equatable {
    let operation: AnyOperation
    /// The arrival of the claim that waits; nil if the operation waits for no exclusions.
    let arrival: UInt64?
    let claimNumber: UInt32

    fileprivate var claimant: DeadlockedCycle.Claimant? {
        arrival.map { DeadlockedCycle.Claimant(operation: operation, claimNumber: claimNumber, arrival: $0) }
    }
}

extension [StuckOperation] {
    fileprivate var byOperation: [ObjectIdentifier: StuckOperation] {
        Dictionary(map { (ObjectIdentifier($0.operation), $0) }) { $1 }
    }

    fileprivate func includes(_ others: [StuckOperation]) -> Bool {
        let members = byOperation
        return others.allSatisfy { members[ObjectIdentifier($0.operation)] == $0 }
    }
}

/// The operations that `origin` waits for, directly or not, and that can never finish unless one of them fails, in
/// whatever order the wait queues are served. The search has a limit, and operations beyond it are assumed to
/// finish.
///
/// - Complexity: O(n²) for n operations, if one round of ``findStuckOperations()`` finds all that can finish, and O(n³)
///   if each round finds one. The search follows at most ``Deadlocks/searchLimit`` waits, so n is at most that number
///   plus one, however many operations wait in the process.
struct DeadlockedSet {
    private struct Node {
        let operation: AnyOperation
        /// The operations that this operation waits for, other than through exclusions.
        var sources: [Int] = []
        /// The operations whose exclusions this operation waits for; nil if it waits for none.
        var holders: [Int]?
        var claimNumber: UInt32 = 0
        /// The arrival of the claim that waits; nil if the operation waits for no exclusions.
        var arrival: UInt64?

        var asStuckOperation: StuckOperation {
            StuckOperation(operation: operation, arrival: arrival, claimNumber: claimNumber)
        }
    }

    private var nodes: [Node]
    private var stuck: [Int] = []
    private var stuckPlaces: Set<Int> = []
    /// True if the search has reached its limit.
    private(set) var exceedsLimit = false
    /// True if a member waits behind others in the wait queue of an exclusion.
    private(set) var dependsOnQueues = false

    init(from origin: AnyOperation) {
        nodes = [Node(operation: origin)]
        collectNodes()
        findStuckOperations()
    }

    private mutating func collectNodes() {
        var places = [ObjectIdentifier(nodes[0].operation): 0]
        var left = Deadlocks.searchLimit
        func place(of operation: AnyOperation) -> Int {
            let place = places[ObjectIdentifier(operation), default: nodes.count]
            if place == nodes.count {
                places[ObjectIdentifier(operation)] = place
                nodes.append(Node(operation: operation))
            }
            return place
        }
        var next = 0
        while next < nodes.count {
            let operation = nodes[next].operation
            // The claim number is read before the waits. If the operation has requested its next claim since, the
            // number is out of date, and the confirmation by a second search fails.
            nodes[next].claimNumber = operation.claimNumber
            let sources = operation.waitsFor(first: left).operations.prefix(left)
            left -= sources.count
            nodes[next].sources = sources.map(place)
            if let wait = ExclusionManager.wait(of: operation, upTo: left) {
                left -= wait.holders.count
                nodes[next].holders = wait.holders.map(place)
                nodes[next].arrival = wait.arrival
                if wait.isBehindOthers { dependsOnQueues = true }
            }
            next += 1
            if left <= 0 {
                exceedsLimit = true
                return
            }
        }
    }

    private mutating func findStuckOperations() {
        var isFinishable = nodes.map { _ in false }
        var unfinished = Set(nodes.map { ObjectIdentifier($0.operation) })
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            // In reverse order, because operations that wait for nobody were found last.
            for place in nodes.indices.reversed() where !isFinishable[place] {
                let node = nodes[place]
                guard node.sources.allSatisfy({ isFinishable[$0] }),
                    node.holders == nil || ExclusionManager.fits(node.operation, beside: unfinished)
                else { continue }
                isFinishable[place] = true
                unfinished.remove(ObjectIdentifier(node.operation))
                isGrowing = true
            }
        }
        stuck = nodes.indices.filter { !isFinishable[$0] }
        stuckPlaces = Set(stuck)
    }

    func includes(_ operation: AnyOperation) -> Bool { stuck.contains { nodes[$0].operation === operation } }

    private var members: [StuckOperation] { stuck.map { nodes[$0].asStuckOperation } }

    func isPart(of other: DeadlockedSet) -> Bool { other.members.includes(members) }

    /// Returns a cycle of stuck operations. A cycle with an operation that is not stuck is not a deadlock, because
    /// another holder can release the exclusions that this operation waits for.
    ///
    /// The cycle goes through the operation that requested its exclusions last. So if two threads search from different
    /// operations of one set, in which several cycles share a limited name, both choose the same victim.
    func cycle() -> DeadlockedCycle? {
        let claimants = stuck.compactMap { place in nodes[place].arrival.map { (place, $0) } }
        for (claimant, _) in claimants.sorted(by: { $0.1 > $1.1 }) {
            guard let cycle = cycle(through: claimant) else { continue }
            let members = cycle.map { nodes[$0].asStuckOperation }
            return DeadlockedCycle(members.map(\.operation), waiting: members.compactMap(\.claimant))
        }
        return nil
    }

    /// Returns a shortest cycle through the operation at `start`.
    private func cycle(through start: Int) -> [Int]? {
        var found = [(place: start, from: -1)]
        var seen: Set<Int> = [start]
        var next = 0
        while next < found.count {
            let node = nodes[found[next].place]
            for neighbour in node.sources + (node.holders ?? []) where stuckPlaces.contains(neighbour) {
                if neighbour == start { return path(to: next, in: found) }
                if seen.insert(neighbour).inserted { found.append((neighbour, next)) }
            }
            next += 1
        }
        return nil
    }

    private func path(to end: Int, in found: [(place: Int, from: Int)]) -> [Int] {
        var path: [Int] = []
        var next = end
        while next >= 0 {
            path.append(found[next].place)
            next = found[next].from
        }
        return path.reversed()
    }
}

// MARK: - Simulation

/// Simulates, on a copy of the ``ExclusionStateMachine``, that every operation which can finish does so and releases
/// its exclusions.
///
/// - Complexity: Without a deadlock, roughly proportional to the number of operations, waits and claims on these
///   exclusions. Each further cycle, and each pass over the operations that only queues keep waiting, may take as long
///   again, so O(n²) at worst for n operations. The thread that has closed a cycle simulates no more than
///   ``Deadlocks/searchLimit`` operations. A sweep has no limit: thousands of operations that wait for one another keep
///   its background task busy, and on a seeded executor the caller.
struct WaitSimulation {
    private struct Node {
        let operation: AnyOperation
        let claimNumber: UInt32
        /// The arrival of the claim that waits in the copy; nil if the operation waits for no exclusions there.
        let arrival: UInt64?
        /// The operations that this operation waits for, other than through exclusions.
        var sources: [Int] = []
        /// The operations that wait for this one, other than through exclusions.
        var dependents: [Int] = []
        var unfinishedSources = 0
        var hasExclusions: Bool
        var isFinishable = false

        var asStuckOperation: StuckOperation {
            StuckOperation(operation: operation, arrival: arrival, claimNumber: claimNumber)
        }
    }

    private var machine: ExclusionStateMachine<AnyOperation>
    private var nodes: [Node] = []
    private var places: [ObjectIdentifier: Int] = [:]
    /// The operations that would get their exclusions if they were not queued behind others.
    private var blockedOnlyByQueues: [StuckOperation] = []
    private var stuck: [StuckOperation] = []
    private var cycles: [DeadlockedCycle] = []
    /// The waits for queues. If there are any, the simulation ends these waits, and no other cycles.
    private var decisions: QueueDecisions
    /// The waits for queues that have to end, each with a cycle through it.
    private var endlessWaits: [(wait: QueueWait, cycle: [AnyOperation])] = []

    /// True if all operations can finish.
    var isClear: Bool { blockedOnlyByQueues.isEmpty && cycles.isEmpty && endlessWaits.isEmpty }

    /// Returns nil if there are more operations or claims than `limit`, or if one operation waits for at least as many
    /// others.
    ///
    /// - Parameter decisions: The waits for queues that the simulation follows.
    init?(from origins: [AnyOperation], through decisions: QueueDecisions = QueueDecisions(), limit: Int = .max) {
        guard let machine = ExclusionManager.snapshot(maxClaims: limit) else { return nil }
        self.machine = machine
        self.decisions = decisions
        guard collectNodes(from: origins, limit: limit) else { return nil }
        run()
    }

    private mutating func collectNodes(from origins: [AnyOperation], limit: Int) -> Bool {
        var search = ExclusionTable.BlockerSearch(limit: .max)
        for origin in origins { _ = place(of: origin) }
        var next = 0
        while next < nodes.count {
            if nodes.count > limit { return false }
            let operation = nodes[next].operation
            let decision = decisions.sources(of: operation)
            let sources = decision == nil ? operation.waitsFor(first: limit) : nil
            if sources?.isComplete == false { return false }
            for source in decision?.operations ?? sources?.operations ?? [] {
                let place = place(of: source)
                nodes[next].sources.append(place)
                nodes[place].dependents.append(next)
            }
            let count = nodes[next].sources.count
            nodes[next].unfinishedSources = decision?.oneSuffices == true ? min(1, count) : count
            for holder in machine.possibleBlockers(of: operation, within: &search) { _ = place(of: holder) }
            next += 1
        }
        return true
    }

    private mutating func place(of operation: AnyOperation) -> Int {
        if let place = places[ObjectIdentifier(operation)] { return place }
        let isWaiting = if case .waiting = machine.claimState(of: operation) { true } else { false }
        let arrival = isWaiting ? machine.arrival(of: operation) : nil
        places[ObjectIdentifier(operation)] = nodes.count
        // This claim number may be newer than the claim in the copy. The confirmation by a second simulation then
        // fails, because each claim has an arrival of its own.
        nodes.append(
            Node(
                operation: operation, claimNumber: operation.claimNumber, arrival: arrival,
                hasExclusions: !isWaiting))
        return nodes.count - 1
    }

    private mutating func run() {
        for place in nodes.indices { finish(place) }
        letThoseBlockedByQueuesPass()
        if !decisions.isEmpty { return findEndlessWaits() }
        stuck = nodes.filter { !$0.isFinishable }.map(\.asStuckOperation)
        for place in nodes.indices {
            while !nodes[place].isFinishable { breakCycle(from: place) }
        }
    }

    /// Finds the waits for queues that are on cycles of stuck operations. After each of them, the operations that can
    /// finish because this wait ends are assumed to do so.
    ///
    /// - Complexity: O(n + e) for n stuck operations and e waits, and as much again for each wait for idleness, whose
    ///   error names its cycle.
    private mutating func findEndlessWaits() {
        var graph = Digraph()
        for node in nodes.indices {
            if !nodes[node].isFinishable { for next in stuckNeighbours(of: node) { graph.addEdge(to: next) } }
            graph.closeNode()
        }
        var ended: [Int] = []
        for place in graph.cyclicComponents().joined().sorted() where !nodes[place].isFinishable {
            guard let wait = decisions.wait(of: nodes[place].operation), wait.isSearched else { continue }
            var cycle: [Int] = []
            if wait.goal == .idleness {
                guard let found = graph.cycle(through: place, where: { !nodes[$0].isFinishable }) else { continue }
                cycle = found
            }
            endlessWaits.append(
                (wait, cycle.map { nodes[$0].operation }.filter { !decisions.isShared($0) }))
            ended.append(place)
            assumeFinished(place)
        }
        // Only what these waits directly or indirectly wait for has to be confirmed.
        stuck = graph.reachable(from: ended).filter { !decisions.isShared(nodes[$0].operation) }
            .map { nodes[$0].asStuckOperation }
    }

    /// The operations that cannot finish and that this one waits for. The cycle of a wait may lead through any of the
    /// holders that share a name, not only through the first. At most 256 of them are followed, so that n operations
    /// that wait for n holders do not make n² edges.
    private func stuckNeighbours(of place: Int) -> [Int] {
        var search = ExclusionTable.BlockerSearch(limit: 256)
        let holders =
            nodes[place].hasExclusions
            ? [] : machine.possibleBlockers(of: nodes[place].operation, within: &search)
        return (nodes[place].sources + holders.compactMap { places[ObjectIdentifier($0)] })
            .filter { !nodes[$0].isFinishable }
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
                // An operation outside the graph was queued behind a member. It has not begun and waits for nothing but
                // exclusions, so it is assumed to finish.
                guard let place = places[ObjectIdentifier(next)] else {
                    finishing.append(next)
                    continue
                }
                nodes[place].hasExclusions = true
                note(place)
            }
        }
    }

    private mutating func letThoseBlockedByQueuesPass() {
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for place in nodes.indices where !nodes[place].hasExclusions {
                let operation = nodes[place].operation
                guard machine.claimState(of: operation) == .waiting(isQueued: true), machine.isAllowed(operation) else {
                    continue
                }
                blockedOnlyByQueues.append(nodes[place].asStuckOperation)
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
        let waiting = cycle.filter { !nodes[$0].hasExclusions }.compactMap { nodes[$0].asStuckOperation.claimant }
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

    /// Resolves the deadlocks that both simulations have found. Because the same operations are stuck in both, their
    /// waits have existed throughout the time between the two.
    @discardableResult
    func resolve(confirmedBy second: WaitSimulation) -> Resolution {
        let queued = second.blockedOnlyByQueues.byOperation
        let confirmed = blockedOnlyByQueues.filter { queued[ObjectIdentifier($0.operation)] == $0 }
        if confirmed.count(where: { ExclusionManager.leaveQueues($0.operation) }) > 0 { return .queuesLeft }
        guard second.stuck.includes(stuck) else { return .unconfirmed }
        for cycle in cycles { cycle.break() }
        for (wait, cycle) in endlessWaits { wait.end(cycle) }
        return .ended
    }

    enum Resolution {
        /// The second simulation does not confirm the first one.
        case unconfirmed
        /// Claims have left their wait queues.
        case queuesLeft
        /// The deadlocks have been broken.
        case ended
    }
}
