extension AnyOperation {
    /// Explains why this operation has not finished.
    ///
    /// The explanation follows what the operation waits for (dependencies, operations that its body awaits, and holders
    /// of exclusions) to the roots: an operation that nobody has added, a suspended or full queue, a delay, a body that
    /// runs.
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
    ///   and *m* the number of operations in the full queues among the roots.
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
            error: hasFinished ? failure : nil)
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
            let waits = inspector.waits(of: operation)
            if place == 0 { waitsOfFirst = waits }
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

    /// Returns the roots. Only the first ``Explanation/listed`` of them come with the links that lead to them.
    func explanationRoots() -> [Explanation.Root] {
        roots.enumerated().map { number, root in
            Explanation.Root(
                operation: root.operation.reference, cause: root.cause,
                suspendedQueue: root.suspendedQueue,
                isCancelled: root.operation.isCancelled,
                links: number < Explanation.maxListed ? links(to: root.place) : [])
        }
    }

    /// Returns the waits on the path to a root that an explanation mentions, in the order of the path. Plain waits,
    /// such as those for dependencies, are left out.
    private func links(to place: Int) -> [Explanation.Link] {
        var links: [Explanation.Link] = []
        var place = place
        while found[place].from >= 0, let wait = found[place].wait {
            let from = found[place].from
            switch wait.kind {
            case .input, .order, .child, .awaited, .element, .exclusion: break
            case .barrier, .original, .replaced:
                links.append(Explanation.Link(waiting: found[from].operation.reference, wait: wait.publicValue))
            }
            place = from
        }
        return links.reversed()
    }
}
