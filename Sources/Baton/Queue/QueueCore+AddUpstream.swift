/// The dependencies that an add follows.
private enum UpstreamScope {
    case inputs
    case all
}

extension QueueCore {
    /// Adds the inputs of the operation, direct or not, that nobody has added. The operation itself may have been added
    /// or not.
    func addInputs(of operation: AnyOperation) {
        let first = operation.withLifecycle { operation.openInput(at: 0, $0) }
        if let first { add(unaddedInputs(of: operation, from: first), nil) }
    }

    /// Finds the inputs of the operation, direct or not, that nobody has added.
    ///
    /// - Returns: The inputs, sources first. Nil if the operation is unique, because its add decides whether it needs
    ///   them.
    func unaddedInputs(before operation: AnyOperation) -> [AnyOperation]? {
        let (isUndecided, first) = operation.withLifecycle { life in
            (life.isUndecided, life.phase == .created ? operation.openInput(at: 0, life) : nil)
        }
        if isUndecided { return nil }
        return if let first { unaddedInputs(of: operation, from: first) } else { [] }
    }

    /// Finds inputs. The search adds the unique operations that it reaches; see ``addWithUpstream(_:from:run:_:)``.
    private func unaddedInputs(of operation: AnyOperation, from first: AnyOperation) -> [AnyOperation] {
        let missing = operation.missingInputs(from: first)
        if missing.isEmpty { return [] }
        return AnyOperation.upstream(of: missing, through: .inputs) { add([$0], nil) }.filter { $0.isUnadded }
    }

    /// Adds the operation and every operation that it needs, through edges of any kind, that nobody has added.
    ///
    /// An operation that was added before may need others that were not, so the search goes on through it. It stops at
    /// operations whose upstream is known to be added as a whole; therefore adding a long chain link by link takes
    /// linear time.
    ///
    /// The search adds a unique operation as soon as it reaches it, because the add decides what the operation needs:
    /// if it joins another one, it needs nothing else.
    ///
    /// - Parameters:
    ///   - run: The number of the ``RunScope`` that adds, with which the added operations are marked, or 0.
    ///   - callSite: The place to report if the operation itself was added before. Nil if that is not misuse.
    /// - Returns: The operations that were added, sources first.
    @discardableResult
    func addWithUpstream(
        _ operation: AnyOperation, from origin: SubmissionSource = .outside, run: UInt32 = 0, _ callSite: CallSite?
    ) -> [AnyOperation] {
        var early: Set<ObjectIdentifier> = []
        let upstream = AnyOperation.upstream(of: CollectionOfOne(operation), through: .all) { unique in
            early.insert(ObjectIdentifier(unique))
            if unique === operation { operation.noteExplicitAdd() }
            add([unique], from: origin, run: run, unique === operation ? callSite : nil)
        }
        let unadded = upstream.filter { $0.isUnadded }
        operation.noteExplicitAdd()
        let wasLate = unadded.last !== operation && !early.contains(ObjectIdentifier(operation))
        add(wasLate && callSite != nil ? unadded + [operation] : unadded, from: origin, run: run, callSite)
        for seen in upstream { seen.withLifecycle { $0.upstreamWasAdded() } }
        if early.isEmpty { return unadded }
        let added = early.union(unadded.map { ObjectIdentifier($0) })
        return upstream.filter { added.contains(ObjectIdentifier($0)) }
    }

    /// Adds several operations with every operation that they need. Operations that were added before are left alone.
    func addWithUpstream(_ operations: [AnyOperation], from origin: SubmissionSource) {
        let upstream = AnyOperation.upstream(of: operations, through: .all) { add([$0], from: origin, nil) }
        for operation in operations { operation.noteExplicitAdd() }
        add(upstream.filter { $0.isUnadded }, from: origin, nil)
        for seen in upstream { seen.withLifecycle { $0.upstreamWasAdded() } }
    }
}

