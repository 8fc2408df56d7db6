/// Finds operations that wait for one another, and ends them.
///
/// A search runs after the new links or the new wait have become visible to other threads. If several threads add one
/// member of a cycle each, the thread that links last therefore sees the links of all others. Two threads may both find
/// the cycle.
///
/// A search explores upstream and downstream of the new edges alternately, and ends when one of the two directions has
/// been explored completely. Usually one of them contains almost nothing, so this takes few steps. ``Budget`` limits
/// the number of steps. If they do not suffice to decide, the search leaves its suspects to ``QueueCore/sweep()``,
/// which searches from all postponed suspects together.
enum CycleFinder {
    /// A wait, or an operation that has been added, that may have closed a cycle.
    struct Suspect {
        /// The operation that the body waits for, or the operation that has been added.
        let operation: AnyOperation
        /// The operation whose body waits. Nil if the suspect is an operation that has been added.
        var body: AnyOperation?
    }

    /// The number of steps after which an exploration stops. A search that has stopped is postponed.
    struct Budget {
        /// The limit while there is no sign of a cycle. Nil means no limit.
        let usual: Int?
        /// The limit if there is probably a cycle. It is higher, because this is rare, and a small cycle should be
        /// broken by the call that closes it.
        let ifPromising: Int?

        static let unlimited = Budget(usual: nil, ifPromising: nil)

        /// - Parameters:
        ///   - links: The number of edges that are new.
        ///   - hasPostponedSearch: True if another search has been postponed already.
        init(links: Int, hasPostponedSearch: Bool) {
            // Postponing a search costs little if there will be a sweep anyway.
            let usual = hasPostponedSearch ? 32 : 256
            self.init(usual: usual + 8 * links, ifPromising: 8 * (usual + links))
        }

        private init(usual: Int?, ifPromising: Int?) {
            self.usual = usual
            self.ifPromising = ifPromising
        }
    }

    enum SearchResult: Equatable {
        /// There is no cycle, or it has been broken.
        case free
        /// All members of this cycle are bodies that wait for one another, so one of the waits has to be refused.
        case refused([OperationReference])
        case undecided
    }

    /// Breaks the cycles that the suspects have closed.
    static func search(_ suspects: [Suspect], _ budget: Budget) -> SearchResult {
        while true {
            switch suspicion(about: suspects, budget) {
            case .noCycle: return .free
            case .undecided: return .undecided
            case .cycle: break
            }
            var upstream = WaitExploration(from: suspects.map(\.operation), .upstreamOfUnadded)
            if !upstream.run(upTo: budget.ifPromising) { return .undecided }
            let result = CycleBreaker(upstream, closedBy: suspects).perform()
            if let refusal = result.refusals.first { return .refused(refusal.path) }
            if !result.mustLookAgain { return .free }
        }
    }

    /// Returns the cycle if the wait has to be refused. The search has no limit.
    static func refusal(of wait: Suspect) -> [OperationReference]? {
        if case .refused(let path) = search([wait], .unlimited) { path } else { nil }
    }

    private enum Suspicion {
        case noCycle
        /// The explored operations contain a cycle, which the suspects may be on.
        case cycle
        /// The budget does not suffice to decide.
        case undecided

        init(after exploration: WaitExploration) {
            self = exploration.hasReachedGoal && exploration.graph.hasCycle ? .cycle : .noCycle
        }
    }

    private static func suspicion(about suspects: [Suspect], _ budget: Budget) -> Suspicion {
        let sources = suspects.lazy.map(\.operation)
        let bodies = suspects.lazy.map { $0.body ?? $0.operation }
        var downstream = WaitExploration(from: bodies, .downstream, goals: sources)
        var upstream = WaitExploration(from: sources, .upstream, goals: bodies)
        while true {
            if downstream.isExhausted { return Suspicion(after: downstream) }
            if upstream.isExhausted { return Suspicion(after: upstream) }
            let isPromising = downstream.hasReachedGoal || upstream.hasReachedGoal
            if let limit = isPromising ? budget.ifPromising : budget.usual, downstream.steps + upstream.steps >= limit {
                return .undecided
            }
            downstream.step()
            upstream.step()
        }
    }
}

extension CycleFinder {
    /// Returns a shortest cycle, which begins with `origin`, or nil if there is none. Each member waits for the next
    /// one, and the last member for `origin`.
    ///
    /// The search goes upstream only: `origin` is not registered with its dependencies yet, so a search downstream of
    /// them would not find it.
    static func cycle(
        through origin: AnyOperation, waitsFor neighbours: (AnyOperation) -> [AnyOperation]
    ) -> [AnyOperation]? {
        var found: [(operation: AnyOperation, from: Int)] = [(origin, -1)]
        var seen: Set<ObjectIdentifier> = []
        var next = 0
        while next < found.count {
            for neighbour in neighbours(found[next].operation) {
                if neighbour === origin { return path(to: next, in: found) }
                if seen.insert(ObjectIdentifier(neighbour)).inserted { found.append((neighbour, next)) }
            }
            next += 1
        }
        return nil
    }

    private static func path(to end: Int, in found: [(operation: AnyOperation, from: Int)]) -> [AnyOperation] {
        var path: [AnyOperation] = []
        var place = end
        while place >= 0 {
            path.append(found[place].operation)
            place = found[place].from
        }
        return path.reversed()
    }
}

extension AnyOperation {
    /// True if the operation has been added, has not begun, and is not a fence.
    final var isPending: Bool { !isFence && withLifecycle { $0.phase == .added } }
}

// MARK: - Exploration

