/// Finding the claims that block one another.
extension ExclusionTable {
    // MARK: Claims that block now

    /// Returns every holder whose release counts for a waiting claim, in no particular order, but no more than the
    /// limit.
    func blockers(of id: Claim.ID, upTo limit: Int) -> [Claim.ID] {
        if claims[id].state == .holding { return [] }
        var found: [Claim.ID] = []
        var seen: Set<Claim.ID> = []
        forEachPlace(of: id) { place in
            let refusing = refusal(of: place)
            if refusing.isNone { return }
            forEachHolder(within: refusing) { holder in
                if contributes(holder, against: place), seen.insert(places[holder].claim).inserted {
                    found.append(places[holder].claim)
                }
                return found.count < limit
            }
        }
        return found
    }

    /// Returns true if the release of this holder counts for a waiting claim that is refused by holders.
    private func contributes(_ holder: Place.ID, against waiting: Place.ID) -> Bool {
        let counts =
            switch (places[waiting].share, places[holder].share) {
            case (.all, _), (_, .all): true
            case (.units, .units): true
            case (.units, .shared), (.shared, .units), (.shared, .shared): false
            }
        return counts && !claims[places[waiting].claim].ancestors.contains(owner(of: holder))
    }

    private func owner(of place: Place.ID) -> ObjectIdentifier { claims[places[place].claim].owner }

    /// Returns the first name that the claim cannot have, and a claim that is in its way.
    func obstacle(for id: Claim.ID) -> (name: ExclusionName, claim: Claim.ID)? {
        if claims[id].state == .holding { return nil }
        var obstacle: (place: Place.ID, holder: Place.ID)?
        forEachPlace(of: id) { place in
            if obstacle != nil { return }
            let refusing = refusal(of: place)
            if refusing.isNone { return }
            forEachHolder(within: refusing) { holder in
                if contributes(holder, against: place) { obstacle = (place, holder) }
                return obstacle == nil
            }
        }
        if obstacle == nil, claims[id].state == .queued {
            forEachPlace(of: id) { place in
                let ahead = places[place].previous
                if obstacle == nil, !ahead.isNone { obstacle = (place, ahead) }
            }
        }
        guard let (place, holder) = obstacle, let name = scopes[places[place].root].name else { return nil }
        return (name, places[holder].claim)
    }

    /// Returns true if a wait queue keeps a waiting claim from its names, whatever their holders do.
    func standsBehindOthers(_ id: Claim.ID) -> Bool {
        if claims[id].state != .queued { return false }
        var place = claims[id].firstPlace
        while !place.isNone {
            if !places[place].previous.isNone { return true }
            place = places[place].next
        }
        return false
    }

    func conflictingLimit(for demands: ExclusionSet) -> (name: ExclusionName, limit: Int, otherLimit: Int)? {
        for demand in demands {
            guard case .units(_, let limit) = demand.share, let root = roots[demand.name] else { continue }
            if let other = scopes[root].declaredLimits.firstOther(than: limit) { return (demand.name, limit, other) }
        }
        return nil
    }

    // MARK: Waiting beside some of the holders

    /// Returns true if a waiting claim could have its names if only these holders remained. Wait queues do not count.
    func fits(_ id: Claim.ID, beside others: Set<ObjectIdentifier>) -> Bool {
        if claims[id].state == .holding { return false }
        var fits = true
        forEachPlace(of: id) { place in fits = fits && self.fits(place, beside: others) }
        return fits
    }

