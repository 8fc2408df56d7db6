extension AnyOperation {
    /// Explains why this operation has not finished.
    ///
    /// The explanation follows what the operation waits for to the roots: an operation that nobody has added, a
    /// suspended or full queue, a delay, a body that runs. It follows dependencies, operations that a body awaits,
    /// holders of exclusions, and the operations of a queue if a body waits until that queue is idle or admits a
    /// submission.
    ///
    /// ```swift
    /// print(upload.explain())
    /// ```
    ///
    /// Nothing is stopped meanwhile, so the result is a snapshot. The clocks of the queues and the descriptions of
    /// errors, which are the user's, are called on the calling thread.
    ///
    /// - Returns: What the operation waits for, and the roots of that.
    /// - Complexity: O(*n* + *m*), where *n* is the number of operations that are followed, with their dependencies,
    ///   and *m* the number of operations in the full queues among the roots, and in the queues that bodies wait for.
    ///   If a root is the child of a group that is not among the followed operations, *m* counts the operations of all
    ///   queues.
    public final func explain() -> Explanation {
        var search = RootSearch()
        return explain(by: &search)
    }

    /// - Parameter search: A search that has not been used.
    fileprivate final func explain(by search: inout RootSearch) -> Explanation {
        let state = state
        search.start(from: CollectionOfOne(self))
        return Explanation(
            operation: reference, state: state, waits: search.waitsOfFirst.map(\.publicValue),
            roots: search.explanationRoots(),
            timeLimit: timeLimitAhead(waitsForInput: search.waitsOfFirst.contains { $0.kind == .input }),
            error: hasFinished ? failure : nil,
            openHandlers: withLifecycle { $0.phase == .finished ? $0.optionalState?.handlers.openCalls : nil })
    }
}

extension AnyOperation {
    /// The time limit to mention if the body has not begun; nil if it has, or if there is none.
    fileprivate final func timeLimitAhead(waitsForInput: Bool) -> Explanation.TimeLimit? {
        let (limit, end, core) = withLifecycle { life -> (Duration?, Duration?, QueueCore?) in
            guard life.phase == .added, !life.hasBegun else { return (nil, nil, nil) }
            return (life.timing?.limit, life.optionalState?.timing?.rareTimedState?.waitingEnd, self.core)
        }
        if let end, let core { return .ofWait(left: max(.zero, end - core.timerService.now)) }
        return limit.map { .ofBody($0, waitsForInput: waitsForInput) }
    }
}

extension AsyncOperationQueue {
    /// Explains the unfinished operations of all queues with this executor, except operations that an explained one
    /// waits for.
    ///
    /// - Parameter limit: The maximum number of explanations.
    /// - Returns: The explanations, and whether the limit has left any out.
    package static func explanations(
        on executor: some TaskExecutor, upTo limit: Int
    ) -> (explanations: [Explanation], areMore: Bool) {
        let members = QueueDirectory.all.filter { $0.taskFactory.executor === executor }
            .flatMap { core in core.state.withLock { $0.registry.members() } }
            .filter { !$0.hasFinished }
        let inspector = StateInspector()
        let awaited = Set(members.flatMap { inspector.waits(of: $0) }.map { ObjectIdentifier($0.source) })
        // Operations that nobody waits for come first. If operations wait for one another in a cycle, the first one is
        // explained.
        let last = members.filter { !awaited.contains(ObjectIdentifier($0)) }
        var explanations: [Explanation] = []
        var reached: Set<ObjectIdentifier> = []
        for operation in last + members where !reached.contains(ObjectIdentifier(operation)) {
            if explanations.count == limit { return (explanations, true) }
            var search = RootSearch()
            explanations.append(operation.explain(by: &search))
            reached.formUnion(search.seen)
        }
        return (explanations, false)
    }
}

/// Follows operations to the roots of their waits. It visits each operation once, so cycles and shared paths end the
/// search.
struct RootSearch {
    private struct Found {
        let operation: AnyOperation
        /// The index of the operation that waits for this one, or -1 if the search began with it.
        let from: Int
        let wait: Wait?
    }

    struct Root {
        let operation: AnyOperation
        let cause: Explanation.Cause
        let suspendedQueue: QueueReference?
        fileprivate let place: Int
    }

