/// Decides who holds which exclusion. A pure value: its driver, ``ExclusionManager``, locks it, asks it, unlocks it,
/// and then notifies the owners that were granted their claims.
///
/// An owner has one claim at a time, on one or more names, all of which it is granted at once. The claims that wait for
/// a name are served in the order in which they came, but further attempts come first: otherwise an operation would
/// wait behind all first attempts for a name that it had held before. Within first attempts and within further
/// attempts, claims are granted strictly in the order in which they came, so neither an exclusive claim nor one for
/// many units can starve. An owner with an ancestor that holds a name draws on the ancestor's share: it waits only
/// behind that ancestor's other descendants, unless it asks for more than the share.
///
/// The state machine retains owners while they wait or hold. Callers retain the owners that they pass, so no owner's
/// `deinit` runs under the manager's lock. Precondition: the ancestors of an owner include the ancestors of each of its
/// ancestors, and an ancestor acquires before its descendants and releases after them.
struct ExclusionStateMachine<Owner: AnyObject> {
    enum RequestResult: Equatable {
        case granted
        case waiting
    }

    enum ClaimState: Equatable {
        case none
        /// `isQueued` is false after ``ExclusionStateMachine/leaveQueues(_:)``.
        case waiting(isQueued: Bool)
        case held
    }

    /// The state of the released claim, and the owners that were granted their claims as a result, in the order of
    /// arrival.
    struct Released {
        enum FormerClaim: Equatable {
            case none
            case waiting
            case held
        }

        let claim: FormerClaim
        let granted: [Owner]
    }

    private var table = ExclusionTable()
    /// The owners, by the indices of their claims.
    private var owners: [Owner?] = []

    /// True if no owner waits or holds, and nothing is left of former owners.
    var isEmpty: Bool { table.isEmpty }

    /// Returns true if no owner waits for this name or holds it.
    func isFree(_ name: ExclusionName) -> Bool { table.roots[name] == nil }

    // MARK: Events

    /// Requests all of these exclusions at once. If the owner has a claim already, the request changes nothing, and the
    /// answer is the state of that claim.
    ///
    /// - Parameters:
    ///   - ancestors: The ancestors that hold exclusions, the nearest one first.
    ///   - isFurtherAttempt: True if the claim comes before first attempts. The caller must limit how often an owner
    ///     makes such requests; otherwise waiting first attempts could starve.
    mutating func request(
        _ owner: Owner, _ demands: ExclusionSet, inside ancestors: some Sequence<Owner>, isFurtherAttempt: Bool = false
    ) -> RequestResult {
        assert(table.candidates.isEmpty, "Every event decides about its own candidates.")
        let key = ObjectIdentifier(owner)
        let ancestors = ancestors.map { ObjectIdentifier($0) }
        guard let id = table.insert(key, demands, inside: ancestors, isFurtherAttempt: isFurtherAttempt) else {
            return claimState(of: owner) == .held ? .granted : .waiting
        }
        while owners.count <= id.index { owners.append(nil) }
        owners[id.index] = owner
        if table.isGrantable(id) {
            table.grant(id)
            // This grant cannot let the claims behind it in a wait queue proceed: they were blocked before it, and it
            // took capacity. Where the grant opens a new scope, the claims in it wait for the same holders as before.
            table.discardCandidates()
            return .granted
        }
        table.beginWaiting(id, inside: ancestors)
        return .waiting
    }

    /// Releases what the owner holds, or withdraws its claim.
    mutating func release(_ owner: Owner) -> Released {
        assert(table.candidates.isEmpty, "Every event decides about its own candidates.")
        guard let id = table.claimIDs[ObjectIdentifier(owner)] else { return Released(claim: .none, granted: []) }
        let wasHeld = table.claims[id].state == .holding
        table.remove(id)
        owners[id.index] = nil
        if table.claims.isEmpty, owners.count > 1024 { owners = [] }
        return Released(claim: wasHeld ? .held : .waiting, granted: grantCandidates())
    }

    /// Takes the owner out of the wait queues. From now on it waits for holders alone: it is granted its claim before
    /// those in the queues, and delays no claim in them. Returns the owners that are granted something because of this,
    /// in the order of arrival.
    mutating func leaveQueues(_ owner: Owner) -> [Owner] {
        assert(table.candidates.isEmpty, "Every event decides about its own candidates.")
        guard let id = table.claimIDs[ObjectIdentifier(owner)], table.claims[id].state == .queued else { return [] }
        table.bypassQueues(id)
        return grantCandidates()
    }

