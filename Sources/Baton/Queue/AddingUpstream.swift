extension QueueCore {
    /// Adds the operation and everything it needs, through edges of any kind, that nobody has added yet; returns what was
    /// added, sources first. What was added may itself need what was not, so the search goes through it; but what this has
    /// seen whole is not looked at again, so adding a long chain link by link stays linear.
    ///
    /// With a call site it is misuse if the operation itself had been added before.
    @discardableResult
    func addWithUpstream(
        _ operation: AnyOperation, from origin: Origin = .outside, _ callSite: CallSite?
    ) -> [AnyOperation] {
        let upstream = AnyOperation.upstream(of: CollectionOfOne(operation))
        let unadded = upstream.filter { $0.life.withLock { $0.phase == .created } }
        let isLate = unadded.last !== operation
        add(isLate && callSite != nil ? unadded + [operation] : unadded, from: origin, callSite)
        for seen in upstream { seen.life.withLock { $0.upstreamWasAdded() } }
        return unadded
    }

    /// As above, for several at once; those that were added before are left alone.
    func addWithUpstream(_ operations: [AnyOperation], from origin: Origin) {
        let upstream = AnyOperation.upstream(of: operations)
        add(upstream.filter { $0.life.withLock { $0.phase == .created } }, from: origin, nil)
        for seen in upstream { seen.life.withLock { $0.upstreamWasAdded() } }
    }
}

extension AnyOperation {
    /// These and all that they need and that has not finished, sources first; not beyond what is known to be added whole.
    fileprivate static func upstream(of operations: some Collection<AnyOperation>) -> [AnyOperation] {
        var order: [AnyOperation] = []
        var seen: Set<ObjectIdentifier> = []
        var path: [(operation: AnyOperation, sources: ArraySlice<AnyOperation>)] = []
        order.reserveCapacity(operations.count)
        for operation in operations {
            let sources = operation.unseenSources
            // Twice in the list does no harm.
            if sources.isEmpty {
                order.append(operation)
                continue
            }
            guard seen.insert(ObjectIdentifier(operation)).inserted else { continue }
            path.append((operation, sources))
            while let last = path.indices.last {
                if let source = path[last].sources.popFirst() {
                    if seen.insert(ObjectIdentifier(source)).inserted { path.append((source, source.unseenSources)) }
                } else {
                    order.append(path.removeLast().operation)
                }
            }
        }
        return order
    }

    private final var unseenSources: ArraySlice<AnyOperation> {
        life.withLock { life in
            switch life.phase {
            case .created: edges.all[...]
            case .added: life.isUpstreamAdded ? [] : edges.all[...]
            case .evaluating, .executing, .finishing, .finished: []
            }
        }
    }
}
