/// What a unique operation has besides: its identity, and who has joined it or what it has joined. Part of ``Details``,
/// and guarded by the operation's lock but for what is constant.
final class Uniqueness {
    let identity: any Identity
    let policy: UniquenessPolicy
    /// Where the identity counts; nil: as the queue says.
    let scope: OperationScope?
    /// Once it has the identity.
    var place: Identities.Place?
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
        if let place { Identities.leave(operation, at: place) }
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
    func ownerWithdraws(_ reason: CancellationReason) -> Bool { details?.uniqueness?.ownerWithdraws(reason) ?? true }
}
