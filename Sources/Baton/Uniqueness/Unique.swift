extension AnyOperation {
    /// Gives the operation an identity, which only one unfinished operation of its scope can have.
    ///
    /// ```swift
    /// let avatar = AsyncOperation(Download(url)).unique(by: url, policy: .join)
    /// ```
    ///
    /// The identity is the procedure's type and the key: keys of different types are never equal. Operations made from
    /// closures have their key alone, so all of them share one namespace; give them one of their own with
    /// ``unique(by:in:policy:within:file:line:)``. It is decided in the add, in one step for all queues and threads,
    /// and in the order of the array of one call, what becomes of an operation that finds another one of its identity
    /// unfinished; its own policy decides. The identity is free again when the operation that has it has finished,
    /// whatever its outcome.
    ///
    /// - `reject`: it ends with ``OperationError/skipped(_:)``. Like one that joins, it has no dependencies, conditions
    ///   or exclusions any more, and ``AsyncOperationQueue/run(_:)`` and ``add(to:includingDependencies:file:line:)``
    ///   do not add what only it would need.
    /// - `join`: it ends as the other one, the original, does, with that one's own error. It takes no permit, so the
    ///   width and the suspension of its queue do not matter, and no start is told. An original that was cancelled and
    ///   whose body has not returned is joined, too. Another `Output` than the original's is ``Misuse``, with which it
    ///   ends.
    /// - `replace`: the other one is cancelled with ``CancellationReason/replaced(by:)``, joined or not, and this one
    ///   starts after its outcome. If that one's body waits for this one, this ends with
    ///   ``OperationError/dependencyCycle(_:)`` and replaces nothing. One that needs the output of what it replaces
    ///   fails as it does for any cancelled dependency. What came along with the add of the other one, and nobody else
    ///   needs or awaits, is cancelled with it.
    ///
    /// An original that has been joined belongs to all who are interested: its owner and those who have joined it. A
    /// ``cancel(reason:)`` of the original only ends the owner's interest, and so does the cancel of what runs it; it
    /// is cancelled for this reason when the last of those who have joined it has ended. Who runs or awaits the
    /// original goes on waiting for it, also after its own cancel. One that has joined ends at once when it is
    /// cancelled. So who shares a token refresh and is to end at once runs one that joins, and leaves the first to a
    /// queue of its own. One that joins what waits for it, its own ancestor, say, ends with
    /// ``OperationError/dependencyCycle(_:)``.
    ///
    /// Keys count in the ``OperationScope`` of the operation's queue, which is the process unless another one is set.
    /// Tests that run in parallel are one process: give their queues a scope of their own. A seeded schedule of
    /// `BatonTesting` has one.
    ///
    /// Called twice, the last call counts. After the add this is ``Misuse`` and changes nothing.
    ///
    /// - Parameters:
    ///   - key: Hashed by this call, and compared by the add, outside every lock. Released at the finish.
    ///   - policy: What becomes of this operation, and of the other one.
    ///   - scope: Where the key counts; if nil, as the operation's queue says when it is added:
    ///     ``AsyncOperationQueue/scope``.
    @discardableResult
    public final func unique(
        by key: some Hashable & Sendable, policy: UniquenessPolicy = .reject, within scope: OperationScope? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        let namespace = fallbackName.type.map { Namespace.type(ObjectIdentifier($0)) } ?? .text("")
        setIdentity(KeyIdentity(key, in: namespace), policy, scope, CallSite(file: file, line: line))
        return self
    }

    /// Gives the operation an identity in a namespace of this name, whatever its procedure.
    ///
    /// As ``unique(by:policy:within:file:line:)``, for closures, or for several types that do the same. The empty name
    /// is that of the closures for which none was given.
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
        let uniqueness = Uniqueness(identity, policy, scope)
        // Its key is the user's: released after unlocking.
        var former: Uniqueness?
        change("uniqueness", callSite) { life in
            former = life.madeOptionalState().uniqueness
            life.madeOptionalState().uniqueness = uniqueness
        }
        withExtendedLifetime(former) {}
    }
}

/// What an operation does when another one with its identity has not finished. See
/// ``AnyOperation/unique(by:policy:within:file:line:)``.
@nonexhaustive
public enum UniquenessPolicy: Sendable, Hashable, CaseIterable {
    /// It does not run, and ends with ``OperationError/skipped(_:)``, naming the other one.
    case reject
    /// It does not run, and ends as the other one does, with the same output or error.
    case join
    /// It cancels the other one, and starts after that one's outcome.
    case replace
}

/// What a unique operation has besides: its identity, and who has joined it or what it has joined. Part of
/// ``OptionalState``, and guarded by the operation's lock but for what is constant.
final class Uniqueness {
    let identity: any Identity
    let policy: UniquenessPolicy
    /// Where the identity counts; nil: as the queue says.
    let scope: OperationScope?
    /// Once it has the identity.
    var place: Deduplication.Place?
    /// What it has joined.
    var joined: Joined?
    /// By their places, which rise; those that have not ended. Each waits for being told; see
    /// ``AnyOperation/originalEnded(_:)``.
    private var joiners: [Int: AnyOperation] = [:]
    private var lastPlace = 0
    /// The owner is not interested any more, for this reason, and others are.
    private var reasonOfOwner: CancellationReason?

    init(_ identity: any Identity, _ policy: UniquenessPolicy, _ scope: OperationScope? = nil) {
        self.identity = identity
        self.policy = policy
        self.scope = scope
    }

    /// Nobody is left who wants the outcome.
    var isUnwanted: Bool { reasonOfOwner != nil && joiners.isEmpty }

    /// True: nobody else is interested, so it is to be cancelled.
    func ownerWithdraws(_ reason: CancellationReason) -> Bool {
        if joiners.isEmpty { return true }
        if reasonOfOwner == nil { reasonOfOwner = reason }
        return false
    }

    /// Returns its place among those who have joined.
    func add(_ joiner: AnyOperation) -> Int {
        lastPlace += 1
        joiners[lastPlace] = joiner
        return lastPlace
    }

    /// - Returns: The reason to cancel this for, if nobody is interested any more.
    func remove(joinerAt place: Int) -> CancellationReason? {
        joiners[place] = nil
        return joiners.isEmpty ? reasonOfOwner : nil
    }

    /// The operation has finished, and has let go of this, so nobody else reaches it.
    func operationEnded(_ operation: AnyOperation) {
        if let place { Deduplication.leave(operation, at: place) }
        for (_, joiner) in joiners.sorted(by: { $0.key < $1.key }) { joiner.originalEnded(operation) }
    }
}

/// An original, and the place of one that has joined it among those who have.
struct Joined {
    let original: AnyOperation
    let place: Int
}

extension Lifecycle {
    /// True: the operation is to be cancelled. False: others are interested in it, and only its owner is not any more.
    func ownerWithdraws(_ reason: CancellationReason) -> Bool {
        optionalState?.uniqueness?.ownerWithdraws(reason) ?? true
    }
}
