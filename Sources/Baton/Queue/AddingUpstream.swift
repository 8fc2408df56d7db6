extension QueueCore {
    /// Adds the operation and everything it needs, through edges of any kind, that nobody has added yet; returns what was
    /// added, sources first. What was added may itself need what was not, so the search goes through it; but what this has
    /// seen whole is not looked at again, so adding a long chain link by link stays linear.
    ///
    /// Unique ones are added when the search comes to them, for what they need depends on what is decided then: one that has
    /// joined another needs nothing but that.
    ///
    /// With a call site it is misuse if the operation itself had been added before. What it adds is marked with the number of the
    /// ``RunScope``, if it is one that adds.
    @discardableResult
    func addWithUpstream(
        _ operation: AnyOperation, from origin: Origin = .outside, run: UInt32 = 0, _ callSite: CallSite?
    ) -> [AnyOperation] {
        var early: Set<ObjectIdentifier> = []
        let upstream = AnyOperation.upstream(of: CollectionOfOne(operation)) { unique in
            early.insert(ObjectIdentifier(unique))
            add([unique], from: origin, run: run, unique === operation ? callSite : nil)
        }
        let unadded = upstream.filter { $0.isUnadded }
        let wasLate = unadded.last !== operation && !early.contains(ObjectIdentifier(operation))
        add(wasLate && callSite != nil ? unadded + [operation] : unadded, from: origin, run: run, callSite)
        for seen in upstream { seen.withLife { $0.upstreamWasAdded() } }
        if early.isEmpty { return unadded }
        let added = early.union(unadded.map { ObjectIdentifier($0) })
        return upstream.filter { added.contains(ObjectIdentifier($0)) }
    }

    /// As above, for several at once; those that were added before are left alone.
    func addWithUpstream(_ operations: [AnyOperation], from origin: Origin) {
        let upstream = AnyOperation.upstream(of: operations) { add([$0], from: origin, nil) }
        add(upstream.filter { $0.isUnadded }, from: origin, nil)
        for seen in upstream { seen.withLife { $0.upstreamWasAdded() } }
    }
}

extension AnyOperation {
    /// These and all that they need and that has not finished, sources first; not beyond what is known to be added whole.
    ///
    /// - Parameter addUnique: To add those that have an identity, before they are asked for what they need.
    fileprivate static func upstream(
        of operations: some Collection<AnyOperation>, addUnique: (AnyOperation) -> Void
    ) -> [AnyOperation] {
        var order: [AnyOperation] = []
        var seen: Set<ObjectIdentifier> = []
        var path: [(operation: AnyOperation, sources: ArraySlice<AnyOperation>)] = []
        order.reserveCapacity(operations.count)
        for operation in operations {
            let sources = operation.unseenSources(addUnique)
            // Twice in the list does no harm.
            if sources.isEmpty {
                order.append(operation)
                continue
            }
            guard seen.insert(ObjectIdentifier(operation)).inserted else { continue }
            path.append((operation, sources))
            while let last = path.indices.last {
                if let source = path[last].sources.popFirst() {
                    if seen.insert(ObjectIdentifier(source)).inserted {
                        path.append((source, source.unseenSources(addUnique)))
                    }
                } else {
                    order.append(path.removeLast().operation)
                }
            }
        }
        return order
    }

    fileprivate final var isUnadded: Bool { withLife { $0.phase == .created } }

    private final func unseenSources(_ addUnique: (AnyOperation) -> Void) -> ArraySlice<AnyOperation> {
        if let sources = withLife({ $0.isUndecided ? nil : unseenSources($0) }) { return sources }
        addUnique(self)
        return withLife { unseenSources($0) }
    }

    /// Locked by the caller.
    private final func unseenSources(_ life: Lifecycle) -> ArraySlice<AnyOperation> {
        switch life.phase {
        case .created: edges.all[...]
        case .added: life.isUpstreamAdded ? [] : edges.all[...]
        case .evaluating, .executing, .finishing, .finished: []
        }
    }
}

extension Lifecycle {
    /// Whether it will run is decided by the add: it is unique.
    fileprivate var isUndecided: Bool { phase == .created && details?.uniqueness != nil }
}