/// Follows waits from some operations in one direction, one edge at a time, and builds the graph that it sees.
///
/// Lists of dependents and waiters can be long, so each is read in pages: a prefix of the list, which grows when it is
/// used up, is copied under the lock of its operation. It does no harm to miss an entry that another thread appends
/// meanwhile, because that thread runs its own search.
struct WaitExploration {
    enum Direction {
        /// Towards the operations that are waited for.
        case upstream
        /// Like ``upstream``, and also through the current dependencies of operations that nobody has added yet, and
        /// through the current children of groups that do not run yet.
        case upstreamOfUnadded
        /// Towards the operations that wait.
        case downstream
    }

    private static let firstPageSize = 8

    private let direction: Direction
    /// The operations that were found. The index of each one is its node in the graph.
    private(set) var operations: [AnyOperation] = []
    private(set) var graph = Digraph()
    /// For each closed node, true if the operation was not added when its dependencies were read.
    private(set) var isUnadded: [Bool] = []
    /// For each closed node, true if its edges may change: the operation was not added, or it is a group that did not
    /// run.
    private(set) var mayChange: [Bool] = []
    private var nodes: [ObjectIdentifier: Int32] = [:]
    private var goals: Set<ObjectIdentifier> = []
    /// True if a goal has been reached, so that there probably is a cycle.
    private(set) var hasReachedGoal = false
    /// The part of the open node's neighbours that has been read.
    private var page = AnyOperation.Neighbours(isComplete: false)
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
        if used < page.operations.count {
            follow(page.operations[used])
            used += 1
        } else if page.isComplete {
            closeNode()
        } else {
            limit = limit == 0 ? Self.firstPageSize : 4 * limit
            // The prefix is read again from the start, because operations may have left the list meanwhile.
            page = operations[graph.count].neighbours(direction, first: limit)
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
        isUnadded.append(page.isOfUnadded)
        mayChange.append(page.isOfUnadded || page.includesPlanned)
        page = AnyOperation.Neighbours(isComplete: false)
        limit = 0
        used = 0
    }

    private mutating func follow(_ neighbour: AnyOperation) {
        if goals.contains(ObjectIdentifier(neighbour)) { hasReachedGoal = true }
        graph.addEdge(to: enter(neighbour))
    }

    /// Returns the operation's node, and creates it if there is none.
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
        /// True if the operation has no further neighbours.
        var isComplete: Bool
        /// True if nobody has added the operation whose neighbours these are.
        var isOfUnadded = false
        /// True if children of a group that does not run are among the neighbours.
        var includesPlanned = false
    }

    fileprivate final func neighbours(_ direction: WaitExploration.Direction, first limit: Int) -> Neighbours {
        switch direction {
        case .upstream: waitsFor(first: limit)
        case .upstreamOfUnadded: waitsFor(first: limit, ifUnadded: true)
        case .downstream: waitingOperations(first: limit)
        }
    }

    /// Returns the operations that must finish before this one can go on: up to `limit` dependencies or awaited
    /// operations, as many children of each group, and as many operations of each iteration. The dependencies of an
    /// operation that nobody has added, and the children of a group that does not run, may still change, and are
    /// included only if `ifUnadded` is true.
    final func waitsFor(first limit: Int, ifUnadded: Bool = false) -> Neighbours {
        var (neighbours, groups, listeners) = withLifecycle {
            life -> (Neighbours, [ChildGroup], [any OutcomeListener]) in
            switch life.phase {
            case .created:
                if !ifUnadded { return (Neighbours(isComplete: true), [], []) }
                return (sources(life, first: limit, isUnadded: true), life.optionalState?.childGroups ?? [], [])
            case .added:
                if life.optionalState?.endAfterLinking != nil { return (Neighbours(isComplete: true), [], []) }
                let planned = ifUnadded ? life.optionalState?.childGroups ?? [] : []
                return (sources(life, first: limit, includesPlanned: !planned.isEmpty), planned, [])
            case .evaluating, .executing, .finishing:
                guard let optionalState = life.optionalState else { break }
                let awaited = Array(optionalState.waits.all.lazy.compactMap { $0?.operation }.prefix(limit))
                return (
                    Neighbours(operations: awaited, isComplete: awaited.count < limit), optionalState.childGroups,
                    optionalState.allListeners
                )
            case .finished: break
            }
            return (Neighbours(isComplete: true), [], [])
        }
        for group in groups {
            let children = group.waitsFor(first: limit, includesPlanned: ifUnadded)
            neighbours.operations += children
            if children.count >= limit { neighbours.isComplete = false }
        }
        for listener in listeners {
            let operations = listener.waitsFor(first: limit)
            neighbours.operations += operations
            if operations.count >= limit { neighbours.isComplete = false }
        }
        return neighbours
    }

    /// Returns the dependencies of an operation that has not begun. The state proves that the caller holds the lock.
    private final func sources(
        _ life: borrowing Lifecycle, first limit: Int, isUnadded: Bool = false, includesPlanned: Bool = false
    ) -> Neighbours {
        assert(life.phase == .created || life.phase == .added, "An operation that has begun waits for no dependency.")
        let sources = edges.first(limit)
        return Neighbours(
            operations: sources, isComplete: sources.count < limit, isOfUnadded: isUnadded,
            includesPlanned: includesPlanned)
    }

    /// Returns the operations that cannot go on before this one has finished.
    final func waitingOperations(first limit: Int) -> Neighbours {
        // The prefix of the waiters is copied into an array of its own. A slice would share the storage, so that the
        // next append would copy all of it.
        let (dependents, waiters) = withLifecycle { life in
            (life.dependents.retained(first: limit), life.optionalState.map { Array($0.waiters.prefix(limit)) } ?? [])
        }
        return Neighbours(
            operations: dependents + waiters.compactMap(\.waitingBody),
            isComplete: dependents.count < limit && waiters.count < limit)
    }

    final var waitsFor: [AnyOperation] { waitsFor(first: .max).operations }
}
