/// Granting and giving back.
extension ExclusionTable {
    /// A claim that can perhaps be granted. Claims that wait in no queue come first, then claims inside a holder, then
    /// the others, each in order of arrival.
    struct Candidate {
        let claim: Claim.ID
        var rank = 0
        var arrival = Arrival.none

        func comesBefore(_ other: Candidate) -> Bool { (rank, arrival) < (other.rank, other.arrival) }
    }

    // MARK: Checking

    func isGrantable(_ id: Claim.ID) -> Bool { !standsBehindOthers(id) && isAllowed(id) }

    /// Returns true if the holders let the claim have all of its names. Wait queues do not count.
    func isAllowed(_ id: Claim.ID) -> Bool {
        var place = claims[id].firstPlace
        while !place.isNone {
            if !refusal(of: place).isNone { return false }
            place = places[place].next
        }
        return true
    }

    /// Returns the outermost scope whose holders do not allow the place. What is added inside a holder may exceed what
    /// that holder has, so the scopes around it must allow it, too.
    func refusal(of place: Place.ID) -> Scope.ID {
        var refusing = Scope.ID.none
        var scope = places[place].scope
        var usage = scopes[scope].usage
        usage.add(places[place].usage)
        while true {
            if !usage.isValid { refusing = scope }
            let holder = scopes[scope].holder
            if holder.isNone { return refusing }
            let (held, grown) = (places[holder].usage, HolderUsage(places[holder].share, with: usage))
            scope = places[holder].scope
            // Nothing changes in the scopes around this one.
            if grown == held { return refusing }
            usage = scopes[scope].usage
            usage.remove(held)
            usage.add(grown)
        }
    }

    // MARK: Granting

    mutating func grant(_ id: Claim.ID) {
        let wasUnqueued = claims[id].state == .unqueued
        unlinkNames(of: id)
        var place = claims[id].firstPlace
        while !place.isNone {
            let scope = places[place].scope
            if wasUnqueued { scopes[scope].unqueued.remove(place, in: &places) } else { dequeue(place) }
            unlistIfQuiet(scope)
            scopes[scope].holders.insert(place, in: &places)
            scopes[scope].usage.add(places[place].usage)
            _ = carryUp(from: scope)
            place = places[place].next
        }
        claims[id].state = .holding
        forgetAncestors(of: id)
        if waitingBelow[claims[id].owner] != nil { takeIn(descendantsOf: id) }
    }

    /// Recomputes the usages of the holders around a scope that has changed. Returns the outermost scope that has
    /// changed.
    private mutating func carryUp(from scope: Scope.ID) -> Scope.ID {
        var scope = scope
        while true {
            let holder = scopes[scope].holder
            if holder.isNone { return scope }
            let (held, holds) = (places[holder].usage, HolderUsage(places[holder].share, with: scopes[scope].usage))
            if held == holds { return scope }
            places[holder].usage = holds
            scope = places[holder].scope
            scopes[scope].usage.remove(held)
            scopes[scope].usage.add(holds)
        }
    }

    /// Moves waiting claims into the scope of an ancestor that now holds what they wait for. This is rare, because
    /// ancestors ask first.
    private mutating func takeIn(descendantsOf id: Claim.ID) {
        let owner = claims[id].owner
        var place = claims[id].firstPlace
        while !place.isNone {
            // The claims in other scopes cannot have this owner as their nearest holder, because the ancestors of an
            // ancestor are ancestors.
            let outer = places[place].scope
            for waiting in waiting(directlyIn: outer) where claims[places[waiting].claim].ancestors.contains(owner) {
                let inner = scope(inside: place)
                if claims[places[waiting].claim].state == .unqueued {
                    scopes[outer].unqueued.remove(waiting, in: &places)
                    scopes[inner].unqueued.append(waiting, in: &places)
                } else {
                    dequeue(waiting)
                    scopes[inner].queue.insert(waiting, in: &places)
                }
                places[waiting].scope = inner
                listAsBusy(inner)
            }
            if !places[place].innerScope.isNone { noteWaiting(within: places[place].innerScope) }
            place = places[place].next
        }
    }

    // MARK: Giving back

    mutating func giveBack(_ place: Place.ID) {
        let scope = places[place].scope
        scopes[scope].holders.remove(place, in: &places)
        scopes[scope].usage.remove(places[place].usage)
        if !places[place].innerScope.isNone { dissolve(places[place].innerScope, into: scope) }
        noteWaiting(within: carryUp(from: scope))
    }

    /// Moves everything from the scope of a holder that is released into the scope around it. This is rare, because
    /// ancestors give back last.
    private mutating func dissolve(_ inner: Scope.ID, into outer: Scope.ID) {
        while let holder = scopes[inner].holders.popFirst(in: &places) {
            places[holder].scope = outer
            scopes[outer].holders.insert(holder, in: &places)
            scopes[outer].usage.add(places[holder].usage)
        }
        var (queued, unqueued) = (PlaceList(), PlaceList())
        while let waiting = scopes[inner].queue.popFirst(in: &places) {
            if move(waiting, to: outer) { queued.append(waiting, in: &places) }
        }
        while let waiting = scopes[inner].unqueued.popFirst(in: &places) {
            if move(waiting, to: outer) { unqueued.append(waiting, in: &places) }
        }
        scopes[outer].queue.merge(queued, in: &places)
        scopes[outer].unqueued.merge(unqueued, in: &places)
        while !scopes[inner].firstBusy.isNone {
            let busy = scopes[inner].firstBusy
            scopes[inner].firstBusy = scopes[busy].nextBusy
            scopes[busy].isListedAsBusy = false
            listAsBusy(busy)
        }
        if scopes[inner].isListedAsBusy { unlist(inner) }
        scopes.remove(inner)
        if !scopes[outer].isQuiet { listAsBusy(outer) } else { unlistIfQuiet(outer) }
    }

