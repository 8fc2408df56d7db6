/// A cycle of operations of which each waits for the next, and the last for the first. The first waits for exclusions.
struct DeadlockedCycle {
    struct Claimant {
        let operation: AnyOperation
        let number: UInt32
        let arrival: UInt64
    }

    private let members: [AnyOperation]
    private let last: Claimant

    var victim: AnyOperation { last.operation }

    /// Makes the cycle begin with the operation that requested its exclusions last. So if two threads find the cycle at
    /// the same time, both choose the same victim.
    init?(_ cycle: [AnyOperation], waiting: [Claimant]) {
        guard let last = waiting.max(by: { $0.arrival < $1.arrival }) else { return nil }
        guard let first = cycle.firstIndex(where: { $0 === last.operation }) else {
            preconditionFailure("an operation that waits for exclusions on a cycle is not on the cycle")
        }
        members = Array(cycle[first...] + cycle[..<first])
        self.last = last
    }

    /// Ends the first member with an error. The other members leave their wait queues, so that they pass the claims
    /// before them. Otherwise those would take the exclusions that become free, and could in turn begin to wait for
    /// these members.
    func `break`() {
        for member in members.dropFirst() { _ = ExclusionManager.leaveQueues(member) }
        last.operation.endAsDeadlocked(members.filter { !$0.isFence }.map(\.reference), claim: last.number)
    }
}

struct StuckOperation: Equatable {
    let operation: AnyOperation
    let waitsForExclusions: Bool
    let number: UInt32
}

/// The operations that can never finish unless one of them fails, whatever their wait queues are, among all that one
/// operation waits for. The search has a limit, and operations beyond it are assumed to finish.
struct DeadlockedSet {
    private struct Node {
        let operation: AnyOperation
        /// The operations that it waits for, except because of exclusions.
        var sources: [Int] = []
        /// The operations whose exclusions it waits for; nil if it waits for none.
        var holders: [Int]?
        var number: UInt32 = 0
        var arrival: UInt64 = 0
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
            // The number is read first: an operation that waits for its next claim by now has been granted this one.
            nodes[next].number = operation.claimNumber
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
            // The search begins at the far end, where the operations are that wait for nobody.
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

    private var members: [StuckOperation] {
        stuck.map { place in
            let node = nodes[place]
            return StuckOperation(
                operation: node.operation, waitsForExclusions: node.holders != nil, number: node.number)
        }
    }

    func isPart(of other: DeadlockedSet) -> Bool { members.allSatisfy(other.members.contains) }

    /// Returns a cycle of stuck operations, through `origin` if there is one. Other operations may be on a cycle as
    /// well, and still get what they wait for from somebody else.
    func cycle(preferring origin: AnyOperation) -> DeadlockedCycle? {
        let claimants = stuck.filter { nodes[$0].holders != nil }
        for claimant in claimants.filter({ nodes[$0].operation === origin }) + claimants {
            guard let cycle = cycle(through: claimant) else { continue }
            let waiting = cycle.filter { nodes[$0].holders != nil }.map { nodes[$0] }
            return DeadlockedCycle(
                cycle.map { nodes[$0].operation },
                waiting: waiting.map { .init(operation: $0.operation, number: $0.number, arrival: $0.arrival) })
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
