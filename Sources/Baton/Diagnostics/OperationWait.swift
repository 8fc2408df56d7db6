/// An operation that another one waits for, and why.
public struct OperationWait: Sendable, Hashable, Codable {
    /// What one waits for another one for.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// It hands over its output.
        case input
        /// It comes first.
        case order
        /// It is a barrier of the queue, and comes first.
        case barrier
        /// The waiting one runs it: with `context.run`, as the child of a group, or for a condition.
        case child
        /// The waiting one's body, handler or condition awaits its outcome.
        case awaited
        /// It is made for an element of a sequence that the waiting one's body iterates.
        case element
        /// The waiting one has joined it, and shares its outcome.
        case original
        /// The waiting one has replaced it, and starts after its outcome.
        case replaced
        /// It holds an exclusion that the waiting one needs, or came before it in the line for that.
        case exclusion
    }

    /// Why.
    public let kind: Kind
    /// What is waited for.
    public let source: OperationReference
    /// The name of the exclusion, if it is for one.
    public let exclusion: String?
}

/// As ``OperationWait``, while it is followed.
struct Wait {
    let kind: OperationWait.Kind
    let source: AnyOperation
    var exclusion: ExclusionName?

    var told: OperationWait {
        OperationWait(kind: kind, source: source.reference, exclusion: exclusion.map { "\($0)" })
    }
}

extension AnyOperation {
    /// What this waits for, finished or not. One that nobody has added waits for nothing.
    final var waits: [Wait] {
        var (waits, groups, listeners, replacement) = withLife {
            life -> ([Wait], [ChildGroup], [any OutcomeListener], Deduplication.Place?) in
            switch life.phase {
            case .created, .finished: return ([], [], [], nil)
            case .added:
                guard life.optionalState?.endAfterLinking == nil else { return ([], [], [], nil) }
                let uniqueness = life.optionalState?.uniqueness
                let others: OperationWait.Kind = uniqueness?.joined == nil ? .order : .original
                let inputCount = others == .order ? life.inputCount : 0
                let waits = edges.all.enumerated().map { place, source in
                    Wait(kind: place < inputCount ? .input : others, source: source)
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
            waits = waits.flatMap { wait in (wait.source as? Fence)?.waitsInItsStead ?? [wait] }
        }
        return waits + groups.flatMap(\.waitsFor).map { Wait(kind: .child, source: $0) }
            + listeners.flatMap(\.waitsFor).map { Wait(kind: .element, source: $0) }
    }

    private final func hasIdentity(at place: Deduplication.Place) -> Bool {
        withLife { $0.optionalState?.uniqueness?.place == place }
    }
}
