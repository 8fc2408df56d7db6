/// An operation that another operation waits for, and the reason for the wait.
public struct OperationWait: Sendable, Hashable, Codable {
    /// The reason why an operation waits for another one, the source.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The waiting operation reads the output of the source.
        case input
        /// The source is a dependency whose output is not an input.
        case order
        /// The source is a barrier of the queue that was added earlier.
        case barrier
        /// The waiting operation runs the source: with `context.run`, as a child of a group, or for a condition.
        case child
        /// The body, a handler or a condition of the waiting operation awaits the outcome of the source.
        case awaited
        /// The source is made for an element of a sequence that the body of the waiting operation iterates.
        case element
        /// The waiting operation is a duplicate of the source and shares its outcome.
        case original
        /// The waiting operation has replaced the source, and starts after the source has finished.
        case replaced
        /// The source holds an exclusion that the waiting operation needs, or came before it in the queue for the
        /// exclusion.
        case exclusion
    }

    /// The reason for the wait.
    public let kind: Kind
    /// The operation that is waited for.
    public let source: OperationReference
    /// The name of the exclusion, if the wait is for one.
    public let exclusion: String?
}

/// The internal form of ``OperationWait``, which retains the source so that it can be followed.
struct Wait {
    let kind: OperationWait.Kind
    let source: AnyOperation
    var exclusion: ExclusionName?

    var publicValue: OperationWait {
        OperationWait(kind: kind, source: source.reference, exclusion: exclusion.map { "\($0)" })
    }
}

extension AnyOperation {
    /// All operations that this one waits for, finished ones included. Empty if nobody has added this operation.
    final var waits: [Wait] {
        var (waits, groups, listeners, replacement) = withLife {
            life -> ([Wait], [ChildGroup], [any OutcomeListener], Deduplication.Place?) in
            switch life.phase {
            case .created, .finished: return ([], [], [], nil)
            case .added:
                guard life.optionalState?.endAfterLinking == nil else { return ([], [], [], nil) }
                let uniqueness = life.optionalState?.uniqueness
                let hasJoined = uniqueness?.joined != nil
                let inputCount = hasJoined ? 0 : life.inputCount
                let waits = edges.all.enumerated().map { place, source in
                    Wait(kind: place < inputCount ? .input : hasJoined ? .original : .order, source: source)
                }
                return (waits, [], [], uniqueness?.policy == .replace ? uniqueness?.place : nil)
            case .evaluating, .executing, .finishing:
                guard let optionalState = life.optionalState else { return ([], [], [], nil) }
                let waits = optionalState.awaited.map {
                    Wait(kind: $0.isChild ? .child : .awaited, source: $0.operation)
                }
                return (waits, optionalState.childGroups, optionalState.listeners, nil)
            }
        }
        if let replacement {
            waits = waits.map { $0.source.hasIdentity(at: replacement) ? Wait(kind: .replaced, source: $0.source) : $0 }
        }
        if waits.contains(where: { $0.source.isFence }) {
            waits = waits.flatMap { wait in (wait.source as? Fence)?.underlyingWaits ?? [wait] }
        }
        return waits + groups.flatMap(\.waitsFor).map { Wait(kind: .child, source: $0) }
            + listeners.flatMap(\.waitsFor).map { Wait(kind: .element, source: $0) }
    }

    private final func hasIdentity(at place: Deduplication.Place) -> Bool {
        withLife { $0.optionalState?.uniqueness?.place == place }
    }
}
