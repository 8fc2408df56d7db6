/// The cycles through an operation that were broken before anybody added the operation. Guarded by its operation's
/// lock.
///
/// The dependencies of such an operation may still change, so it does not fail when the cycle is broken. It fails when
/// it is added, if it still depends on the next operation of one of the cycles and that operation has failed because of
/// a cycle. If the next operation is added later, both fail then.
///
/// An example: A waits for B, B waits for A, and nobody has added A. The break fails B and notes the cycle in A. When A
/// is added and still depends on B, A fails, too.
///
/// Several breaks may note cycles in one operation. The cycles of earlier breaks are kept, because a later break does
/// not see the members that have ended since.
struct BrokenCycles {
    /// The reference is weak, because an operation retains its dependencies, and `BrokenCycles` is a part of an
    /// operation.
    private struct Member {
        weak var operation: AnyOperation?
    }

    private struct Edge {
        let error: OperationError
        let next: Member
    }

    /// The edges of this operation on its broken cycles, in the order of the breaks.
    private var edges: [Edge] = []
    private var places: [ObjectIdentifier: Int] = [:]
    private var followers: [ObjectIdentifier: Member] = [:]

    /// Notes a broken cycle.
    ///
    /// - Parameters:
    ///   - error: The error for the operation.
    ///   - next: The operation that this operation waits for on the cycle.
    ///   - followers: The unadded operations whose next operation on their cycle is this one.
    mutating func note(_ error: OperationError, next: AnyOperation, followers: some Sequence<AnyOperation>) {
        // The identifier may be that of a released operation whose address is used again. Then the weak reference is
        // nil, and the edge is replaced.
        let edge = Edge(error: error, next: Member(operation: next))
        if let place = places[ObjectIdentifier(next)] {
            if edges[place].next.operation == nil { edges[place] = edge }
        } else {
            places[ObjectIdentifier(next)] = edges.count
            edges.append(edge)
        }
        for follower in followers { self.followers[ObjectIdentifier(follower)] = Member(operation: follower) }
    }

    /// The next operations that are alive, each with the error for an operation that ends because of it.
    var all: [(next: AnyOperation, error: OperationError)] {
        edges.compactMap { edge in edge.next.operation.map { ($0, edge.error) } }
    }

    /// The error for an operation that ends because of `next`. Nil if none of the cycles leads to `next`.
    func error(through next: AnyOperation) -> OperationError? {
        guard let place = places[ObjectIdentifier(next)], edges[place].next.operation === next else { return nil }
        return edges[place].error
    }

    var livingFollowers: [AnyOperation] { followers.values.compactMap(\.operation) }
}

extension AnyOperation {
    /// Notes a broken cycle that leads from this operation to `next`, unless somebody has added the operation.
    final func noteBrokenCycle(
        _ error: OperationError, next: AnyOperation, followers: some Sequence<AnyOperation>
    ) {
        withLifecycle { life in
            guard life.phase == .created else { return }
            life.ensureOptionalState().noteBrokenCycle(error, next: next, followers: followers)
        }
    }

    /// Ends the operation if it has been added and has not begun. The caller completes the end.
    final func endWhileAdded(with error: OperationError) -> EarlyEnd? {
        withLifecycle { $0.phase == .added && !$0.hasBegun && !isFence ? endBeforeRun(with: error, &$0) : nil }
    }

    /// Ends the operation if it has been added, has not begun and still depends on `next`. The caller completes the
    /// end.
    final func endWhileAdded(with error: OperationError, dependingOn next: AnyOperation) -> EarlyEnd? {
        isPending && needs(next) ? endWhileAdded(with: error) : nil
    }

    /// - Complexity: O(n), where n is the number of dependencies and of children of a group.
    private final func needs(_ operation: AnyOperation) -> Bool {
        withLifecycle { _ in edges.contains(operation) } || plannedChildren.contains { $0 === operation }
    }