    private var inspector: StateInspector
    private var found: [Found] = []
    /// Every operation that the search has visited.
    fileprivate private(set) var seen: Set<ObjectIdentifier> = []
    /// The decisions of queues whose operations the search has followed, because a body waits for them.
    private var decisions: Set<QueueWait.Decision> = []
    private(set) var waitsOfFirst: [Wait] = []
    private(set) var roots: [Root] = []

    init(_ inspector: StateInspector = StateInspector()) { self.inspector = inspector }

    mutating func start(from operations: some Collection<AnyOperation>) {
        for operation in operations where seen.insert(ObjectIdentifier(operation)).inserted {
            found.append(Found(operation: operation, from: -1, wait: nil))
            follow(found.count - 1)
        }
    }

    private mutating func follow(_ first: Int) {
        var frontier = [first]
        while let place = frontier.popLast() {
            let operation = found[place].operation
            var waits = inspector.waits(of: operation)
            if place == 0 { waitsOfFirst = waits }
            if waits.isEmpty, let wait = QueueWaits.wait(of: operation) {
                // The operations of a queue are followed once, however many bodies wait for it.
                guard decisions.insert(wait.decision).inserted else { continue }
                waits = wait.membersThatDecide.map { Wait(kind: .awaited, source: $0) }
            }
            if let wait = waits.first, let exclusion = wait.exclusion {
                roots.append(
                    Root(
                        operation: operation,
                        cause: .excluded(by: wait.source.reference, exclusion: "\(exclusion)"), suspendedQueue: nil,
                        place: place))
            } else if waits.isEmpty {
                let cause = inspector.cause(of: operation)
                let queue = inspector.suspendedQueueIgnored(by: operation, with: cause)
                roots.append(Root(operation: operation, cause: cause, suspendedQueue: queue, place: place))
            }
            for wait in waits.reversed() where seen.insert(ObjectIdentifier(wait.source)).inserted {
                found.append(Found(operation: wait.source, from: place, wait: wait))
                frontier.append(found.count - 1)
            }
        }
    }

    /// Returns the roots. Only the first ``Explanation/maxListed`` of them come with the paths that lead to them.
    mutating func explanationRoots() -> [Explanation.Root] {
        let groups = roots.prefix(Explanation.maxListed).map { group(of: $0) }
        return roots.enumerated().map { number, root in
            Explanation.Root(
                operation: root.operation.reference, cause: root.cause,
                suspendedQueue: root.suspendedQueue,
                isCancelled: root.operation.isCancelled,
                path: number < Explanation.maxListed ? path(to: root.place) : Explanation.Path(),
                group: number < groups.count ? groups[number] : nil)
        }
    }

    /// Returns the group that a root waits for, if the search has come to that group as well.
    mutating func group(of root: Root) -> Explanation.PlannedGroup? {
        guard root.cause == .awaitingGroup, let group = plannedGroups[ObjectIdentifier(root.operation)] else {
            return nil
        }
        var place = root.place
        while place >= 0, found[place].operation !== group { place = found[place].from }
        return Explanation.PlannedGroup(group: group.reference, waitsForRoot: place >= 0)
    }

    /// The groups that have not started, by their children. Looked up only if a child waits for its group.
    private lazy var plannedGroups: [ObjectIdentifier: AnyOperation] = {
        var groups: [ObjectIdentifier: AnyOperation] = [:]
        for operation in found.map(\.operation) where !operation.withLifecycle({ $0.hasBegun }) {
            for child in operation.plannedChildren { groups[ObjectIdentifier(child)] = operation }
        }
        return groups
    }()

    private func path(to end: Int) -> Explanation.Path {
        var path = Explanation.Path()
        var place = end
        var second = end
        while found[place].from >= 0 {
            path.count += 1
            second = place
            place = found[place].from
        }
        let isNamed = path.count <= Explanation.Path.maxNamed
        if !isNamed { path.second = found[second].operation.reference }
        place = end
        while found[place].from >= 0, let wait = found[place].wait {
            let from = found[place].from
            if isNamed || !wait.kind.isPlain {
                path.links.append(Explanation.Link(waiting: found[from].operation.reference, wait: wait.publicValue))
            }
            place = from
        }
        path.links.reverse()
        return path
    }
}

extension OperationWait.Kind {
    /// False if a long explanation spells the wait out.
    fileprivate var isPlain: Bool {
        switch self {
        case .input, .order, .child, .awaited, .element, .exclusion: true
        case .barrier, .original, .replaced: false
        }
    }
}
