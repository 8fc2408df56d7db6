/// Which dependencies an add follows.
private enum Reach {
    case inputs
    case all
}

extension QueueCore {
    /// Adds the operation, and before it what it takes its inputs from, as far as nobody has added that: what is added
    /// between them, such as a barrier, must not come between an input and its reader. False: the queue has been shut
    /// down, and the operation has ended.
    @discardableResult
    func addWithInputs(_ operation: AnyOperation, _ callSite: CallSite?) -> Bool {
        if operation.inputCount == 0 { return add(operation, callSite) }
        let inputs = unaddedInputs(before: operation)
        if let inputs, !inputs.isEmpty { add(inputs, nil) }
        let isTaken = add(operation, callSite)
        if inputs == nil { addInputs(of: operation) }
        return isTaken
    }

    /// Adds what the operation takes its inputs from. The operation itself may have been added or not.
    func addInputs(of operation: AnyOperation) {
        let first = operation.withLife { operation.openInput(at: 0, $0) }
        if let first { add(unaddedInputs(of: operation, from: first), nil) }
    }

    /// Finds what the operation takes its inputs from and what that takes its inputs from, sources first, as far as
    /// nobody has added it. Nil: the operation is unique, so that its add decides whether it needs them.
    func unaddedInputs(before operation: AnyOperation) -> [AnyOperation]? {
        let (isUndecided, first) = operation.withLife { life in
            (life.isUndecided, life.phase == .created ? operation.openInput(at: 0, life) : nil)
        }
        if isUndecided { return nil }
        return if let first { unaddedInputs(of: operation, from: first) } else { [] }
    }

    /// Unique ones are added when the search comes to them, see ``addWithUpstream(_:from:run:_:)``.
    private func unaddedInputs(of operation: AnyOperation, from first: AnyOperation) -> [AnyOperation] {
        let missing = operation.missingInputs(from: first)
        if missing.isEmpty { return [] }
        return AnyOperation.upstream(of: missing, through: .inputs) { add([$0], nil) }.filter { $0.isUnadded }
    }

    /// Adds the operation and everything it needs, through edges of any kind, that nobody has added yet; returns what
    /// was added, sources first. What was added may itself need what was not, so the search goes through it; but what
    /// this has seen whole is not looked at again, so adding a long chain link by link stays linear.
    ///
    /// Unique ones are added when the search comes to them, for what they need depends on what is decided then: one
    /// that has joined another needs nothing but that.
    ///
    /// With a call site it is misuse if the operation itself had been added before. What it adds is marked with the
    /// number of the ``RunScope``, if it is one that adds.
    @discardableResult
    func addWithUpstream(
        _ operation: AnyOperation, from origin: SubmissionSource = .outside, run: UInt32 = 0, _ callSite: CallSite?
    ) -> [AnyOperation] {
        var early: Set<ObjectIdentifier> = []
        let upstream = AnyOperation.upstream(of: CollectionOfOne(operation), through: .all) { unique in
            early.insert(ObjectIdentifier(unique))
            if unique === operation { operation.isAddedByName() }
            add([unique], from: origin, run: run, unique === operation ? callSite : nil)
        }
        let unadded = upstream.filter { $0.isUnadded }
        operation.isAddedByName()
        let wasLate = unadded.last !== operation && !early.contains(ObjectIdentifier(operation))
        add(wasLate && callSite != nil ? unadded + [operation] : unadded, from: origin, run: run, callSite)
        for seen in upstream { seen.withLife { $0.upstreamWasAdded() } }
        if early.isEmpty { return unadded }
        let added = early.union(unadded.map { ObjectIdentifier($0) })
        return upstream.filter { added.contains(ObjectIdentifier($0)) }
    }

