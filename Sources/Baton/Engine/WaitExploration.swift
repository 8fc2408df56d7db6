/// Follows waits from some operations in one direction, one edge at a time, and builds the graph that it sees.
///
/// Lists of dependents and waiters can be long, so each is read in pieces: a prefix, which grows when it is used up, is
/// copied under the lock of its operation. An operation that is registered behind the prefix meanwhile searches for its
/// own cycles.
struct WaitExploration {
    enum Direction {
        /// Towards the operations that must finish first.
        case upstream
        /// Like ``upstream``, and also through the current dependencies of operations that nobody has added yet, and
        /// through the current children of groups that do not run yet.
        case upstreamOfUnadded
        /// Towards the operations that cannot go on before.
        case downstream
    }

    private static let firstPiece = 8

    private let direction: Direction
    /// The operations that were found. The index of each one is its node in the graph.
    private(set) var operations: [AnyOperation] = []
    private(set) var graph = Digraph()
    /// For each closed node, true if the operation was not added when its dependencies were read.
    private(set) var isUnadded: [Bool] = []
    private var nodes: [ObjectIdentifier: Int32] = [:]
    private var goals: Set<ObjectIdentifier> = []
    /// True if a goal has been reached, so that there probably is a cycle.
    private(set) var hasReachedGoal = false
    /// The part of the open node's neighbours that has been read.
    private var piece = AnyOperation.Neighbours(isWhole: false)
    private var limit = 0
    private var used = 0

    /// - Parameters:
    ///   - starts: The operations from which the waits are followed.
    ///   - goals: The operations that the exploration in the other direction starts from; see ``hasReachedGoal``.
    init(from starts: some Sequence<AnyOperation>, _ direction: Direction, goals: some Sequence<AnyOperation> = []) {
        self.direction = direction
        for start in starts { _ = enter(start) }
        for goal in goals { self.goals.insert(ObjectIdentifier(goal)) }
    }

    var isExhausted: Bool { graph.count == operations.count }

    /// The number of steps that have been made.
    private(set) var steps = 0

    /// Follows one edge, reads more of a node's neighbours, or closes a node that has no more.
    mutating func step() {
        steps += 1
        if used < piece.operations.count {
            follow(piece.operations[used])
            used += 1
        } else if piece.isWhole {
            closeNode()
        } else {
            limit = limit == 0 ? Self.firstPiece : 4 * limit
            // The prefix is read again from the start, because operations may have left the list meanwhile.
            piece = operations[graph.count].neighbours(direction, first: limit)
            used = 0
        }
    }

    /// Makes steps until everything has been seen.
    ///
    /// - Parameter limit: The greatest number of ``steps``, including those made before. Nil means no limit.
    /// - Returns: True if everything has been seen.
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

    /// Returns the node of the operation, which is added if it is new.
    private mutating func enter(_ operation: AnyOperation) -> Int {
        if let node = nodes[ObjectIdentifier(operation)] { return Int(node) }
        nodes[ObjectIdentifier(operation)] = Int32(operations.count)
        operations.append(operation)
        return operations.count - 1
    }
}

extension AnyOperation {
    /// Operations that one operation waits for, or that wait for it.
    struct Neighbours {
        var operations: [AnyOperation] = []
        /// True if there are no more.
        var isWhole: Bool
        /// True if nobody has added the operation whose neighbours these are.
        var isOfUnadded = false
    }

    fileprivate final func neighbours(_ direction: WaitExploration.Direction, first limit: Int) -> Neighbours {
        switch direction {
        case .upstream: waitsFor(first: limit)
        case .upstreamOfUnadded: waitsFor(first: limit, ifUnadded: true)
        case .downstream: isWaitedForBy(first: limit)
        }
    }

    /// Returns the operations that must finish before this one can go on. The dependencies of an operation that nobody
    /// has added, and the children of a group that does not run, may still change, and are included only `ifUnadded`.
    final func waitsFor(first limit: Int, ifUnadded: Bool = false) -> Neighbours {
        var (neighbours, groups, listeners) = withLife {
            life -> (Neighbours, [ChildGroup], [any OutcomeListener]) in
            switch life.phase {
            case .created:
                if !ifUnadded { return (Neighbours(isWhole: true), [], []) }
                return (sources(life, first: limit, isUnadded: true), life.optionalState?.childGroups ?? [], [])
            case .added:
                if life.optionalState?.endAfterLinking != nil { return (Neighbours(isWhole: true), [], []) }
                return (sources(life, first: limit), ifUnadded ? life.optionalState?.childGroups ?? [] : [], [])
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

    /// Returns the dependencies of an operation that has not finished. The state proves that the caller holds the lock.
    private final func sources(_ life: borrowing Lifecycle, first limit: Int, isUnadded: Bool = false) -> Neighbours {
        assert(life.phase == .created || life.phase == .added, "An operation that has begun waits for no dependency.")
        let sources = edges.first(limit)
        return Neighbours(operations: sources, isWhole: sources.count < limit, isOfUnadded: isUnadded)
    }

    /// Returns the operations that cannot go on before this one has finished.
    final func isWaitedForBy(first limit: Int) -> Neighbours {
        // The prefix of the waiters is copied into an array of its own. A slice would share the storage, so that the
        // next append would copy all of it.
        let (dependents, waiters) = withLife { life in
            (life.dependents.retained(first: limit), life.optionalState.map { Array($0.waiters.prefix(limit)) } ?? [])
        }
        return Neighbours(
            operations: dependents + waiters.compactMap(\.waitingBody),
            isWhole: dependents.count < limit && waiters.count < limit)
    }

    final var waitsFor: [AnyOperation] { waitsFor(first: .max).operations }
}
