/// An operation whose work is other operations: it runs its children, and finishes when all of them have finished.
///
/// ```swift
/// let setup = GroupOperation(openDatabase, loadSettings)
/// let migration = GroupOperation("migration", .ordered, backUp, migrate, verify)
/// ```
///
/// When the group starts, it adds its children to its queue, together with everything they depend on that has not been
/// added yet: inputs and other dependencies, directly or not, as ``AsyncOperationQueue/run(_:)`` does. The outcomes of
/// these dependencies do not count for the group. While the children run, the group has no permit and no task. The
/// children take permits as any operation does, and they start even while the queue is suspended. A child that was
/// added before is only awaited. A group without children succeeds, unless its policy is
/// ``GroupPolicy/firstSuccess``.
///
/// The ``GroupPolicy`` decides the outcome of the group when all children have finished; ``fail(_:)`` ends the group
/// earlier, with an error of its own. A failed group ends with ``OperationError/groupFailed(_:)``, which lists the
/// failures in the order in which the children were given. A child that was cancelled on its own counts as a failure. A
/// child that was skipped does not, nor does a child that the group itself has cancelled.
///
/// Cancelling the group cancels its children, and their children, also those that others have added. The group finishes
/// after all of them, with ``OperationError/cancelled(reason:)`` unless every child has succeeded nevertheless. If it
/// has not started, it does not wait for their handlers.
///
/// A group that ends before it starts for another reason (it is skipped, fails, is replaced, or waits too long) cancels
/// only children that nothing else will run: those that nobody has added and that are in no other group which has not
/// started. A child that others have added stays as it is.
///
/// Each child counts for one unit of the group's ``AnyOperation/progress``. If the progress is read for the first time
/// after a child has failed, it does not include the part of the work that this child had done.
public class GroupOperation: AsyncOperation<Void>, @unchecked Sendable {
    // @unchecked: this class adds no state. The children are in ``OptionalState``, so that a chain of groups is
    // released in a loop.

