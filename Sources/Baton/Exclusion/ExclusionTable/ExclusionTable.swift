/// The rank of a claim in all of its wait queues: further attempts come before the others, and within each kind the
/// first one comes first.
///
/// Two claims have the same order in every queue, so that claims on several names cannot block one another.
struct Arrival: Comparable {
    let isFurtherAttempt: Bool
    let number: UInt64

    /// The rank of a claim that waits in no queue.
    static let none = Arrival(isFurtherAttempt: false, number: 0)

    static func < (left: Self, right: Self) -> Bool {
        left.isFurtherAttempt == right.isFurtherAttempt ? left.number < right.number : left.isFurtherAttempt
    }
}

/// The exclusions that one owner asks for or holds, all of them or none.
struct Claim {
    typealias ID = Slab<Claim>.ID

    enum State {
        case queued
        /// The claim waits in no queue, and for holders alone.
        case unqueued
        case holding
    }

    let owner: ObjectIdentifier
    let arrival: Arrival
    var state = State.queued
    /// True if the claim is among the candidates that have not been sorted.
    var isNoted = false
    /// True if the names of the claim are linked, because it waits in their queues.
    var isLinked = false
    var firstEntry = ClaimEntry.ID.none
    /// The ancestors of the owner, the nearest one first. Set while the claim waits.
    var ancestors: [ObjectIdentifier] = []
}

/// The records of an ``ExclusionStateMachine``, which keeps the owners: the claims that wait or hold.
///
/// Every name has a tree of scopes. The holders without a holding ancestor are in the outermost one. Each holder has a
/// scope of its own as soon as descendants of it hold the name or wait for it. Each scope has a wait queue.
/// `ExclusionTable+Grants.swift` decides which claims are granted when, and `ExclusionTable+Blockers.swift` finds the
/// claims that block one another.
struct ExclusionTable {
    var claims = Slab<Claim>()
    var entries = Slab<ClaimEntry>()
    var scopes = Slab<Scope>()
    /// The outermost scope of each name that some claim asks for or holds.
    var roots: [ExclusionName: Scope.ID] = [:]
    /// The claim of each owner that has one.
    var claimIDs: [ObjectIdentifier: Claim.ID] = [:]
    /// For each ancestor, the number of waiting claims that have it among their ancestors.
    var waitingBelow: [ObjectIdentifier: Int] = [:]
    private var arrivals: UInt64 = 0
    /// Claims that can perhaps be granted now. The array is empty between calls, and kept for its capacity.
    var candidates: [Candidate] = []

    var isEmpty: Bool {
        claims.isEmpty && entries.isEmpty && scopes.isEmpty && roots.isEmpty && claimIDs.isEmpty && waitingBelow.isEmpty
    }

    // MARK: Inserting and removing claims

    /// Puts a new claim into its wait queues: at the end, or behind the other further attempts. Returns nil if the
    /// owner has a claim already.
    mutating func insert(
        _ owner: ObjectIdentifier, _ demands: ExclusionSet, inside ancestors: [ObjectIdentifier],
        isFurtherAttempt: Bool = false
    ) -> Claim.ID? {
        // A waiting descendant of the owner may be behind claims that this one would pass. If this one were then
        // granted at once, the descendant could have its exclusions, too, and nothing would grant them to it.
        let comesFirst = isFurtherAttempt && waitingBelow[owner] == nil
        let arrival = Arrival(isFurtherAttempt: comesFirst, number: arrivals)
        let id = claims.insert(Claim(owner: owner, arrival: arrival))
        // One look-up answers both questions: whether the owner has a claim, and where this one is stored.
        if !Self.note(id, in: &claimIDs[owner, default: .none]) {
            claims.remove(id)
            return nil
        }
        arrivals += 1
        var last = ClaimEntry.ID.none
        for demand in demands {
            let root = Self.outermostScope(of: demand.name, in: &roots[demand.name, default: .none], &scopes)
            let scope = nearestScope(under: root, of: ancestors)
            let entry = entries.insert(
                ClaimEntry(
                    claim: id, arrival: arrival, share: demand.share, root: root, scope: scope,
                    usage: HolderUsage(demand.share)))
            if last.isNone { claims[id].firstEntry = entry } else { entries[last].next = entry }
            last = entry
            scopes[scope].queue.insert(entry, in: &entries)
            if demand.share.limit < .max {
                scopes[root].declaredLimits.insert(demand.share.limit, from: demand.site, by: id)
            }
        }
        return id
    }

    private static func note(_ id: Claim.ID, in entry: inout Claim.ID) -> Bool {
        if !entry.isNone { return false }
        entry = id
        return true
    }

    private static func outermostScope(
        of name: ExclusionName, in entry: inout Scope.ID, _ scopes: inout Slab<Scope>
    ) -> Scope.ID {
        if entry.isNone { entry = scopes.insert(Scope(name: name)) }
        return entry
    }

    /// Makes a new claim wait: from now on it is found from the outermost scope, and by its ancestors.
    mutating func beginWaiting(_ id: Claim.ID, inside ancestors: [ObjectIdentifier]) {
        assert(claims[id].state == .queued && claims[id].ancestors.isEmpty, "A claim begins to wait once.")
        var entry = claims[id].firstEntry
        while !entry.isNone {
            listAsBusy(entries[entry].scope)
            entry = entries[entry].next
        }
        claims[id].ancestors = ancestors
        for ancestor in ancestors { waitingBelow[ancestor, default: 0] += 1 }
        linkNames(of: id)
    }

    /// Links the names of a claim, because claims behind it in one of its queues wait for the holders of its other
    /// names, too.
    private mutating func linkNames(of id: Claim.ID) {
        claims[id].isLinked = true
        forEachLink(of: id) { scopes, root, other in scopes[root].links[other, default: 0] += 1 }
    }