    /// Ends this operation, a child of a group that has ended, if nobody has added it and it is on a broken cycle.
    ///
    /// - Returns: The ends of this operation and of its followers. Empty if it is on no broken cycle.
    final func endAsChildOnBrokenCycle() -> [EarlyEnd] {
        // The operations are released outside the lock.
        let cycleEdges = withLifecycle { $0.optionalState?.brokenCycles?.all ?? [] }
        if cycleEdges.isEmpty { return [] }
        let end = withLifecycle { life -> EarlyEnd? in
            guard life.phase == .created else { return nil }
            let sources = Set(edges.all.map { ObjectIdentifier($0) })
            guard let edge = cycleEdges.first(where: { sources.contains(ObjectIdentifier($0.next)) }) else {
                return nil
            }
            return endBeforeRun(with: edge.error, &life)
        }
        guard let end else { return [] }
        return [end] + AnyOperation.endFollowers(of: [self])
    }

    /// Returns true if the operation is on a broken cycle, and so ends as soon as it is linked. Called by the thread
    /// that adds the operation, which has not linked it yet.
    final func endIfOnBrokenCycle() -> Bool {
        let (cycleEdges, sources) = withLifecycle { life in
            life.optionalState?.brokenCycles.map { ($0.all, edges.all) } ?? ([], [])
        }
        if cycleEdges.isEmpty { return false }
        let sourceIDs = Set((sources + plannedChildren).map { ObjectIdentifier($0) })
        guard
            let edge = cycleEdges.first(where: {
                sourceIDs.contains(ObjectIdentifier($0.next)) && $0.next.hasEndedOnCycle
            })
        else { return false }
        let end = endBeforeRun(with: edge.error)
        assert(end == nil, "Internal inconsistency: an operation ended before its thread had linked it")
        return true
    }

    /// Ends this operation if it is on a broken cycle with a source that has finished. Called by the thread that links
    /// the operation to that source.
    final func endIfSourceEndedOnCycle() {
        CycleBreak.foundFinished(by: self)
        _ = endIfOnBrokenCycle()
    }

    /// Ends the followers, direct and indirect, of those `operations` that failed because of a cycle, if the followers
    /// have been added since the break. Otherwise the completion of `operations` would make them ready, and they would
    /// run.
    static func endFollowers(of operations: [AnyOperation]) -> [EarlyEnd] {
        var ends: [EarlyEnd] = []
        var ended = operations
        while let source = ended.popLast() {
            for follower in source.followersIfEndedOnCycle {
                guard let error = follower.error(through: source), follower.needs(source) else { continue }
                let (isNew, end) = follower.withLifecycle { life -> (Bool, EarlyEnd?) in
                    // An operation that has ended while a thread links it stays `added` until that thread completes it.
                    // It has `endAfterLinking` then.
                    guard life.phase == .added, life.optionalState?.endAfterLinking == nil else { return (false, nil) }
                    return (true, follower.endBeforeRun(with: error, &life))
                }
                if let end { ends.append(end) }
                if isNew { ended.append(follower) }
            }
        }
        return ends
    }

    private final var followersIfEndedOnCycle: [AnyOperation] {
        withLifecycle { life in
            guard let broken = life.optionalState?.brokenCycles, hasEndedOnCycle(life) else { return [] }
            return broken.livingFollowers
        }
    }

    /// The error for an operation that has been added and has not begun, and ends because of `next`.
    private final func error(through next: AnyOperation) -> OperationError? {
        withLifecycle { $0.phase == .added ? $0.optionalState?.brokenCycles?.error(through: next) : nil }
    }

    private final var hasEndedOnCycle: Bool { withLifecycle { hasEndedOnCycle($0) } }

    private final func hasEndedOnCycle(_ life: borrowing Lifecycle) -> Bool {
        let error = life.isDecided ? failure : life.optionalState?.endAfterLinking
        return if case .dependencyCycle? = error { true } else { false }
    }
}
