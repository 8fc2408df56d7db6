/// The way in which a member of a cycle waits for the next one. It decides which advice an error gives.
enum CycleLink: Sendable, Equatable {
    case dependency
    /// The operation and the next one, which is its dependency, have places in the same ordered group.
    case order
    /// The operation has joined the next one or replaces it, because both have the same key.
    case key
    /// A barrier is between the two.
    case barrier
    /// The next one is a child of this group.
    case child
    /// The next one is a dependency of this group, and its child as well.
    case dependencyOnChild
    /// The next one is a dependency of the operation, and the group whose child the operation is.
    case dependencyOnParent
    /// The body awaits the next one, or iterates over a sequence that makes it.
    case body
    /// The body waits until the next one has begun. See ``PeerWait``.
    case peer
    /// A condition awaits the next one, or has brought it along.
    case condition
    /// A handler awaits the next one.
    case handler
    /// The operation is a child of this group, which runs that many children at a time, and waits for its turn there
    /// after the next one.
    indirect case width(of: OperationReference, Int)
    /// The operation waits for the exclusion of this name, which the next one holds if `isHeldByNext` is true.
    /// Otherwise the operation is queued behind others, or another holder is in its way as well. `isNextBody` is true
    /// if the body of the next one runs.
    indirect case exclusion(String, isHeldByNext: Bool, isNextBody: Bool)
}

/// An operation on a cycle, as it was when the cycle was found.
struct CycleMember {
    private let operation: AnyOperation
    private let reference: OperationReference
    private let link: CycleLink
    private let isFence: Bool
    /// The children of a group that has not started.
    private let children: Set<ObjectIdentifier>

    init(_ operation: AnyOperation) {
        self.operation = operation
        isFence = operation.isFence
        if isFence {
            // Nobody sees the reference, so the fence needs no id.
            (reference, link, children) = (OperationReference(id: 0, name: nil), .dependency, [])
            return
        }
        let isPlannedGroup: Bool
        (reference, link, isPlannedGroup) = operation.withLifecycle { life in
            let isGroup = life.optionalState?.childGroups.isEmpty == false
            let link: CycleLink =
                switch life.phase {
                case .created, .added: isGroup ? .child : .dependency
                case .evaluating: .condition
                case .executing: isGroup ? .child : .body
                case .finishing, .finished: .handler
                }
            let isPlannedGroup = isGroup && (life.phase == .created || life.phase == .added)
            return (operation.reference(&life), link, isPlannedGroup)
        }
        children = isPlannedGroup ? Set(operation.plannedChildren.map { ObjectIdentifier($0) }) : []
    }

    /// Returns the members that the user knows, each with the link to the next one.
    static func path(_ members: [CycleMember]) -> [OperationReference] {
        members.indices.compactMap { index in
            let (member, next) = (members[index], members[index + 1 == members.count ? 0 : index + 1])
            if member.isFence { return nil }
            var reference = member.reference
            reference.cycleLink = next.isFence ? .barrier : member.link(to: next)
            return reference
        }
    }

    private func link(to next: CycleMember) -> CycleLink {
        switch link {
        case .barrier, .peer, .condition, .handler, .width, .exclusion, .dependencyOnChild, .dependencyOnParent:
            return link
        case .body: return operation.awaitsPeer(next.operation) ? .peer : .body
        // A group that has not begun waits for its dependencies, too.
        case .child:
            if !operation.depends(on: next.operation) { return .child }
            return children.contains(ObjectIdentifier(next.operation)) ? .dependencyOnChild : .dependency
        case .dependency, .order, .key:
            if operation.hasKey(of: next.operation) { return .key }
            if next.children.contains(ObjectIdentifier(operation)) { return .dependencyOnParent }
            return operation.isOrdered(with: next.operation) ? .order : .dependency
        }
    }
}

extension AnyOperation {
    /// True if the operation has not begun and `source` is one of its dependencies.
    fileprivate final func depends(on source: AnyOperation) -> Bool {
        withLifecycle { ($0.phase == .created || $0.phase == .added) && edges.contains(source) }
    }

    /// True if the body waits until `peer` has begun.
    fileprivate final func awaitsPeer(_ peer: AnyOperation) -> Bool {
        let listeners = withLifecycle { $0.phase == .executing ? $0.optionalState?.allListeners ?? [] : [] }
        return listeners.contains { ($0 as? PeerWait)?.waitsFor.contains { $0 === peer } ?? false }
    }

    /// True if the operation has joined `other`, or has entered the table of identities at the same place, so that it
    /// replaces `other`.
    fileprivate final func hasKey(of other: AnyOperation) -> Bool {
        // The original is released after unlocking.
        let (original, place) = withLifecycle { life in
            let uniqueness = life.optionalState?.uniqueness
            return (uniqueness?.joined?.original, uniqueness?.place)
        }
        if original === other { return true }
        guard let place else { return false }
        return other.withLifecycle { $0.optionalState?.uniqueness?.place } == place
    }

    /// True if both operations are children of the same ordered group.
    fileprivate final func isOrdered(with other: AnyOperation) -> Bool {
        let groups = withLifecycle { $0.optionalState?.orderedGroups ?? [] }
        return !groups.isEmpty
            && other.withLifecycle { $0.optionalState?.orderedGroups ?? [] }.contains(where: groups.contains)
    }
}