    /// Unlinks the names of a claim that leaves the wait queues.
    mutating func unlinkNames(of id: Claim.ID) {
        if !claims[id].isLinked { return }
        claims[id].isLinked = false
        forEachLink(of: id) { scopes, root, other in
            if scopes[root].links[other] == 1 {
                scopes[root].links[other] = nil
            } else {
                scopes[root].links[other]? -= 1
            }
        }
    }

    /// Calls `body` for the links from each name of the claim to the next one, and back. So all linked names can be
    /// reached from any of them.
    private mutating func forEachLink(of id: Claim.ID, _ body: (inout Slab<Scope>, Scope.ID, Scope.ID) -> Void) {
        var entry = claims[id].firstEntry
        while !entry.isNone, !entries[entry].next.isNone {
            let next = entries[entry].next
            body(&scopes, entries[entry].root, entries[next].root)
            body(&scopes, entries[next].root, entries[entry].root)
            entry = next
        }
    }

    mutating func forgetAncestors(of id: Claim.ID) {
        if claims[id].ancestors.isEmpty { return }
        for ancestor in claims[id].ancestors {
            if waitingBelow[ancestor] == 1 { waitingBelow[ancestor] = nil } else { waitingBelow[ancestor]? -= 1 }
        }
        claims[id].ancestors = []
    }

    /// Removes the claim, and notes the claims that may be granted because of it.
    mutating func remove(_ id: Claim.ID) {
        // This comes first, so that the claim is not found as that of an ancestor.
        claimIDs[claims[id].owner] = nil
        unlinkNames(of: id)
        var entry = claims[id].firstEntry
        while !entry.isNone {
            let (next, scope, root) = (entries[entry].next, entries[entry].scope, entries[entry].root)
            let limit = entries[entry].share.limit
            if limit < .max { scopes[root].declaredLimits.remove(limit, by: id) }
            switch claims[id].state {
            case .queued: dequeue(entry)
            case .unqueued: scopes[scope].unqueued.remove(entry, in: &entries)
            case .holding: release(entry)
            }
            unlistIfQuiet(scope)
            removeIfUnused(scope)
            entries.remove(entry)
            entry = next
        }
        forgetAncestors(of: id)
        claims.remove(id)
    }

    /// Removes an entry from its wait queue. The claim behind it may be the first one now.
    mutating func dequeue(_ entry: ClaimEntry.ID) {
        let scope = entries[entry].scope
        let wasFirst = scopes[scope].queue.first == entry
        scopes[scope].queue.remove(entry, in: &entries)
        if wasFirst { noteFirst(of: scope) }
    }

    private mutating func removeIfUnused(_ scope: Scope.ID) {
        guard scopes[scope].isUnused else { return }
        if let name = scopes[scope].name {
            roots[name] = nil
            scopes[scope].name = nil
        } else {
            entries[scopes[scope].holder].innerScope = .none
        }
        scopes.remove(scope)
    }

    // MARK: Scopes

    /// Returns the scope inside the nearest ancestor that holds the name, or the outermost scope.
    mutating func nearestScope(under root: Scope.ID, of ancestors: [ObjectIdentifier]) -> Scope.ID {
        let holder = nearestHolder(under: root, of: ancestors)
        return holder.isNone ? root : scope(inside: holder)
    }

    private func nearestHolder(under root: Scope.ID, of ancestors: [ObjectIdentifier]) -> ClaimEntry.ID {
        if scopes[root].holders.isEmpty { return .none }
        for ancestor in ancestors {
            guard let claim = claimIDs[ancestor], claims[claim].state == .holding else { continue }
            if let entry = entry(of: claim, under: root) { return entry }
        }
        return .none
    }

    func entry(of claim: Claim.ID, under root: Scope.ID) -> ClaimEntry.ID? {
        var entry = claims[claim].firstEntry
        while !entry.isNone {
            if entries[entry].root == root { return entry }
            entry = entries[entry].next
        }
        return nil
    }

    mutating func scope(inside holder: ClaimEntry.ID) -> Scope.ID {
        if entries[holder].innerScope.isNone { entries[holder].innerScope = scopes.insert(Scope(holder: holder)) }
        return entries[holder].innerScope
    }

    /// Returns the scope around this one; none for the outermost scope.
    func enclosing(_ scope: Scope.ID) -> Scope.ID {
        let holder = scopes[scope].holder
        return holder.isNone ? .none : entries[holder].scope
    }

    /// Lists a scope in which a claim waits, and the scopes around it, as busy. So a search for waiting claims starts
    /// at the outermost scope and does not visit all holders.
    mutating func listAsBusy(_ scope: Scope.ID) {
        var scope = scope
        while !scopes[scope].isListedAsBusy {
            let outer = enclosing(scope)
            if outer.isNone { return }
            let next = scopes[outer].firstBusy
            scopes[scope].isListedAsBusy = true
            scopes[scope].previousBusy = .none
            scopes[scope].nextBusy = next
            if !next.isNone { scopes[next].previousBusy = scope }
            scopes[outer].firstBusy = scope
            scope = outer
        }
    }

    mutating func unlistIfQuiet(_ scope: Scope.ID) {
        var scope = scope
        while scopes[scope].isListedAsBusy, scopes[scope].isQuiet {
            unlist(scope)
            scope = enclosing(scope)
        }
    }

    mutating func unlist(_ scope: Scope.ID) {
        let (outer, previous, next) = (enclosing(scope), scopes[scope].previousBusy, scopes[scope].nextBusy)
        if previous.isNone { scopes[outer].firstBusy = next } else { scopes[previous].nextBusy = next }
        if !next.isNone { scopes[next].previousBusy = previous }
        scopes[scope].isListedAsBusy = false
    }
}
