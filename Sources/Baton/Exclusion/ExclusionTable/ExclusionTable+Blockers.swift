/// Finding the claims that block one another.
extension ExclusionTable {
    // MARK: Claims that block now

    /// Returns up to `limit` holders whose release could let a waiting claim proceed, in no particular order.
    func blockers(of id: Claim.ID, upTo limit: Int) -> [Claim.ID] {
        if claims[id].state == .holding || limit <= 0 { return [] }
        var found: [Claim.ID] = []
        var seen: Set<Claim.ID> = []
        forEachEntry(of: id) { entry in
            if found.count == limit { return }
            let refusing = refusal(of: entry)
            if refusing.isNone { return }
            forEachHolder(within: refusing) { holder in
                if isBlocking(holder, for: entry), seen.insert(entries[holder].claim).inserted {
                    found.append(entries[holder].claim)
                }
                return found.count < limit
            }
        }
        return found
    }

    /// Returns true if the release of this holder could let a waiting claim proceed that is refused by holders.
    private func isBlocking(_ holder: ClaimEntry.ID, for waiting: ClaimEntry.ID) -> Bool {
        let counts =
            switch (entries[waiting].share, entries[holder].share) {
            case (.all, _), (_, .all): true
            case (.units, .units): true
            case (.units, .shared), (.shared, .units), (.shared, .shared): false
            }
        return counts && !claims[entries[waiting].claim].ancestors.contains(owner(of: holder))
    }

    private func owner(of entry: ClaimEntry.ID) -> ObjectIdentifier { claims[entries[entry].claim].owner }

    /// Returns the first name that the claim cannot have, and a claim that is in its way.
    func obstacle(for id: Claim.ID) -> (name: ExclusionName, claim: Claim.ID)? {
        if claims[id].state == .holding { return nil }
        var obstacle: (entry: ClaimEntry.ID, holder: ClaimEntry.ID)?
        forEachEntry(of: id) { entry in
            if obstacle != nil { return }
            let refusing = refusal(of: entry)
            if refusing.isNone { return }
            forEachHolder(within: refusing) { holder in
                if isBlocking(holder, for: entry) { obstacle = (entry, holder) }
                return obstacle == nil
            }
        }
        if obstacle == nil, claims[id].state == .queued {
            forEachEntry(of: id) { entry in
                let ahead = entries[entry].previous
                if obstacle == nil, !ahead.isNone { obstacle = (entry, ahead) }
            }
        }
        guard let (entry, holder) = obstacle, let name = scopes[entries[entry].root].name else { return nil }
        return (name, entries[holder].claim)
    }

    /// Returns true if a wait queue keeps a waiting claim from its names, whatever their holders do.
    func isQueuedBehindOthers(_ id: Claim.ID) -> Bool {
        if claims[id].state != .queued { return false }
        var entry = claims[id].firstEntry
        while !entry.isNone {
            if !entries[entry].previous.isNone { return true }
            entry = entries[entry].next
        }
        return false
    }

    /// Returns true if a claim waits behind another one in a queue.
    func isQueued(_ id: Claim.ID, behind other: Claim.ID) -> Bool {
        guard claims[id].state == .queued, claims[other].state == .queued, claims[other].arrival < claims[id].arrival
        else { return false }
        var shareQueue = false
        forEachEntry(of: id) { entry in
            if shareQueue { return }
            let ahead = self.entry(of: other, under: entries[entry].root)
            shareQueue = ahead.map { entries[$0].scope == entries[entry].scope } ?? false
        }
        return shareQueue
    }

    /// Returns the first of the demands for whose name another claim has given another limit, with such a claim; none
    /// if that is not known.
    func conflictingLimit(for demands: ExclusionSet) -> (conflict: LimitConflict, claim: Claim.ID)? {
        for demand in demands {
            guard case .units(_, let limit) = demand.share, let root = roots[demand.name] else { continue }
            guard let (other, claim) = scopes[root].declaredLimits.firstOther(than: limit) else { continue }
            let own = DeclaredLimit(limit: limit, site: demand.site)
            return (LimitConflict(name: demand.name, limit: own, other: other), claim)
        }
        return nil
    }

    // MARK: Waiting beside some of the holders

    /// Returns true if a waiting claim could have its names if only these holders remained. Wait queues do not count.
    func fits(_ id: Claim.ID, beside others: Set<ObjectIdentifier>) -> Bool {
        if claims[id].state == .holding { return false }
        var fits = true
        forEachEntry(of: id) { entry in fits = fits && self.fits(entry, beside: others) }
        return fits
    }

