extension AnyOperation {
    /// Gives the operation an identity, which only one unfinished operation of its scope can have.
    ///
    /// ```swift
    /// let avatar = AsyncOperation(Download(url)).unique(by: url, policy: .join)
    /// ```
    ///
    /// The identity consists of the procedure's type and the key; keys of different types are never equal. Operations
    /// made from closures have no procedure type, so all of them share one namespace. Give them a namespace of their
    /// own with ``unique(by:in:policy:within:file:line:)``.
    ///
    /// If an operation is added while another one with its identity is unfinished, its own policy decides what becomes
    /// of both. The add decides this in one step for all queues and threads, and in the order of the array if one call
    /// adds several operations. The identity is free again when the operation that has it has finished, whatever its
    /// outcome.
    ///
    /// - `reject`: the new operation ends with ``OperationError/skipped(_:)`` when it is added, and its handlers are
    ///   called at once. It loses its dependencies, conditions and exclusions, as does an operation that joins, and
    ///   ``AsyncOperationQueue/run(_:)`` and ``add(to:includingDependencies:file:line:)`` do not add what only this
    ///   operation would need.
    /// - `join`: the new operation ends as the other one, the original, does, with the same output or error. It takes
    ///   no permit, so the width and the suspension of its queue do not matter, and no start is reported. Its own
    ///   timeouts, that for waiting included, and its retry have no effect: set the limit of a shared request on the
    ///   original. A cancelled original whose body has not returned can be joined, too. If the original has another
    ///   `Output`, the new operation ends with ``Misuse``.
    /// - `replace`: the other operation is cancelled with ``CancellationReason/replaced(by:)``, even if it was joined,
    ///   and the new operation starts after its outcome. If the body of the other operation waits for the new one, the
    ///   new operation ends with ``OperationError/dependencyCycle(_:)`` and replaces nothing. If it needs the output of
    ///   the operation that it replaces, it fails as with any cancelled dependency. Operations that were added along
    ///   with the other one, and that nobody else needs or awaits, are cancelled with it.
    ///
    /// An original that has been joined belongs to its owner and to the operations that have joined it. A
    /// ``cancel(reason:)`` of the original, or of the operation that runs it, only ends the interest of its owner. The
    /// original is cancelled for this reason when the last operation that has joined it has ended. A caller that runs
    /// or awaits the original continues to wait for it, even after a cancellation of its own. An operation that has
    /// joined ends at once when it is cancelled. To share a token refresh and still end at once on a cancellation, add
    /// one operation that nobody cancels, and run a second one that joins it: <doc:Recipes#Share-a-token-refresh> has
    /// the code. An operation that joins one that waits for it, such as its own ancestor, ends with
    /// ``OperationError/dependencyCycle(_:)``.
    ///
    /// Keys count in the ``OperationScope`` of the operation's queue, which is the process unless another one is set.
    /// Tests that run in parallel share a process, so give their queues scopes of their own. A seeded schedule of
    /// `BatonTesting` has one.
    ///
    /// If this method is called more than once, the last call counts. A call after the add is ``Misuse`` and changes
    /// nothing.
    ///
    /// - Parameters:
    ///   - key: The key, which this call hashes and the add compares, both outside every lock. Released when the
    ///     operation finishes.
    ///   - policy: What becomes of this operation and the other one.
    ///   - scope: The scope in which the key counts, or nil for ``AsyncOperationQueue/scope`` of the operation's queue
    ///     at the time of the add.
    /// - Returns: This operation.
    @discardableResult
    public final func unique(
        by key: some Hashable & Sendable, policy: UniquenessPolicy = .reject, within scope: OperationScope? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        let namespace = fallbackName.type.map { Namespace.type(ObjectIdentifier($0)) } ?? .text("")
        setIdentity(KeyIdentity(key, in: namespace), policy, scope, CallSite(file: file, line: line))
        return self
    }

