/// What is known of an operation that nobody had added yet when a cycle through it was broken.
///
/// Its dependencies may still change then, so it does not end at once. It ends when it is added, if it still depends on the next
/// operation of its cycle and that has ended because of the cycle; or, if that is added later, together with that.
final class BrokenCycle: Sendable {
    let error: OperationError
    // Weak, because an operation retains what it depends on, and has this. Constant once an operation has it.
    nonisolated(unsafe) private(set) weak var next: AnyOperation?
    nonisolated(unsafe) private var followers: [Follower] = []

    private struct Follower {
        weak var operation: AnyOperation?
    }

    init(_ error: OperationError, next: AnyOperation) {
        self.error = error
        self.next = next
    }

    /// This one's operation is the next one of the other's cycle, and nobody has added either.
    func append(_ follower: AnyOperation) { followers.append(Follower(operation: follower)) }

    var livingFollowers: [AnyOperation] { followers.compactMap(\.operation) }
}

extension AnyOperation {
    /// A cycle through this has been broken before anybody has added this. If somebody has meanwhile, it ends here; the caller
    /// settles that.
    final func isOn(_ broken: BrokenCycle) -> EarlyEnd? {
        let isGroup = isGroup(of: broken.next)
        return withLife { life in
            if life.phase == .created {
                life.madeDetails().brokenCycle = broken
                return nil
            }
            guard let next = broken.next, isGroup || edges.contains(next) else { return nil }
            return endBeforeRun(with: broken.error, &life)
        }
    }

    /// Ends a child of a group that has ended, if nobody has added the child and it is on a broken cycle. Returns nil otherwise.
    final func endsOnBrokenCycleOfGroup() -> EarlyEnd? {
        withLife { life in
            guard life.phase == .created, let broken = life.details?.brokenCycle, let next = broken.next,
                edges.contains(next)
            else { return nil }
            return endBeforeRun(with: broken.error, &life)
        }
    }

    /// Takes time in proportion to the children. It is asked twice for each cycle through the group that is broken, and twice
    /// when the group is added after that.
    private final func isGroup(of child: AnyOperation?) -> Bool { plannedChildren.contains { $0 === child } }

    /// Of one that is being added. True: it has ended, because it was on a cycle.
    final func endsOnBrokenCycle() -> Bool {
        guard let broken = withLife({ $0.details?.brokenCycle }), let next = broken.next, next.hasEndedOnCycle,
            withLife({ _ in edges.contains(next) }) || isGroup(of: next)
        else { return false }
        _ = endBeforeRun(with: broken.error)
        // They would be released when this is linked, and run.
        var ends: [EarlyEnd] = []
        var ended = [(self as AnyOperation, broken)]
        while let (source, broken) = ended.popLast() {
            for follower in broken.livingFollowers {
                let (isAdded, its, end) = follower.withLife { life -> (Bool, BrokenCycle?, EarlyEnd?) in
                    guard life.phase == .added, let its = life.details?.brokenCycle, its.next === source
                    else { return (false, nil, nil) }
                    return (true, its, follower.endBeforeRun(with: its.error, &life))
                }
                if let end { ends.append(end) }
                if isAdded, let its { ended.append((follower, its)) }
            }
        }
        for end in ends { end.settle() }
        return true
    }

    private final var hasEndedOnCycle: Bool {
        withLife { life in
            let error = life.isDecided ? failure : life.details?.endAfterLinking
            return if case .dependencyCycle? = error { true } else { false }
        }
    }

    /// Ends it if it has been added and has not begun.
    final func endWhileAdded(with error: OperationError) -> EarlyEnd? {
        withLife { $0.phase == .added ? endBeforeRun(with: error, &$0) : nil }
    }
}