    /// As above, for several at once; those that were added before are left alone.
    func addWithUpstream(_ operations: [AnyOperation], from origin: SubmissionSource) {
        let upstream = AnyOperation.upstream(of: operations, through: .all) { add([$0], from: origin, nil) }
        for operation in operations { operation.isAddedByName() }
        add(upstream.filter { $0.isUnadded }, from: origin, nil)
        for seen in upstream { seen.withLife { $0.upstreamWasAdded() } }
    }
}

extension AnyOperation {
    /// These and all that they need and that has not finished, sources first; not beyond what is known to be added
    /// whole.
    ///
    /// - Parameter addUnique: To add those that have an identity, before they are asked for what they need.
    fileprivate static func upstream(
        of operations: some Collection<AnyOperation>, through reach: Reach, addUnique: (AnyOperation) -> Void
    ) -> [AnyOperation] {
        var order: [AnyOperation] = []
        var seen: Set<ObjectIdentifier> = []
        var path: [(operation: AnyOperation, sources: ArraySlice<AnyOperation>)] = []
        order.reserveCapacity(operations.count)
        for operation in operations {
            let sources = operation.unseenSources(reach, addUnique)
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
                        path.append((source, source.unseenSources(reach, addUnique)))
                    }
                } else {
                    order.append(path.removeLast().operation)
                }
            }
        }
        return order
    }

    fileprivate final var isUnadded: Bool { withLife { $0.phase == .created } }

    /// Its inputs from the first one on that nobody has added.
    @inline(__always)
    fileprivate final func missingInputs(from first: AnyOperation) -> [AnyOperation] {
        var missing: [AnyOperation] = []
        if first.isUnadded { missing.append(first) }
        var place = 1
        while place < inputCount, let source = withLife({ openInput(at: place, $0) }) {
            if source.isUnadded { missing.append(source) }
            place += 1
        }
        return missing
    }

    /// Locked by the caller. Nil: there are no more, or they are not needed any more.
    fileprivate final func openInput(at place: Int, _ life: borrowing Lifecycle) -> AnyOperation? {
        guard life.phase == .created || life.phase == .added, place < min(life.inputCount, edges.placeCount) else {
            return nil
        }
        return edges.source(at: place)?.takeUnretainedValue()
    }

    private final func unseenSources(
        _ reach: Reach, _ addUnique: (AnyOperation) -> Void
    ) -> ArraySlice<AnyOperation> {
        let sources: ArraySlice<AnyOperation>? = withLife { life in
            if life.phase == .created { life.isPulledIn = true }
            return life.isUndecided ? nil : unseenSources(reach, life)
        }
        if let sources { return sources }
        addUnique(self)
        return withLife { life in
            // These are still to be added, if it has not joined another.
            if reach == .inputs, life.phase == .added { return edges.all.prefix(life.inputCount) }
            return unseenSources(reach, life)
        }
    }

    /// Locked by the caller.
    private final func unseenSources(_ reach: Reach, _ life: Lifecycle) -> ArraySlice<AnyOperation> {
        switch life.phase {
        case .created: reach == .all ? edges.all[...] : edges.all.prefix(life.inputCount)
        // The add of this operation adds its inputs.
        case .added: reach == .inputs || life.isUpstreamAdded ? [] : edges.all.filter { !$0.isFence }[...]
        case .evaluating, .executing, .finishing, .finished: []
        }
    }

    /// The search for what others need has come by it, but somebody adds it for its own sake.
    fileprivate final func isAddedByName() {
        withLife { if $0.phase == .created { $0.isPulledIn = false } }
    }

    /// A dependent on the same queue that takes the output of this operation; nil if all of them have finished.
    final var reader: OperationReference? {
        let dependents = withLife { $0.dependents.retained() }
        return dependents.first { $0.queueNumber == queueNumber && $0.inputs.contains(self) }?.reference
    }
}

extension Lifecycle {
    /// Whether it will run is decided by the add: it is unique.
    fileprivate var isUndecided: Bool { phase == .created && optionalState?.uniqueness != nil }
}