    private func fits(_ place: Place.ID, beside others: Set<ObjectIdentifier>) -> Bool {
        let root = places[place].root
        // Inner holders come before outer ones.
        let remaining = others.compactMap { heldPlace(of: $0, under: root) }
            .map { (place: $0, depth: depth(of: $0)) }.sorted { $0.depth > $1.depth }.map(\.place)
        var usages: [Scope.ID: ScopeUsage] = [:]
        func usage(_ scope: Scope.ID) -> ScopeUsage { usages[scope] ?? ScopeUsage() }
        /// Returns the scope of the innermost holder around this one that remains.
        func remainingScope(around holder: Place.ID) -> Scope.ID {
            var scope = places[holder].scope
            while scope != root, !others.contains(owner(of: scopes[scope].holder)) { scope = enclosing(scope) }
            return scope
        }
        for holder in remaining {
            let held = HolderUsage(places[holder].share, with: usage(places[holder].innerScope))
            usages[remainingScope(around: holder), default: ScopeUsage()].add(held)
        }
        let ancestor = claims[places[place].claim].ancestors.lazy.filter(others.contains)
            .compactMap { heldPlace(of: $0, under: root) }.first
        guard var holder = ancestor else {
            var sum = usage(root)
            sum.add(places[place].usage)
            return sum.isValid
        }
        var sum = usage(places[holder].innerScope)
        sum.add(places[place].usage)
        while sum.isValid {
            let share = places[holder].share
            let (held, grown) = (
                HolderUsage(share, with: usage(places[holder].innerScope)), HolderUsage(share, with: sum)
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

    private func heldPlace(of owner: ObjectIdentifier, under root: Scope.ID) -> Place.ID? {
        guard let claim = claimIDs[owner], claims[claim].state == .holding else { return nil }
        return place(of: claim, under: root)
    }

    private func depth(of place: Place.ID) -> Int {
        var (depth, scope) = (0, places[place].scope)
        while !scopes[scope].holder.isNone {
            depth += 1
            scope = enclosing(scope)
        }
        return depth
    }

    // MARK: Claims that may block

    /// The names and scopes that a search has listed, so that the holders of a name are listed once, however many
    /// claims wait for them; and the number of claims that it may still list.
    struct Extent {
        private var names: Set<Scope.ID> = []
        /// Scopes whose holders were listed except for this one and those inside it. ``Place/ID/none`` means that all
        /// were listed.
        private var unlisted: [Scope.ID: Place.ID] = [:]
        private(set) var left: Int
        /// True if the limit has kept the search from listing more.
        private(set) var isTruncated = false

        init(limit: Int) { left = limit }

        mutating func take(_ count: Int = 1) -> Bool {
            if left < count { isTruncated = true }
            left = max(0, left - count)
            return !isTruncated
        }

        fileprivate mutating func enter(_ name: Scope.ID) -> Bool { !isTruncated && names.insert(name).inserted }

        /// Returns false if the holders in the scope, except for this one, were listed before. So they are listed twice
        /// at most.
        fileprivate mutating func enter(_ scope: Scope.ID, but holder: Place.ID) -> Bool {
            guard let former = unlisted[scope] else {
                unlisted[scope] = holder
                return true
            }
            if former.isNone || former == holder { return false }
            unlisted[scope] = Place.ID.none
            return true
        }
    }

    /// Returns the claims that a waiting claim may have to wait for, now or when the claims before it in its wait
    /// queues have what they wait for. They may be more than it has to wait for, but never fewer. A claim before it in
    /// a queue that waits for nothing else has the same holders in its way, so the search need not walk the queue. If
    /// that claim waits for further names, these are linked.
    func possibleBlockers(of id: Claim.ID, within extent: inout Extent) -> [Claim.ID] {
        if claims[id].state == .holding { return [] }
        var found: [Claim.ID] = []
        forEachPlace(of: id) { place in
            let root = places[place].root
            if places[place].scope == root { return list(linkedTo: [root], within: &extent, holdersOf) }
            // The claim's own ancestors do not block it. Inner scopes come before outer ones, whose holders may all be
            // unrelated to the claim.
            var (inner, scope) = (Place.ID.none, places[place].scope)
            while !scope.isNone {
                if extent.enter(scope, but: inner) { addHolders(in: scope, but: inner, &extent) }
                (inner, scope) = (scopes[scope].holder, enclosing(scope))
            }
            list(linkedTo: scopes[root].links.keys, within: &extent, holdersOf)
        }
        func holdersOf(_ root: Scope.ID, _ extent: inout Extent) { addHolders(in: root, but: .none, &extent) }
        func addHolders(in scope: Scope.ID, but inner: Place.ID, _ extent: inout Extent) {
            forEachHolder(within: scope, but: inner) { holder in
                if !extent.take() { return false }
                found.append(places[holder].claim)
                return true
            }
        }
        return found
    }

    /// Returns the claims that may have to wait for this holder: the reverse of ``possibleBlockers(of:within:)``.
    func possiblyBlocked(by id: Claim.ID, within extent: inout Extent) -> [Claim.ID] {
        if claims[id].state != .holding { return [] }
        var found: [Claim.ID] = []
        forEachPlace(of: id) { place in
            let (root, inside) = (places[place].root, places[place].innerScope)
            if inside.isNone { return list(linkedTo: [root], within: &extent, waitingFor) }
            // The claims inside the holder are those of its descendants, and do not wait for it.
            forEachWaiting(for: root, but: inside, &extent)
            list(linkedTo: scopes[root].links.keys, within: &extent, waitingFor)
        }
        func waitingFor(_ root: Scope.ID, _ extent: inout Extent) { forEachWaiting(for: root, but: .none, &extent) }
        func forEachWaiting(for root: Scope.ID, but inside: Scope.ID, _ extent: inout Extent) {
            var scope = root
            while !scope.isNone, extent.take() {
                if scope == inside {
                    scope = busyScope(beside: scope, within: root)
                    continue
                }
                for first in [scopes[scope].queue.first, scopes[scope].unqueued.first] {
                    var place = first
                    while !place.isNone, extent.take() {
                        found.append(places[place].claim)
                        place = places[place].following
                    }
                }
                scope = busyScope(after: scope, within: root)
            }
        }
        return found
    }

    /// Calls `body` once for each of these names, and for each name that is linked to them.
    private func list(
        linkedTo roots: some Sequence<Scope.ID>, within extent: inout Extent,
        _ body: (Scope.ID, inout Extent) -> Void
    ) {
        var unseen = Array(roots)
        while let root = unseen.popLast() {
            if !extent.enter(root) { continue }
            body(root, &extent)
            if extent.take(scopes[root].links.count) { unseen += scopes[root].links.keys }
        }
    }

    // MARK: Walks

    private func forEachPlace(of id: Claim.ID, _ body: (Place.ID) -> Void) {
        var place = claims[id].firstPlace
        while !place.isNone {
            body(place)
            place = places[place].next
        }
    }

    func waiting(directlyIn scope: Scope.ID) -> [Place.ID] {
        var found: [Place.ID] = []
        for first in [scopes[scope].queue.first, scopes[scope].unqueued.first] {
            var place = first
            while !place.isNone {
                found.append(place)
                place = places[place].following
            }
        }
        return found
    }

    /// Calls `body` with the holders at any depth, outer ones before inner ones, until it returns false.
    ///
    /// - Parameter excluded: A holder directly in the scope. It is left out, with the holders inside it.
    private func forEachHolder(
        within top: Scope.ID, but excluded: Place.ID = .none, _ body: (Place.ID) -> Bool
    ) {
        var place = scopes[top].holders.first
        while !place.isNone {
            if place == excluded {
                place = following(place, within: top)
                continue
            }
            if !body(place) { return }
            let inside = places[place].innerScope
            let first = inside.isNone ? .none : scopes[inside].holders.first
            place = first.isNone ? following(place, within: top) : first
        }
    }

    /// Returns the next holder that is not inside this one.
    private func following(_ place: Place.ID, within top: Scope.ID) -> Place.ID {
        var place = place
        while places[place].following.isNone {
            if places[place].scope == top { return .none }
            place = scopes[places[place].scope].holder
        }
        return places[place].following
    }
}