    private func fits(_ entry: ClaimEntry.ID, beside others: Set<ObjectIdentifier>) -> Bool {
        let root = entries[entry].root
        // Inner holders come before outer ones.
        let remaining = others.compactMap { heldEntry(of: $0, under: root) }
            .map { (entry: $0, depth: depth(of: $0)) }.sorted { $0.depth > $1.depth }.map(\.entry)
        var usages: [Scope.ID: ScopeUsage] = [:]
        func usage(_ scope: Scope.ID) -> ScopeUsage { usages[scope] ?? ScopeUsage() }
        /// Returns the scope of the innermost holder around this one that remains.
        func remainingScope(around holder: ClaimEntry.ID) -> Scope.ID {
            var scope = entries[holder].scope
            while scope != root, !others.contains(owner(of: scopes[scope].holder)) { scope = enclosing(scope) }
            return scope
        }
        for holder in remaining {
            let held = HolderUsage(entries[holder].share, with: usage(entries[holder].innerScope))
            usages[remainingScope(around: holder), default: ScopeUsage()].add(held)
        }
        let ancestor = claims[entries[entry].claim].ancestors.lazy.filter(others.contains)
            .compactMap { heldEntry(of: $0, under: root) }.first
        guard var holder = ancestor else {
            var sum = usage(root)
            sum.add(entries[entry].usage)
            return sum.isValid
        }
        var sum = usage(entries[holder].innerScope)
        sum.add(entries[entry].usage)
        while sum.isValid {
            let share = entries[holder].share
            let (held, grown) = (
                HolderUsage(share, with: usage(entries[holder].innerScope)), HolderUsage(share, with: sum)
            )
            let scope = remainingScope(around: holder)
            sum = usage(scope)
            sum.remove(held)
            sum.add(grown)
            if scope == root { return sum.isValid }
            holder = scopes[scope].holder
        }
        return false
    }

    private func heldEntry(of owner: ObjectIdentifier, under root: Scope.ID) -> ClaimEntry.ID? {
        guard let claim = claimIDs[owner], claims[claim].state == .holding else { return nil }
        return entry(of: claim, under: root)
    }

    private func depth(of entry: ClaimEntry.ID) -> Int {
        var (depth, scope) = (0, entries[entry].scope)
        while !scopes[scope].holder.isNone {
            depth += 1
            scope = enclosing(scope)
        }
        return depth
    }

    // MARK: Claims that may block

    /// The state of one search: the names and scopes that it has listed, so that the holders of a name are listed once,
    /// however many claims wait for them, and the number of claims that it may still list.
    struct BlockerSearch {
        private var names: Set<Scope.ID> = []
        /// For each listed scope, the one holder that was left out with the holders inside it, or
        /// ``ClaimEntry/ID/none`` if nothing was left out.
        private var unlisted: [Scope.ID: ClaimEntry.ID] = [:]
        /// The number of claims that the search may still list.
        private(set) var budget: Int
        /// True if the limit has kept the search from listing more.
        private(set) var isTruncated = false

        init(limit: Int) { budget = limit }

        mutating func spend(_ count: Int = 1) -> Bool {
            if budget < count { isTruncated = true }
            budget = max(0, budget - count)
            return !isTruncated
        }

        fileprivate mutating func visit(_ name: Scope.ID) -> Bool { !isTruncated && names.insert(name).inserted }

        /// Returns false if the holders in the scope, except for this one, were listed before. A scope is therefore
        /// listed at most twice: once without one holder, and once in full.
        fileprivate mutating func visit(_ scope: Scope.ID, but holder: ClaimEntry.ID) -> Bool {
            guard let former = unlisted[scope] else {
                unlisted[scope] = holder
                return true
            }
            if former.isNone || former == holder { return false }
            unlisted[scope] = ClaimEntry.ID.none
            return true
        }
    }