    /// Gives the operation an identity in a named namespace, whatever its procedure.
    ///
    /// Use a namespace for closures, or for several procedures that do the same. The empty name is the namespace of
    /// closures for which none was given. Otherwise this method does what ``unique(by:policy:within:file:line:)`` does.
    ///
    /// - Parameters:
    ///   - key: The key, which this call hashes and the add compares, both outside every lock.
    ///   - namespace: The name of the namespace.
    ///   - policy: What becomes of this operation and the other one.
    ///   - scope: The scope in which the key counts, or nil for ``AsyncOperationQueue/scope`` of the operation's queue
    ///     at the time of the add.
    /// - Returns: This operation.
    @discardableResult
    public final func unique(
        by key: some Hashable & Sendable, in namespace: String, policy: UniquenessPolicy = .reject,
        within scope: OperationScope? = nil, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        setIdentity(KeyIdentity(key, in: .text(namespace)), policy, scope, CallSite(file: file, line: line))
        return self
    }

    private final func setIdentity(
        _ identity: any Identity, _ policy: UniquenessPolicy, _ scope: OperationScope?, _ callSite: CallSite
    ) {
        let uniqueness = Uniqueness(identity, policy, scope, callSite)
        // The former key is the user's value, so it is released after unlocking.
        var former: Uniqueness?
        change("its uniqueness", callSite) { life in
            former = life.ensureOptionalState().uniqueness
            life.ensureOptionalState().uniqueness = uniqueness
        }
        withExtendedLifetime(former) {}
    }
}

/// The rule for an operation that is added while another one with its identity is unfinished.
///
/// See ``AnyOperation/unique(by:policy:within:file:line:)``.
@nonexhaustive
public enum UniquenessPolicy: Sendable, Hashable, CaseIterable {
    /// The operation does not run, and ends with ``OperationError/skipped(_:)``, which names the other one.
    case reject
    /// The operation does not run, and ends as the other one does, with the same output or error.
    ///
    /// Its own timeouts, retry, conditions, dependencies and exclusions have no effect. Those of the other one count.
    case join
    /// The operation cancels the other one, and starts after its outcome.
    case replace
}

/// The state of a unique operation: its identity, the operations that have joined it, and the one that it has joined.
/// Part of ``OptionalState``; the operation's lock guards everything that is not constant.
final class Uniqueness {
    let identity: any Identity
    let policy: UniquenessPolicy
    /// The scope in which the identity counts, or nil for that of the queue.
    let scope: OperationScope?
    /// The call that has given the operation its identity.
    let callSite: CallSite
    /// The place of the identity in the table, once the operation has it.
    var place: Deduplication.EntryNumber?
    /// The operation that this one has joined.
    var joined: Joined?
    /// The operations that have joined this one and have not ended, by their places, which rise. This operation
    /// notifies each of them when it finishes, with ``AnyOperation/originalEnded(_:)``.
    private var joiners: [Int: AnyOperation] = [:]
    private var lastPlace = 0
    /// The cancellation that came while others were interested.
    private var withdrawal: Withdrawal?

    /// A cancellation that comes into effect when nobody is interested in the operation any more.
    struct Withdrawal {
        let reason: CancellationReason
        /// True if somebody who had needed the operation was cancelled, and not the operation itself. It is then
        /// cancelled only if nobody has come to need it meanwhile.
        let isOfDependent: Bool
    }

    init(_ identity: any Identity, _ policy: UniquenessPolicy, _ scope: OperationScope?, _ callSite: CallSite) {
        self.identity = identity
        self.policy = policy
        self.scope = scope
        self.callSite = callSite
    }

    /// True if nobody is interested in the outcome any more.
    var isUnwanted: Bool { withdrawal != nil && joiners.isEmpty }

    /// Records that the owner is not interested any more. Returns true if nobody else is, so that the operation is to
    /// be cancelled.
    func ownerWithdraws(_ reason: CancellationReason, isOfDependent: Bool) -> Bool {
        if joiners.isEmpty { return true }
        if withdrawal == nil || !isOfDependent && withdrawal!.isOfDependent {
            withdrawal = Withdrawal(reason: reason, isOfDependent: isOfDependent)
        }
        return false
    }

