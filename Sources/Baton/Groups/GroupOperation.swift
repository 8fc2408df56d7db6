/// An operation whose work is other operations: it runs its children, and finishes when all of them have.
///
/// ```swift
/// let setup = GroupOperation(openDatabase, loadSettings)
/// let migration = GroupOperation(.ordered, backUp, migrate, verify)
/// ```
///
/// The children are added to the group's queue when the group starts, with everything they need that nobody has added
/// yet. Meanwhile the group holds no permit and has no task; its children take their permits as any operation does,
/// also while the queue is suspended. One that was added before is awaited, and no more. A group without children
/// succeeds, but for ``GroupPolicy/firstSuccess``.
///
/// What becomes of the group is decided by its ``GroupPolicy``, when all children have finished; ``fail(_:)`` ends it
/// before, with an error of its own. A group that has failed ends with ``OperationError/groupFailed(_:)``, which lists
/// what failed, in the order in which the children were given: a child that was cancelled on its own has failed; one
/// that was skipped has not, nor one that the group itself has cancelled.
///
/// Cancelling the group cancels its children, and theirs, and the group finishes after all of them: with
/// ``OperationError/cancelled(reason:)``, unless every child has succeeded all the same. A group that ends without
/// having started cancels its children, too: nobody else will run them. Each child counts for one unit of the group's
/// ``AnyOperation/progress``; how far one had come that failed is known if somebody had asked for that by then.
public class GroupOperation: AsyncOperation<Void>, @unchecked Sendable {
    // @unchecked: it adds no state. Its children are in ``OptionalState``, so that a chain of groups is released in a
    // loop.

    /// Makes a group of operations that run side by side.
    ///
    /// - Parameters:
    ///   - children: What it runs. One that is given twice counts twice and runs once.
    ///   - name: What the group is called in errors and explanations.
    ///   - policy: What becomes of the group when children fail or succeed.
    ///   - maxConcurrentOperationCount: How many children may have begun and not finished at a time, besides the limit
    ///     of the queue; nil for no other limit. One that waits for its own children counts. Less than 1 is ``Misuse``,
    ///     and no limit.
    public convenience init(
        _ children: AnyOperation..., name: String? = nil, policy: GroupPolicy = .collectAll,
        maxConcurrentOperationCount: Int? = nil
    ) {
        self.init(
            children, name: name, policy: policy, maxConcurrentOperationCount: maxConcurrentOperationCount)
    }

    /// Makes a group of operations that run side by side, from an array.
    public init(
        _ children: [AnyOperation], name: String? = nil, policy: GroupPolicy = .collectAll,
        maxConcurrentOperationCount: Int? = nil
    ) {
        super.init(name, procedure: GroupOperation.self, input: nil, body: Self.runChildren)
        var width: Exclusion?
        if let count = maxConcurrentOperationCount {
            if count < 1 {
                report(Misuse(.invalidWidth(count), operation: reference))
            } else {
                width = .width(count, of: self)
            }
        }
        give(children, to: ChildGroup(of: self, policy: policy, width: width))
    }

    /// Makes a group whose children run one after another, in the order given.
    ///
    /// Each gets the one before it as a dependency: by ``GroupPolicy/failFast``, the default, it runs if that one has
    /// succeeded, by ``GroupPolicy/collectAll`` in any case, by ``GroupPolicy/firstSuccess`` if that one has failed.
    /// One that does not run is skipped, and so are those after it. One that was added to a queue before keeps its
    /// place in the list, and not in time: its dependencies cannot change any more, and that is ``Misuse``. One that is
    /// given twice runs once, in its first place.
    public convenience init(
        _ order: GroupOrder, _ children: AnyOperation..., name: String? = nil, policy: GroupPolicy = .failFast
    ) {
        self.init(order, children, name: name, policy: policy)
    }

    /// Makes a group whose children run one after another, from an array.
    public init(
        _ order: GroupOrder, _ children: [AnyOperation], name: String? = nil, policy: GroupPolicy = .failFast
    ) {
        super.init(name, procedure: GroupOperation.self, input: nil, body: Self.runChildren)
        give(children, to: ChildGroup(of: self, policy: policy, order: DependencyPolicy(inOrder: policy)))
    }

    /// Adds a child, before the group is added or while it runs: from a child of it, from a handler, from anywhere.
    ///
    /// A group that runs starts the child at once, as if it had been given from the beginning; in an ordered group it
    /// comes after all others.
    ///
    /// - Throws: ``OperationError/misuse(_:)`` when it comes too late: all children have finished, the group was
    ///   cancelled, or its policy has decided. The child is left as it was.
    public func add(_ child: AnyOperation) throws(OperationError) {
        guard let group = withLife({ $0.optionalState?.childGroups.first }), group.insert(child) else {
            throw .misuse(Misuse(.groupIsClosed(child.reference), operation: reference))
        }
        GraphChanges.note()
    }

    /// Ends the group with an error of its own: children that have not finished are cancelled, and no other is taken.
    ///
    /// The group finishes when all have, with ``OperationError/groupFailed(_:)``: the first failure in it is that of
    /// the group itself, with this error, so that ``OperationError/underlyingError`` is it; those of the children
    /// follow. The first call counts. One before the group starts keeps its children from running; one after all of
    /// them have finished changes nothing.
    ///
    /// May be called from anywhere: a child of the group, a handler.
    public func fail(_ error: any Error) {
        let failure = OperationFailure(operation: reference, error: OperationError(thrownByBody: error))
        withLife { $0.optionalState?.childGroups.first }?.fail(failure)
    }

    private func give(_ children: [AnyOperation], to group: ChildGroup) {
        withLife { $0.madeOptionalState().childGroups = [group] }
        for child in children { _ = group.insert(child) }
    }

    private static let runChildren: Body.Wrapped = { execution in
        let operation = execution.operation
        let (group, core) = operation.withLife { ($0.optionalState?.childGroups.first, operation.core) }
        guard let group, let core else { return }
        await group.run(on: core)
        operation.childrenHaveEnded(in: group)
    }
}

extension AnyOperation {
    /// The children of a group that have not ended, also before the group runs; empty if this is no group.
    package final var plannedChildren: [AnyOperation] {
        withLife { $0.optionalState?.childGroups.first }?.unendedChildren ?? []
    }
}

extension DependencyPolicy {
    fileprivate init(inOrder policy: GroupPolicy) {
        switch policy {
        case .collectAll: self = .always
        case .failFast: self = .success
        case .firstSuccess: self = .failure
        }
    }
}

extension Exclusion {
    fileprivate static func width(_ width: Int, of group: AnyOperation) -> Exclusion {
        Exclusion(key: .group(group.reference), share: .units(1, of: width))
    }
}