    /// Moves a waiting place out of a scope that is dissolved. Returns false if it went into another scope, because an
    /// ancestor between the two has come to hold the name after a descendant did.
    private mutating func move(_ waiting: Place.ID, to outer: Scope.ID) -> Bool {
        let claim = places[waiting].claim
        let scope = nearestScope(under: places[waiting].root, of: claims[claim].ancestors)
        places[waiting].scope = scope
        if scope == outer { return true }
        var alone = PlaceList()
        alone.append(waiting, in: &places)
        if claims[claim].state == .unqueued {
            scopes[scope].unqueued.merge(alone, in: &places)
        } else {
            scopes[scope].queue.merge(alone, in: &places)
        }
        listAsBusy(scope)
        note(claim)
        return false
    }

    mutating func bypassQueues(_ id: Claim.ID) {
        unlinkNames(of: id)
        var place = claims[id].firstPlace
        while !place.isNone {
            dequeue(place)
            scopes[places[place].scope].unqueued.append(place, in: &places)
            place = places[place].next
        }
        claims[id].state = .unqueued
        note(id)
    }

    // MARK: Candidates

    /// Notes a candidate once, although a change may concern several of its names.
    private mutating func note(_ id: Claim.ID) {
        if claims[id].isNoted { return }
        claims[id].isNoted = true
        candidates.append(Candidate(claim: id))
    }

    mutating func forgetCandidates() {
        for candidate in candidates { claims[candidate.claim].isNoted = false }
        candidates.removeAll(keepingCapacity: true)
    }

    mutating func noteFirst(of scope: Scope.ID) {
        let first = scopes[scope].queue.first
        if !first.isNone { note(places[first].claim) }
    }

    /// Notes all claims that a change in the scope may concern: the first one in each wait queue in it, at any depth,
    /// and those that wait in no queue.
    mutating func noteWaiting(within top: Scope.ID) {
        var scope = top
        while !scope.isNone {
            noteFirst(of: scope)
            var place = scopes[scope].unqueued.first
            while !place.isNone {
                note(places[place].claim)
                place = places[place].following
            }
            scope = busyScope(after: scope, within: top)
        }
    }

    /// Returns the next scope of a walk through the busy scopes, which visits outer scopes before inner ones.
    func busyScope(after scope: Scope.ID, within top: Scope.ID) -> Scope.ID {
        let first = scopes[scope].firstBusy
        return first.isNone ? busyScope(beside: scope, within: top) : first
    }

    /// Returns the next scope of the walk that is not inside this one.
    func busyScope(beside scope: Scope.ID, within top: Scope.ID) -> Scope.ID {
        var scope = scope
        while scope != top {
            if !scopes[scope].nextBusy.isNone { return scopes[scope].nextBusy }
            scope = enclosing(scope)
        }
        return .none
    }

    /// Grants the candidates that can be granted, and returns them in the order of arrival. A grant only takes from the
    /// others, so a candidate that is refused need not be looked at again before a claim is released. A claim that
    /// becomes the first in a queue is a new candidate.
    mutating func grantCandidates() -> [Claim.ID] {
        if candidates.isEmpty { return [] }
        var granted: [Claim.ID] = []
        var ranked = 0
        while true {
            if ranked < candidates.count { ranked = rank(from: ranked) }
            guard let candidate = candidates.popLast() else { break }
            ranked -= 1
            if claims[candidate.claim].state == .holding || !isGrantable(candidate.claim) { continue }
            grant(candidate.claim)
            granted.append(candidate.claim)
        }
        if granted.count > 1 { granted.sort { claims[$0].arrival < claims[$1].arrival } }
        return granted
    }

    /// Sorts the new candidates into those that are sorted already, so that the next one to look at comes last.
    private mutating func rank(from start: Int) -> Int {
        for place in start..<candidates.count {
            let claim = candidates[place].claim
            candidates[place].rank = rank(of: claim)
            candidates[place].arrival = claims[claim].arrival
            claims[claim].isNoted = false
        }
        if start == 0 {
            candidates.sort { $1.comesBefore($0) }
            return candidates.count
        }
        for place in start..<candidates.count {
            let candidate = candidates[place]
            var (low, high) = (0, place)
            while low < high {
                let middle = (low + high) / 2
                if candidate.comesBefore(candidates[middle]) { low = middle + 1 } else { high = middle }
            }
            if low < place {
                candidates.remove(at: place)
                candidates.insert(candidate, at: low)
            }
        }
        return candidates.count
    }

    private func rank(of claim: Claim.ID) -> Int {
        if claims[claim].state == .unqueued { return 0 }
        var place = claims[claim].firstPlace
        while !place.isNone {
            if places[place].scope != places[place].root { return 1 }
            place = places[place].next
        }
        return 2
    }
}