    private mutating func grantCandidates() -> [Owner] { table.grantCandidates().compactMap { owners[$0.index] } }

    // MARK: Questions

    func claimState(of owner: Owner) -> ClaimState {
        guard let id = table.claimIDs[ObjectIdentifier(owner)] else { return .none }
        switch table.claims[id].state {
        case .queued: return .waiting(isQueued: true)
        case .unqueued: return .waiting(isQueued: false)
        case .holding: return .held
        }
    }

    /// Returns what keeps an owner waiting, for explanations: the first of its names that holders do not let it have,
    /// with one of those holders. If only a wait queue is in its way, returns that name and the owner before it.
    func obstacle(for owner: Owner) -> (name: ExclusionName, holder: Owner)? {
        guard let id = table.claimIDs[ObjectIdentifier(owner)], let found = table.obstacle(for: id),
            let holder = owners[found.claim.index]
        else { return nil }
        return (found.name, holder)
    }

    /// Returns up to `limit` holders whose release could let a waiting owner proceed, in no particular order.
    func blockers(of owner: Owner, upTo limit: Int = .max) -> [Owner] {
        guard let id = table.claimIDs[ObjectIdentifier(owner)] else { return [] }
        return owners(of: table.blockers(of: id, upTo: limit))
    }

    /// Returns the owners that a waiting owner may have to wait for, given its wait queues. The result can contain
    /// owners that it does not have to wait for. It lacks others only if the search is truncated, or has listed them
    /// before.
    func possibleBlockers(of owner: Owner, within search: inout ExclusionTable.BlockerSearch) -> [Owner] {
        guard let id = table.claimIDs[ObjectIdentifier(owner)] else { return [] }
        return owners(of: table.possibleBlockers(of: id, within: &search))
    }

    /// Returns the owners that may have to wait for this holder. Owners that the search has listed before are left out.
    func possiblyBlocked(by owner: Owner, within search: inout ExclusionTable.BlockerSearch) -> [Owner] {
        guard let id = table.claimIDs[ObjectIdentifier(owner)] else { return [] }
        return owners(of: table.possiblyBlocked(by: id, within: &search))
    }

    private func owners(of claims: [Claim.ID]) -> [Owner] { claims.compactMap { owners[$0.index] } }

    /// Returns true if a wait queue keeps a waiting owner from its names, whatever their holders do.
    func isQueuedBehindOthers(_ owner: Owner) -> Bool {
        table.claimIDs[ObjectIdentifier(owner)].map(table.isQueuedBehindOthers) ?? false
    }

    /// Returns true if an owner waits in its queues before the first attempts.
    func isQueuedAsFurtherAttempt(_ owner: Owner) -> Bool {
        guard let id = table.claimIDs[ObjectIdentifier(owner)] else { return false }
        return table.claims[id].state == .queued && table.claims[id].arrival.isFurtherAttempt
    }

    /// Returns true if an owner waits behind another one in a queue.
    func isQueued(_ owner: Owner, behind other: Owner) -> Bool {
        guard let id = table.claimIDs[ObjectIdentifier(owner)], let otherID = table.claimIDs[ObjectIdentifier(other)]
        else { return false }
        return table.isQueued(id, behind: otherID)
    }

    /// Returns true if a waiting owner could have all of its names if only these holders remained. Wait queues do not
    /// count.
    func fits(_ owner: Owner, beside others: Set<ObjectIdentifier>) -> Bool {
        table.claimIDs[ObjectIdentifier(owner)].map { table.fits($0, beside: others) } ?? false
    }

    /// Returns true if the holders let a waiting owner have all of its names. Wait queues do not count.
    func isAllowed(_ owner: Owner) -> Bool {
        table.claimIDs[ObjectIdentifier(owner)].map(table.isAllowed) ?? false
    }

    /// Returns a number that grows with each request, or nil if the owner neither waits nor holds.
    func arrival(of owner: Owner) -> UInt64? {
        table.claimIDs[ObjectIdentifier(owner)].map { table.claims[$0].arrival.number }
    }

    /// The number of owners that wait or hold.
    var count: Int { table.claimIDs.count }

    /// Returns the first of the demands for whose name another owner has given another limit, with such an owner, if
    /// one is known. All owners that use a name should give the same limit.
    func conflictingLimit(for demands: ExclusionSet) -> (conflict: LimitConflict, owner: Owner?)? {
        table.conflictingLimit(for: demands).map { conflict, claim in
            (conflict, claim.isNone ? nil : owners[claim.index])
        }
    }
}
