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
        let upstream = operation.upstream
        let unadded = upstream.filter { $0.life.withLock { $0.phase == .created } }
        let isLate = unadded.last !== operation
        add(isLate && callSite != nil ? unadded + [operation] : unadded, from: origin, callSite)
        for seen in upstream { seen.life.withLock { $0.upstreamWasAdded() } }
        return unadded
    }
}

extension AnyOperation {
    /// This and all that it needs and that has not finished, sources first; not beyond what is known to be added whole.
    fileprivate final var upstream: [AnyOperation] {
        var order: [AnyOperation] = []
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var path: [(operation: AnyOperation, sources: ArraySlice<AnyOperation>)] = [(self, unseenSources)]
        while let last = path.indices.last {
            if let source = path[last].sources.popFirst() {
                if seen.insert(ObjectIdentifier(source)).inserted { path.append((source, source.unseenSources)) }
            } else {
                order.append(path.removeLast().operation)
            }
        }
        return order
    }

    private final var unseenSources: ArraySlice<AnyOperation> {
        life.withLock { life in
            switch life.phase {
            case .created: edges.all[...]
            case .added: life.isUpstreamAdded ? [] : edges.all[...]
            case .executing, .finishing, .finished: []
            }
        }
    }
}