    /// Adds an operation that joins, and returns its place among those that have joined.
    func add(_ joiner: AnyOperation) -> Int {
        lastPlace += 1
        joiners[lastPlace] = joiner
        return lastPlace
    }

    /// Removes an operation that has joined. Returns the cancellation that comes into effect if no other has.
    func remove(joinerAt place: Int) -> Withdrawal? {
        joiners[place] = nil
        return joiners.isEmpty ? withdrawal : nil
    }

    /// Frees the identity and notifies the operations that have joined. The operation has finished and dropped this
    /// object, so no other thread can reach it.
    func operationEnded(_ operation: AnyOperation) {
        assert(operation.hasFinished, "an operation releases its identity when it has finished")
        if let place { Deduplication.remove(operation, at: place) }
        for (_, joiner) in joiners.sorted(by: { $0.key < $1.key }) { joiner.originalEnded(operation) }
    }
}

/// The original that an operation has joined, and the place of the operation among those that have joined it.
struct Joined {
    let original: AnyOperation
    let place: Int
}

extension Lifecycle {
    /// Records that the owner is not interested any more. Returns true if the operation is to be cancelled, and false
    /// if others are interested in it.
    ///
    /// - Parameter isOfDependent: True if somebody who had needed the operation was cancelled, and not the operation.
    func ownerWithdraws(_ reason: CancellationReason, isOfDependent: Bool = false) -> Bool {
        optionalState?.uniqueness?.ownerWithdraws(reason, isOfDependent: isOfDependent) ?? true
    }
}

// MARK: - Joining another operation

/// An operation that has joined another one, its original.
///
/// The operation is added with one edge to the original and one additional count in its dependency counter, so that it
/// never becomes ready and takes no permit. It ends as an operation that does not run: when the original notifies it,
/// or earlier when it is cancelled. The thread that takes it from the original's list takes back the additional count.
extension AnyOperation {
    /// Adds an operation that joins this one, and returns its place. Returns nil if this operation has finished and
    /// cannot be joined.
    final func addJoiner(_ joiner: AnyOperation) -> Int? {
        withLifecycle { life in life.phase == .finished ? nil : life.optionalState?.uniqueness?.add(joiner) }
    }

    /// Called by the thread that finishes the original.
    final func originalEnded(_ original: AnyOperation) {
        endBeforeRun(as: original)?.complete()
        letGoAsJoiner()
    }

    /// Takes back the additional count. The last count that goes releases the operation, here or with its last source.
    fileprivate final func letGoAsJoiner() {
        if case .ended = dependencyCounter.countDown() {
            AnyOperation.releaseAfterEarlyEnd(Retained(handedOver: self))
        }
    }

    /// True if an operation needs this one without having joined it, and its own outcome is not decided.
    final func isNeeded(by dependents: [AnyOperation]) -> Bool {
        dependents.contains { dependent in
            !dependent.isFence
                && dependent.withLifecycle { life in
                    !life.isDecided && life.optionalState?.uniqueness?.joined?.original !== self
                }
        }
    }
}

extension Joined {
    /// Removes an operation that has ended from its original. The original is cancelled if nobody is interested in it
    /// any more.
    func leave(_ joiner: AnyOperation) {
        let (isListed, withdrawal) = original.withLifecycle { life -> (Bool, Uniqueness.Withdrawal?) in
            // A finished original has taken its list, and notifies the operations in it.
            guard let uniqueness = life.optionalState?.uniqueness else { return (false, nil) }
            return (true, uniqueness.remove(joinerAt: place))
        }
        if isListed { joiner.letGoAsJoiner() }
        guard let withdrawal else { return }
        if withdrawal.isOfDependent {
            original.cancelIfUnneeded(reason: withdrawal.reason)
        } else {
            // The condition is checked in the step that cancels, because another operation may join in between.
            original.cancel(reason: withdrawal.reason) { $0.optionalState?.uniqueness?.isUnwanted ?? false }
        }
    }
}
