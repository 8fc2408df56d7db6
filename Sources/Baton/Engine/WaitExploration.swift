/// Follows waits from some operations in one direction, an edge at a time, and notes the graph that it sees.
///
/// Lists of dependents and waiters can be long, so each is read in pieces: a prefix that grows as it is used up, copied
/// under the lock of its operation. What is registered behind it meanwhile looks for its own cycles.
struct WaitExploration {
    enum Direction {
        /// To what must finish before.
        case upstream
        /// As ``upstream``, and also through the dependencies of operations that nobody has added yet, and the children
        /// of groups that do not run yet, as they are now.
        case upstreamOfUnadded
        /// To what cannot go on before.
        case downstream
    }

    private static let firstPiece = 8

    private let direction: Direction
    /// Each one's place is its node in the graph.
    private(set) var operations: [AnyOperation] = []
    private(set) var graph = Digraph()
    /// It was not added when its dependencies were read.
    private(set) var isUnadded: [Bool] = []
    private var nodes: [ObjectIdentifier: Int32] = [:]
    private var goals: Set<ObjectIdentifier> = []
    /// It has come to an operation of the other end, so there probably is a cycle.
    private(set) var hasReachedGoal = false
    /// Of the node that is open.
    private var piece = AnyOperation.Neighbours(isWhole: false)
    private var limit = 0
    private var used = 0

    /// - Parameter goals: See ``hasReachedGoal``.
    init(from starts: some Sequence<AnyOperation>, _ direction: Direction, goals: some Sequence<AnyOperation> = []) {
        self.direction = direction
        for start in starts { _ = enter(start) }
        for goal in goals { self.goals.insert(ObjectIdentifier(goal)) }
    }

    var isExhausted: Bool { graph.count == operations.count }

    /// How much work it has done.
    private(set) var steps = 0

    /// Looks at one edge, or finds that a node has no more.
    mutating func step() {
        steps += 1
        if used < piece.operations.count {
            follow(piece.operations[used])
            used += 1
        } else if piece.isWhole {
            closeNode()
        } else {
            limit = limit == 0 ? Self.firstPiece : 4 * limit
            // From the beginning: some may have left the list meanwhile.
            piece = operations[graph.count].neighbours(direction, first: limit)
            used = 0
        }
    }

    /// - Parameter limit: Of ``steps``. Nil: no limit.
    /// - Returns: Whether all has been seen.
    mutating func run(upTo limit: Int?) -> Bool {
        while !isExhausted {
            if let limit, steps >= limit { return false }
            step()
        }
        return true
    }

    func node(of operation: AnyOperation) -> Int? { nodes[ObjectIdentifier(operation)].map { Int($0) } }

    private mutating func closeNode() {
        graph.closeNode()
        isUnadded.append(piece.isOfUnadded)
        piece = AnyOperation.Neighbours(isWhole: false)
        limit = 0
        used = 0
    }

    private mutating func follow(_ neighbour: AnyOperation) {
        if goals.contains(ObjectIdentifier(neighbour)) { hasReachedGoal = true }
        graph.addEdge(to: enter(neighbour))
    }

    /// Its node.
    private mutating func enter(_ operation: AnyOperation) -> Int {
        if let node = nodes[ObjectIdentifier(operation)] { return Int(node) }
        nodes[ObjectIdentifier(operation)] = Int32(operations.count)
        operations.append(operation)
        return operations.count - 1
    }
}

extension AnyOperation {
    /// Operations that this one waits for, or that wait for it.
    struct Neighbours {
        var operations: [AnyOperation] = []
        /// There are no more.
        var isWhole: Bool
        /// Nobody has added the operation whose neighbours these are.
        var isOfUnadded = false
    }

    fileprivate final func neighbours(_ direction: WaitExploration.Direction, first limit: Int) -> Neighbours {
        switch direction {
        case .upstream: waitsFor(first: limit)
        case .upstreamOfUnadded: waitsFor(first: limit, ifUnadded: true)
        case .downstream: isWaitedForBy(first: limit)
        }
    }

    /// The operations that must finish before this one can go on. The dependencies of an operation that nobody has
    /// added, and the children of a group that does not run, may still change, and count only `ifUnadded`.
    final func waitsFor(first limit: Int, ifUnadded: Bool = false) -> Neighbours {
        var (neighbours, groups, listeners) = withLife {
            life -> (Neighbours, [ChildGroup], [any OutcomeListener]) in
            switch life.phase {
            case .created:
                if !ifUnadded { return (Neighbours(isWhole: true), [], []) }
                return (sources(first: limit, isUnadded: true), life.optionalState?.childGroups ?? [], [])
            case .added:
                if life.optionalState?.endAfterLinking != nil { return (Neighbours(isWhole: true), [], []) }
                return (sources(first: limit), ifUnadded ? life.optionalState?.childGroups ?? [] : [], [])
            case .evaluating, .executing, .finishing:
                guard let optionalState = life.optionalState else { break }
                let awaited = Array(optionalState.waits.all.lazy.compactMap { $0?.operation }.prefix(limit))
                return (
                    Neighbours(operations: awaited, isWhole: awaited.count < limit), optionalState.childGroups,
                    optionalState.listeners
                )
            case .finished: break
            }
            return (Neighbours(isWhole: true), [], [])
        }
        for group in groups {
            let children = group.waitsFor(first: limit, includesPlanned: ifUnadded)
            neighbours.operations += children
            if children.count >= limit { neighbours.isWhole = false }
        }
        for listener in listeners { neighbours.operations += listener.waitsFor }
        return neighbours
    }

    /// Locked by the caller, and not finished.
    private final func sources(first limit: Int, isUnadded: Bool = false) -> Neighbours {
        let sources = edges.first(limit)
        return Neighbours(operations: sources, isWhole: sources.count < limit, isOfUnadded: isUnadded)
    }

    /// What cannot go on before this has finished.
    final func isWaitedForBy(first limit: Int) -> Neighbours {
        // Copied: who appends a waiter meanwhile would else copy all of them.
        let (dependents, waiters) = withLife { life in
            (life.dependents.retained(first: limit), life.optionalState.map { Array($0.waiters.prefix(limit)) } ?? [])
        }
        return Neighbours(
            operations: dependents + waiters.compactMap(\.waitingBody),
            isWhole: dependents.count < limit && waiters.count < limit)
    }

    final var waitsFor: [AnyOperation] { waitsFor(first: .max).operations }
}
