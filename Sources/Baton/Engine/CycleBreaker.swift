/// Ends operations on the cycles of a graph of waits that has been explored completely.
///
/// Not one cycle ends but the strongly connected component around it, all of whose operations wait for themselves.
/// Otherwise the order of adding would decide which of several cycles that share operations is found, and so which
/// operations run. Operations of the component that nobody has added yet end when they are added; see ``BrokenCycles``.
struct CycleBreaker {
    struct Result {
        /// True if operations have ended, or if the graph has changed, so that the rest has to be searched again.
        var mustLookAgain = false
        /// Cycles that consist of bodies only, each with the suspect whose wait has closed it.
        var refusals: [(suspect: CycleFinder.Suspect, path: [OperationReference])] = []
    }

    private let exploration: WaitExploration
    private let suspects: [CycleFinder.Suspect]

    /// - Parameters:
    ///   - exploration: An exploration upstream that is exhausted.
    ///   - suspects: The waits and operations that may have closed a cycle.
    init(_ exploration: WaitExploration, closedBy suspects: [CycleFinder.Suspect]) {
        assert(exploration.isExhausted, "A cycle is broken when all of its members are known.")
        self.exploration = exploration
        self.suspects = suspects
    }

    /// Breaks the cycles that the suspects are on.
    func perform() -> Result {
        var result = Result()
        let components = exploration.graph.cyclicComponents()
        if components.isEmpty { return result }
        var suspects: [Int: CycleFinder.Suspect] = [:]
        for suspect in self.suspects {
            guard let node = exploration.node(of: suspect.body ?? suspect.operation) else { continue }
            // A wait takes precedence, because it can be refused.
            if suspects[node]?.body == nil { suspects[node] = suspect }
        }
        var numbers = [Int32](repeating: 0, count: exploration.graph.count)
        for nodes in components {
            let closing = nodes.filter { suspects[$0] != nil }
            if closing.isEmpty { continue }
            let nodes = nodes.sorted()
            let part = exploration.graph.inducedSubgraph(of: nodes, scratch: &numbers)
            guard let root = root(of: part, nodes, preferring: Set(closing)) else { continue }
            let cycleBreak = CycleBreak(
                of: nodes.map { exploration.operations[$0] },
                wasUnadded: nodes.map { exploration.isUnadded[$0] },
                cycles: part.cycleOfEachNode(root: root) { !exploration.isUnadded[nodes[$0]] })
            switch cycleBreak.perform() {
            case .ended, .changed: result.mustLookAgain = true
            case .allBegun(let path):
                let wait = closing.lazy.compactMap { suspects[$0] }.first { $0.body != nil }
                if let wait { result.refusals.append((wait, path)) }
            }
        }
        return result
    }

    /// Returns an operation that is on a cycle of edges that cannot change any more. These are the edges of added
    /// operations, without those of a group that does not run to its children. Returns nil if there is none.
    private func root(of part: Digraph, _ nodes: [Int], preferring closing: Set<Int>) -> Int? {
        var members = Array(nodes.indices)
        if nodes.contains(where: { exploration.mayChange[$0] }) {
            members = fixedEdges(of: part, nodes).cyclicComponents().flatMap(\.self)
        }
        // The operation that was linked last has closed the cycle.
        return members.filter { closing.contains(nodes[$0]) }.max() ?? members.first
    }

    /// Returns the edges of `part` that cannot change any more.
    private func fixedEdges(of part: Digraph, _ nodes: [Int]) -> Digraph {
        var fixed = Digraph()
        for (place, node) in nodes.enumerated() {
            if !exploration.mayChange[node] {
                for target in part[place] { fixed.addEdge(to: Int(target)) }
            } else if !exploration.isUnadded[node] {
                // The group waits for its children only if it has started since.
                let sources = Set(exploration.operations[node].waitsFor.map { ObjectIdentifier($0) })
                for target in part[place] {
                    let operation = exploration.operations[nodes[Int(target)]]
                    if sources.contains(ObjectIdentifier(operation)) { fixed.addEdge(to: Int(target)) }
                }
            }
            fixed.closeNode()
        }
        return fixed
    }
}

// MARK: - Breaks

/// Ends all operations of a strongly connected component that have not begun.
///
/// Every member has to have its outcome before any member releases its dependents. Otherwise a dependent that is a
/// member itself would run instead of failing. The thread that breaks the cycle is not the only one that completes
/// members, however: a member that ends while another thread links it is completed by that thread. So a break is
/// registered before it ends its first member, and stays registered until it has ended the last one. Two kinds of
/// threads help it: a thread that completes a member, and a thread that links an operation to a finished member. Each
/// of them first ends all members of the registered breaks that its operation belongs to. No thread waits for another
/// thread.
final class CycleBreak: Sendable {
    enum Outcome {
        case ended
        /// There is no such cycle any more.
        case changed
        /// Every member either runs its body, or is an unadded operation that a running body waits for. The value is
        /// the cycle.
        case allBegun([OperationReference])
    }