    /// Returns the claims that a waiting claim may have to wait for, now or when the claims before it in its wait
    /// queues have what they wait for. They may be more than it has to wait for. They are fewer only if the search is
    /// truncated; claims that it has listed before are left out. The search need not walk the wait queues: a claim
    /// ahead waits for the same holders, and if it waits for other names as well, the links of the name lead to those.
    func possibleBlockers(of id: Claim.ID, within search: inout BlockerSearch) -> [Claim.ID] {
        if claims[id].state == .holding { return [] }
        var found: [Claim.ID] = []
        forEachEntry(of: id) { entry in
            let root = entries[entry].root
            if entries[entry].scope == root { return list(linkedTo: [root], within: &search, holdersOf) }
            // The claim's own ancestors do not block it. Inner scopes come before outer ones, whose holders may all be
            // unrelated to the claim.
            var (inner, scope) = (ClaimEntry.ID.none, entries[entry].scope)
            while !scope.isNone {
                if search.visit(scope, but: inner) { addHolders(in: scope, but: inner, &search) }
                (inner, scope) = (scopes[scope].holder, enclosing(scope))
            }
            list(linkedTo: scopes[root].links.keys, within: &search, holdersOf)
        }
        func holdersOf(_ root: Scope.ID, _ search: inout BlockerSearch) { addHolders(in: root, but: .none, &search) }
        func addHolders(in scope: Scope.ID, but inner: ClaimEntry.ID, _ search: inout BlockerSearch) {
            forEachHolder(within: scope, but: inner) { holder in
                if !search.spend() { return false }
                found.append(entries[holder].claim)
                return true
            }
        }
        return found
    }

    /// Returns the claims that may have to wait for this holder: the reverse of ``possibleBlockers(of:within:)``.
    func possiblyBlocked(by id: Claim.ID, within search: inout BlockerSearch) -> [Claim.ID] {
        if claims[id].state != .holding { return [] }
        var found: [Claim.ID] = []
        forEachEntry(of: id) { entry in
            let (root, inside) = (entries[entry].root, entries[entry].innerScope)
            if inside.isNone { return list(linkedTo: [root], within: &search, waitingFor) }
            // The claims inside the holder are those of its descendants, and do not wait for it.
            forEachWaiting(for: root, but: inside, &search)
            list(linkedTo: scopes[root].links.keys, within: &search, waitingFor)
        }
        func waitingFor(_ root: Scope.ID, _ search: inout BlockerSearch) {
            forEachWaiting(for: root, but: .none, &search)
        }
        func forEachWaiting(for root: Scope.ID, but inside: Scope.ID, _ search: inout BlockerSearch) {
            var scope = root
            while !scope.isNone, search.spend() {
                if scope == inside {
                    scope = busyScope(beside: scope, within: root)
                    continue
                }
                for first in [scopes[scope].queue.first, scopes[scope].unqueued.first] {
                    var entry = first
                    while !entry.isNone, search.spend() {
                        found.append(entries[entry].claim)
                        entry = entries[entry].following
                    }
                }
                scope = busyScope(after: scope, within: root)
            }
        }
        return found
    }

    /// Calls `body` once for each of these names, and for each name that is linked to them.
    private func list(
        linkedTo roots: some Sequence<Scope.ID>, within search: inout BlockerSearch,
        _ body: (Scope.ID, inout BlockerSearch) -> Void
    ) {
        var unseen = Array(roots)
        while let root = unseen.popLast() {
            if !search.visit(root) { continue }
            body(root, &search)
            if search.spend(scopes[root].links.count) { unseen += scopes[root].links.keys }
        }
    }

    // MARK: Walks

    private func forEachEntry(of id: Claim.ID, _ body: (ClaimEntry.ID) -> Void) {
        var entry = claims[id].firstEntry
        while !entry.isNone {
            body(entry)
            entry = entries[entry].next
        }
    }

    /// Calls `body` with the holders at any depth, outer ones before inner ones, until it returns false.
    ///
    /// - Parameter excluded: A holder directly in the scope. It is left out, with the holders inside it.
    private func forEachHolder(
        within top: Scope.ID, but excluded: ClaimEntry.ID = .none, _ body: (ClaimEntry.ID) -> Bool
    ) {
        var entry = scopes[top].holders.first
        while !entry.isNone {
            if entry == excluded {
                entry = following(entry, within: top)
                continue
            }
            if !body(entry) { return }
            let inside = entries[entry].innerScope
            let first = inside.isNone ? .none : scopes[inside].holders.first
            entry = first.isNone ? following(entry, within: top) : first
        }
    }

    /// Returns the next holder that is not inside this one.
    private func following(_ entry: ClaimEntry.ID, within top: Scope.ID) -> ClaimEntry.ID {
        var entry = entry
        while entries[entry].following.isNone {
            if entries[entry].scope == top { return .none }
            entry = scopes[entries[entry].scope].holder
        }
        return entries[entry].following
    }
}
