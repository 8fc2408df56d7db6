/// The way in which a member of a cycle waits for the next one. It decides what an error tells the user to do.
enum CycleLink: Sendable {
    case dependency
    /// A barrier is between the two.
    case barrier
    /// The next one is a child of this group.
    case child
    /// The body awaits the next one, or iterates over a sequence that makes it.
    case body
    /// A condition awaits the next one, or has brought it along.
    case condition
    /// A handler awaits the next one.
    case handler
}

/// An operation on a cycle, as it was when the cycle was found.
struct CycleMember {
    private let operation: AnyOperation
    private let reference: OperationReference
    private let link: CycleLink
    private let isFence: Bool

    init(_ operation: AnyOperation) {
        self.operation = operation
        isFence = operation.isFence
        if isFence {
            // Nobody sees the reference, so the fence needs no id.
            (reference, link) = (OperationReference(id: 0, name: nil), .dependency)
            return
        }
        (reference, link) = operation.withLife { life in
            let isGroup = life.optionalState?.childGroups.isEmpty == false
            let link: CycleLink =
                switch life.phase {
                case .created, .added: isGroup ? .child : .dependency
                case .evaluating: .condition
                case .executing: isGroup ? .child : .body
                case .finishing, .finished: .handler
                }
            return (operation.reference(&life), link)
        }
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
        // A group that has not begun waits for its dependencies, too.
        if link != .child || !operation.depends(on: next.operation) { return link }
        return .dependency
    }
}

extension AnyOperation {
    /// True if the operation has not begun and `source` is one of its dependencies.
    fileprivate final func depends(on source: AnyOperation) -> Bool {
        withLife { ($0.phase == .created || $0.phase == .added) && edges.contains(source) }
    }
}
