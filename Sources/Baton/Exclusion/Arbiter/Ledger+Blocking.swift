/// Who stands in whose way.
extension Ledger {
    /// One that another waits for, or that waits for another.
    struct Edge: Hashable {
        enum Kind: Hashable {
            /// Because it holds the name.
            case holder
            /// Because it is next to it in a line.
            case line
        }

        let claim: Claim.ID
        let kind: Kind
    }

    // MARK: Forth and back

    func blockers(of id: Claim.ID) -> [Edge] {
        if claims[id].state == .holding { return [] }
        var edges: [Edge] = []
        for place in places(of: id) {
            let refusing = refusal(of: place)
            if !refusing.isNone {
                for holder in holders(within: refusing) where contributes(holder, against: place) {
                    edges.append(Edge(claim: places[holder].claim, kind: .holder))
                }
            }
            let ahead = places[place].previous
            if claims[id].state == .inLine, !ahead.isNone {
                edges.append(Edge(claim: places[ahead].claim, kind: .line))
            }
        }
        return sorted(edges)
    }

    func blocked(by id: Claim.ID) -> [Edge] {
        var edges: [Edge] = []
        for place in places(of: id) {
            switch claims[id].state {
            case .apart: break
            case .inLine:
                let behind = places[place].following
                if !behind.isNone { edges.append(Edge(claim: places[behind].claim, kind: .line)) }
            case .holding:
                for waiting in waiting(outside: place)
                where contributes(place, against: waiting) && isPlace(place, within: refusal(of: waiting)) {
                    edges.append(Edge(claim: places[waiting].claim, kind: .holder))
                }
            }
        }
        return sorted(edges)
    }

    /// Whether it matters to the waiting one that this holder gives back, if holders refuse it.
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

    private func isPlace(_ place: Place.ID, within scope: Scope.ID) -> Bool {
        if scope.isNone { return false }
        var around = places[place].scope
        while !around.isNone {
            if around == scope { return true }
            around = enclosing(around)
        }
        return false
    }

    /// In order of arrival, each once.
    private func sorted(_ edges: [Edge]) -> [Edge] {
        if edges.count < 2 { return edges }
        let sorted = edges.sorted {
            (claims[$0.claim].arrival, $0.kind == .line ? 1 : 0) < (claims[$1.claim].arrival, $1.kind == .line ? 1 : 0)
        }
        return sorted.indices.filter { $0 == 0 || sorted[$0] != sorted[$0 - 1] }.map { sorted[$0] }
    }

    /// The first of its names that it cannot have, and one that stands in the way.
    func obstacle(for id: Claim.ID) -> (name: ExclusionName, claim: Claim.ID)? {
        if claims[id].state == .holding { return nil }
        for place in places(of: id) {
            let refusing = refusal(of: place)
            if refusing.isNone { continue }
            let inTheWay = holders(within: refusing).filter { contributes($0, against: place) }
            if let holder = inTheWay.min(by: { places[$0].arrival < places[$1].arrival }), let name = name(of: place) {
                return (name, places[holder].claim)
            }
        }
        if claims[id].state == .apart { return nil }
        for place in places(of: id) where !places[place].previous.isNone {
            if let name = name(of: place) { return (name, places[places[place].previous].claim) }
        }
        return nil
    }

    private func name(of place: Place.ID) -> ExclusionName? { scopes[places[place].root].name }

    func conflictingLimit(for demands: ExclusionSet) -> (name: ExclusionName, limit: Int, otherLimit: Int)? {
        for demand in demands {
            guard case .units(_, let limit) = demand.share, let root = names[demand.name] else { continue }
            if let other = scopes[root].declaredLimits.firstOther(than: limit) { return (demand.name, limit, other) }
        }
        return nil
    }

    // MARK: If some were gone

    /// Whether the holders that remain allow the claim.
    func fits(_ id: Claim.ID, without gone: Set<ObjectIdentifier>) -> Bool {
        places(of: id).allSatisfy { fits($0, without: gone) }
    }

    private func fits(_ place: Place.ID, without gone: Set<ObjectIdentifier>) -> Bool {
        let (root, claim) = (places[place].root, claims[places[place].claim])
        let remaining = holders(within: root).filter { !gone.contains(owner(of: $0)) }
        let around = innermostScopes(of: root, without: gone)
        var tallies: [Scope.ID: Tally] = [:]
        func tally(_ scope: Scope.ID) -> Tally { tallies[scope] ?? Tally() }
        // The inner before the outer.
        for holder in remaining.reversed() {
            let load = Load(places[holder].share, with: tally(places[holder].inside))
            tallies[around[places[holder].scope] ?? root, default: Tally()].add(load)
        }
        var holder = nearestHolder(under: root, of: claim.ancestors, without: gone)
        var scope = holder.isNone ? root : places[holder].inside
        var sum = tally(scope)
        sum.add(places[place].load)
        while sum.isValid {
            if holder.isNone { return true }
            let share = places[holder].share
            let (held, grown) = (Load(share, with: tally(scope)), Load(share, with: sum))
            scope = around[places[holder].scope] ?? root
            holder = scopes[scope].holder
            sum = tally(scope)
            sum.remove(held)
            sum.add(grown)
        }
        return false
    }

    /// Per scope in which somebody holds: the innermost one around it whose holder remains.
    private func innermostScopes(
        of root: Scope.ID, without gone: Set<ObjectIdentifier>
    ) -> [Scope.ID: Scope.ID] {
        var around = [root: root]
        for holder in holders(within: root) where !places[holder].inside.isNone {
            let inside = places[holder].inside
            around[inside] = gone.contains(owner(of: holder)) ? around[places[holder].scope] : inside
        }
        return around
    }

    // MARK: Walks

    private func places(of id: Claim.ID) -> [Place.ID] { list(from: claims[id].firstPlace, \.next) }

    func waiting(directlyIn scope: Scope.ID) -> [Place.ID] {
        list(from: scopes[scope].line.first, \.following) + list(from: scopes[scope].apart.first, \.following)
    }

    /// For its name, but not inside it: these are its descendants, who do not wait for it. They may be very many, and each
    /// that begins to wait may ask.
    private func waiting(outside holder: Place.ID) -> [Place.ID] {
        let (root, inside) = (places[holder].root, places[holder].inside)
        var found: [Place.ID] = []
        var scope = root
        while !scope.isNone {
            if scope == inside {
                scope = busyScope(beside: scope, within: root)
            } else {
                found += waiting(directlyIn: scope)
                scope = busyScope(after: scope, within: root)
            }
        }
        return found
    }

    private func list(from first: Place.ID, _ link: (Place) -> Place.ID) -> [Place.ID] {
        var found: [Place.ID] = []
        var place = first
        while !place.isNone {
            found.append(place)
            place = link(places[place])
        }
        return found
    }

    /// At any depth; the outer before the inner.
    private func holders(within top: Scope.ID) -> [Place.ID] {
        var found: [Place.ID] = []
        var place = scopes[top].holders.first
        while !place.isNone {
            found.append(place)
            let inside = places[place].inside
            let first = inside.isNone ? .none : scopes[inside].holders.first
            place = first.isNone ? following(place, within: top) : first
        }
        return found
    }

    /// The next one that is not inside this one.
    private func following(_ place: Place.ID, within top: Scope.ID) -> Place.ID {
        var place = place
        while places[place].following.isNone {
            if places[place].scope == top { return .none }
            place = scopes[places[place].scope].holder
        }
        return places[place].following
    }
}