extension AnyOperation {
    /// Returns the operations and every unfinished operation that they need, sources first. The search stops at
    /// operations whose upstream is known to be added as a whole.
    ///
    /// - Parameter addUnique: Adds an operation that has an identity. Called before the search asks that operation for
    ///   its sources.
    fileprivate static func upstream(
        of operations: some Collection<AnyOperation>, through scope: UpstreamScope, addUnique: (AnyOperation) -> Void
    ) -> [AnyOperation] {
        var order: [AnyOperation] = []
        var seen: Set<ObjectIdentifier> = []
        var path: [(operation: AnyOperation, sources: ArraySlice<AnyOperation>)] = []
        order.reserveCapacity(operations.count)
        for operation in operations {
            let sources = operation.unseenSources(scope, addUnique)
            // An operation may occur twice in the result. That does no harm, because its second add is ignored.
            if sources.isEmpty {
                order.append(operation)
                continue
            }
            guard seen.insert(ObjectIdentifier(operation)).inserted else { continue }
            path.append((operation, sources))
            while let last = path.indices.last {
                if let source = path[last].sources.popFirst() {
                    if seen.insert(ObjectIdentifier(source)).inserted {
                        path.append((source, source.unseenSources(scope, addUnique)))
                    }
                } else {
                    order.append(path.removeLast().operation)
                }
            }
        }
        return order
    }

    fileprivate final var isUnadded: Bool { withLifecycle { $0.phase == .created } }

    /// The inputs, from `first` on, that nobody has added.
    @inline(__always)
    fileprivate final func missingInputs(from first: AnyOperation) -> [AnyOperation] {
        var missing: [AnyOperation] = []
        if first.isUnadded { missing.append(first) }
        var place = 1
        while place < inputCount, let source = withLifecycle({ openInput(at: place, $0) }) {
            if source.isUnadded { missing.append(source) }
            place += 1
        }
        return missing
    }

    /// Returns the input at `place`, or nil if there are no more inputs or the operation does not need them any more.
    /// The caller holds the operation's lock.
    fileprivate final func openInput(at place: Int, _ life: borrowing Lifecycle) -> AnyOperation? {
        guard life.phase == .created || life.phase == .added, place < min(life.inputCount, edges.placeCount) else {
            return nil
        }
        return edges.source(at: place)?.object
    }

    private final func unseenSources(
        _ scope: UpstreamScope, _ addUnique: (AnyOperation) -> Void
    ) -> ArraySlice<AnyOperation> {
        let sources: ArraySlice<AnyOperation>? = withLifecycle { life in
            if life.phase == .created { life.wasAddedAsUpstream = true }
            return life.isUndecided ? nil : unseenSources(scope, life)
        }
        if let sources { return sources }
        addUnique(self)
        return withLifecycle { life in
            // The inputs of a unique operation are still to be added, unless it has joined another one.
            if scope == .inputs, life.phase == .added { return edges.all.prefix(life.inputCount) }
            return unseenSources(scope, life)
        }
    }

    /// Returns the sources that the search has to visit. The caller holds the operation's lock.
    private final func unseenSources(_ scope: UpstreamScope, _ life: Lifecycle) -> ArraySlice<AnyOperation> {
        switch life.phase {
        case .created: scope == .all ? edges.all[...] : edges.all.prefix(life.inputCount)
        // The add that adopted this operation adds its inputs.
        case .added: scope == .inputs || life.isUpstreamAdded ? [] : edges.all.filter { !$0.isFence }[...]
        case .evaluating, .executing, .finishing, .finished: []
        }
    }

    /// Notes that somebody adds this operation for its own sake, although a search for what others need has found it.
    fileprivate final func noteExplicitAdd() {
        withLifecycle { if $0.phase == .created { $0.wasAddedAsUpstream = false } }
    }

    /// A dependent on the same queue that takes the output of this operation. Nil if all such dependents have finished.
    final var reader: OperationReference? {
        let dependents = withLifecycle { $0.dependents.retained() }
        return dependents.first { $0.queueNumber == queueNumber && $0.inputs.contains(self) }?.reference
    }
}

extension Lifecycle {
    /// True if the operation is unique and not added yet, so that its add will decide whether it runs.
    fileprivate var isUndecided: Bool { phase == .created && optionalState?.uniqueness != nil }
}