    /// A member that nobody had added when the graph was read.
    private struct Unadded {
        let node: Int
        /// The unadded members whose next operation on their cycle is this member.
        var followers: [Int] = []
    }

    private static let underWay = Locked<[CycleBreak]>([])
    /// The number of registered breaks. If it is zero, a thread that links an operation need not take the lock. The
    /// count rises before the first member ends, so a thread that has seen a member finished, under that member's lock,
    /// cannot miss the break.
    private static let underWayCount = HoldCounter()

    private let operations: [AnyOperation]
    private let cycles: Digraph.Cycles
    /// The error for each of the cycles.
    private let errors: [OperationError]
    private let unadded: [Unadded]
    private let wasUnadded: [Bool]

    /// - Parameter wasUnadded: For each operation, true if nobody had added it when the graph was read.
    init(of operations: [AnyOperation], wasUnadded: [Bool], cycles: Digraph.Cycles) {
        self.operations = operations
        self.wasUnadded = wasUnadded
        self.cycles = cycles
        let members = operations.map { CycleMember($0) }
        errors = cycles.all.map { cycle in .dependencyCycle(CycleMember.path(cycle.map { members[$0] })) }
        var unadded = operations.indices.filter { wasUnadded[$0] }.map { Unadded(node: $0) }
        let places = Dictionary(uniqueKeysWithValues: unadded.enumerated().map { ($1.node, $0) })
        for node in unadded.map(\.node) {
            if let next = places[cycles.next[node]] { unadded[next].followers.append(node) }
        }
        self.unadded = unadded
    }

    /// Ends the members that have not begun.
    func perform() -> Outcome {
        // The dependencies of an added operation change only when it ends. So if all members of the first cycle, which
        // consists of added operations, are unfinished now, that cycle exists now. The other members are looked at too,
        // because an operation that waited for a finished one may be on no cycle any more.
        if operations.contains(where: \.hasFinished) { return .changed }
        if !operations.contains(where: \.isPending), case .dependencyCycle(let path) = errors[0] {
            return .allBegun(path)
        }
        begin()
        finish()
        return .ended
    }

    /// Registers the break: from now on every thread ends all of its members before it completes one.
    func begin() {
        Self.underWay.withLock { $0.append(self) }
        Self.underWayCount.begin()
    }

    /// Ends and completes the members that have not ended yet.
    func finish() {
        let ends = endMembers()
        _ = Self.underWayCount.end()
        Self.underWay.withLock { $0.removeAll { $0 === self } }
        Self.complete(ends, around: operations)
    }

    /// Ends all members of the registered breaks that contain `operation`. Called by the thread that links the
    /// operation to a source that has finished.
    static func foundFinished(by operation: AnyOperation) {
        if !underWayCount.isZero { complete([], around: [operation]) }
    }

    /// Ends all members of the registered breaks that contain one of `operations`, and then completes these ends and
    /// `ends`.
    static func complete(_ ends: [AnyOperation.EarlyEnd], around operations: [AnyOperation]) {
        for end in ends + endMembersOfAll(around: operations) { end.complete() }
    }

    /// Ends all members of the registered breaks that contain one of these operations.
    private static func endMembersOfAll(around operations: [AnyOperation]) -> [AnyOperation.EarlyEnd] {
        let underWay = underWay.withLock { $0 }
        if underWay.isEmpty { return [] }
        let around = Set(operations.map { ObjectIdentifier($0) })
        return underWay.flatMap { cycleBreak in
            let isShared = cycleBreak.operations.contains { around.contains(ObjectIdentifier($0)) }
            return isShared ? cycleBreak.endMembers() : []
        }
    }

    /// Ends the members that have not ended. Several threads may call this at once. Each call returns the ends that it
    /// has brought about, for its caller to complete.
    private func endMembers() -> [AnyOperation.EarlyEnd] {
        // The cycles are noted before any member ends, so that a member that is added from now on finds that it is on
        // one.
        for member in unadded {
            operations[member.node].noteBrokenCycle(
                error(of: member.node), next: next(of: member.node),
                followers: member.followers.lazy.map { self.operations[$0] })
        }
        var ends = operations.indices.compactMap { end($0) }
        // A member may have been added in between, when the operation that it waits for had not ended. So unadded
        // members are tried a second time.
        ends += unadded.compactMap { end($0.node) }
        return ends + AnyOperation.endFollowers(of: operations)
    }

    private func end(_ node: Int) -> AnyOperation.EarlyEnd? {
        if !wasUnadded[node] { return operations[node].endWhileAdded(with: error(of: node)) }
        return operations[node].endWhileAdded(with: error(of: node), dependingOn: next(of: node))
    }

    private func error(of node: Int) -> OperationError { errors[cycles.cycleIndices[node]] }
    private func next(of node: Int) -> AnyOperation { operations[cycles.next[node]] }
}