    /// Makes a group of operations that run side by side.
    ///
    /// - Parameters:
    ///   - children: The operations to run. An operation that is given twice counts twice and runs once.
    ///   - policy: How the outcomes of the children decide the outcome of the group.
    ///   - maxConcurrentOperationCount: The largest number of children that run at a time, in addition to the limit of
    ///     the queue; nil for no additional limit. A child that waits for its own children counts. A value below 1 is
    ///     ``Misuse`` and sets no limit.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    public convenience init(
        _ children: AnyOperation..., policy: GroupPolicy = .collectAll, maxConcurrentOperationCount: Int? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(
            nil, children, policy: policy, maxConcurrentOperationCount: maxConcurrentOperationCount, file: file,
            line: line)
    }

    /// Makes a group with a name of operations that run side by side.
    ///
    /// - Parameters:
    ///   - name: The name of the group in errors and explanations.
    ///   - children: The operations to run. An operation that is given twice counts twice and runs once.
    ///   - policy: How the outcomes of the children decide the outcome of the group.
    ///   - maxConcurrentOperationCount: The largest number of children that run at a time, in addition to the limit of
    ///     the queue; nil for no additional limit. A child that waits for its own children counts. A value below 1 is
    ///     ``Misuse`` and sets no limit.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    public convenience init(
        _ name: String?, _ children: AnyOperation..., policy: GroupPolicy = .collectAll,
        maxConcurrentOperationCount: Int? = nil, file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(
            name, children, policy: policy, maxConcurrentOperationCount: maxConcurrentOperationCount, file: file,
            line: line)
    }

    /// Makes a group of operations that run side by side, from an array.
    ///
    /// - Parameters:
    ///   - children: The operations to run. An operation that is given twice counts twice and runs once.
    ///   - policy: How the outcomes of the children decide the outcome of the group.
    ///   - maxConcurrentOperationCount: The largest number of children that run at a time, in addition to the limit of
    ///     the queue; nil for no additional limit. A child that waits for its own children counts. A value below 1 is
    ///     ``Misuse`` and sets no limit.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    public convenience init(
        _ children: [AnyOperation], policy: GroupPolicy = .collectAll, maxConcurrentOperationCount: Int? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(
            nil, children, policy: policy, maxConcurrentOperationCount: maxConcurrentOperationCount, file: file,
            line: line)
    }

    /// Makes a group with a name of operations that run side by side, from an array.
    ///
    /// - Parameters:
    ///   - name: The name of the group in errors and explanations.
    ///   - children: The operations to run. An operation that is given twice counts twice and runs once.
    ///   - policy: How the outcomes of the children decide the outcome of the group.
    ///   - maxConcurrentOperationCount: The largest number of children that run at a time, in addition to the limit of
    ///     the queue; nil for no additional limit. A child that waits for its own children counts. A value below 1 is
    ///     ``Misuse`` and sets no limit.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    public init(
        _ name: String?, _ children: [AnyOperation], policy: GroupPolicy = .collectAll,
        maxConcurrentOperationCount: Int? = nil, file: StaticString = #fileID, line: UInt = #line
    ) {
        super.init(name, procedure: GroupOperation.self, input: nil, body: Self.runChildren)
        var width: Exclusion?
        if let count = maxConcurrentOperationCount {
            if count < 1 {
                let callSite = CallSite(file: file, line: line)
                report(Misuse(.invalidWidth(count), operation: reference, callSite: callSite))
            } else {
                width = .width(count, of: self)
            }
        }
        setGroup(ChildGroup(of: self, policy: policy, width: width), children: children)
    }

    /// Makes a group whose children run one after another, in the order given.
    ///
    /// Each child depends on the one before it. With ``GroupPolicy/failFast``, the default, a child runs if the one
    /// before it has succeeded; with ``GroupPolicy/collectAll`` in any case; with ``GroupPolicy/firstSuccess`` if the
    /// one before it has failed. A child that does not run is skipped, and so are the children after it.
    ///
    /// A child that a condition skips has neither succeeded nor failed. With ``GroupPolicy/failFast`` the children
    /// after it do not run, and the group succeeds; with ``GroupPolicy/firstSuccess`` no later child is tried. To go on
    /// after such a skip, make a group without an order, in which each child depends on the one before it with
    /// ``DependencyPolicy/noFailure``.
    ///
    /// - Parameters:
    ///   - order: The order in which the children run.
    ///   - children: The operations to run. An operation that is given twice runs once, in its first place. An
    ///     operation that was added to a queue before the group starts, also by another group or with a reader, keeps
    ///     its place in the order, but cannot wait for the child before it, because its dependencies can no longer
    ///     change. It is reported as ``Misuse``, unless it has ended without having run.
    ///   - policy: How the outcomes of the children decide the outcome of the group.
    public convenience init(_ order: GroupOrder, _ children: AnyOperation..., policy: GroupPolicy = .failFast) {
        self.init(nil, order, children, policy: policy)
    }

    /// Makes a group with a name whose children run one after another, in the order given.
    ///
    /// See ``init(_:_:policy:)-(_,AnyOperation...,_)`` for the dependencies between the children.
    ///
    /// - Parameters:
    ///   - name: The name of the group in errors and explanations.
    ///   - order: The order in which the children run.
    ///   - children: The operations to run.
    ///   - policy: How the outcomes of the children decide the outcome of the group.
    public convenience init(
        _ name: String?, _ order: GroupOrder, _ children: AnyOperation..., policy: GroupPolicy = .failFast
    ) {
        self.init(name, order, children, policy: policy)
    }

    /// Makes a group whose children run one after another, from an array.
    ///
    /// See ``init(_:_:policy:)-(_,AnyOperation...,_)`` for the dependencies between the children.
    ///
    /// - Parameters:
    ///   - order: The order in which the children run.
    ///   - children: The operations to run.
    ///   - policy: How the outcomes of the children decide the outcome of the group.
    public convenience init(_ order: GroupOrder, _ children: [AnyOperation], policy: GroupPolicy = .failFast) {
        self.init(nil, order, children, policy: policy)
    }

    /// Makes a group with a name whose children run one after another, from an array.
    ///
    /// See ``init(_:_:policy:)-(_,AnyOperation...,_)`` for the dependencies between the children.
    ///
    /// - Parameters:
    ///   - name: The name of the group in errors and explanations.
    ///   - order: The order in which the children run.
    ///   - children: The operations to run.
    ///   - policy: How the outcomes of the children decide the outcome of the group.
    public init(_ name: String?, _ order: GroupOrder, _ children: [AnyOperation], policy: GroupPolicy = .failFast) {
        super.init(name, procedure: GroupOperation.self, input: nil, body: Self.runChildren)
        setGroup(ChildGroup(of: self, policy: policy, order: DependencyPolicy(inOrder: policy)), children: children)
    }

    /// Adds a child before the group is added or while it runs.
    ///
    /// A running group starts the child at once, as if it had been given from the beginning. In an ordered group the
    /// child comes after all others. May be called from anywhere, including a child of the group and a handler.
    ///
    /// - Parameters:
    ///   - child: The operation to run.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Throws: ``OperationError/misuse(_:)`` if the call comes too late: all children have finished, the group was
    ///   cancelled, or its policy has decided. The child is left unchanged.
    public func add(
        _ child: AnyOperation, file: StaticString = #fileID, line: UInt = #line
    ) throws(OperationError) {
        guard let group = withLifecycle({ $0.optionalState?.childGroups.first }), group.insert(child) else {
            let callSite = CallSite(file: file, line: line)
            throw .misuse(Misuse(.groupIsClosed(child.reference), operation: reference, callSite: callSite))
        }
        GraphChanges.note()
    }

    /// Ends the group with an error of its own: cancels its unfinished children, and accepts no further ones.
    ///
    /// The group finishes when all of its children have, with ``OperationError/groupFailed(_:)``. The first failure in
    /// it is that of the group itself, with `error`, so that ``OperationError/underlyingError`` is `error`; the
    /// failures of the children follow. Only the first call counts. A call before the group starts keeps its children
    /// from running; a call after all of them have finished changes nothing.
    ///
    /// May be called from anywhere, including a child of the group and a handler.
    ///
    /// - Parameter error: The error that the group fails with.
    public func fail(_ error: any Error) {
        let failure = OperationFailure(ofGroup: reference, error: OperationError(thrownByBody: error))
        withLifecycle { $0.optionalState?.childGroups.first }?.fail(failure)
    }

    private func setGroup(_ group: ChildGroup, children: [AnyOperation]) {
        withLifecycle { $0.ensureOptionalState().childGroups = [group] }
        for child in children { _ = group.insert(child) }
    }

    private static let runChildren: Body.Code = { execution in
        let operation = execution.operation
        let (group, core) = operation.withLifecycle { ($0.optionalState?.childGroups.first, operation.core) }
        guard let group, let core else { return }
        await group.run(on: core)
        operation.childrenHaveEnded(in: group)
    }
}

extension AnyOperation {
    /// The children of a group that have not ended, also before the group runs; empty if the operation is not a group.
    package final var plannedChildren: [AnyOperation] {
        withLifecycle { $0.optionalState?.childGroups.first }?.unfinishedChildren ?? []
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
        Exclusion(key: .group(group.reference, width: width), share: .units(1, of: width))
    }
}

// MARK: - Policies

/// The rule by which the outcomes of the children decide the outcome of a ``GroupOperation``.
@nonexhaustive
public enum GroupPolicy: Sendable, Hashable, CaseIterable {
    /// All children run, and the group fails if one of them has failed.
    case collectAll
    /// The first child that fails ends the group.
    ///
    /// The group cancels its other children, and with them what depends on them. In an ``GroupOrder/ordered`` group,
    /// each child after the failed one is skipped, because of the child before it.
    case failFast
    /// The first child that succeeds ends the group, which cancels its other children. The group fails if none
    /// succeeds.
    case firstSuccess
}

/// The order in which the children of a ``GroupOperation`` run, if it matters.
@nonexhaustive
public enum GroupOrder: Sendable, Hashable {
    /// The children run one after another, in the order given.
    case ordered
}
