/// Granting and releasing.
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

    func isGrantable(_ id: Claim.ID) -> Bool { !isQueuedBehindOthers(id) && isAllowed(id) }

    /// Returns true if the holders let the claim have all of its names. Wait queues do not count.
    func isAllowed(_ id: Claim.ID) -> Bool {
        var entry = claims[id].firstEntry
        while !entry.isNone {
            if !refusal(of: entry).isNone { return false }
            entry = entries[entry].next
        }
        return true
    }

    /// Returns the outermost scope whose holders do not allow the entry. What is added inside a holder may exceed what
    /// that holder has, so the scopes around it must allow it, too.
    func refusal(of entry: ClaimEntry.ID) -> Scope.ID {
        var refusing = Scope.ID.none
        var scope = entries[entry].scope
        var usage = scopes[scope].usage
        usage.add(entries[entry].usage)
        while true {
            if !usage.isValid { refusing = scope }
            let holder = scopes[scope].holder
            if holder.isNone { return refusing }
            let (held, grown) = (entries[holder].usage, HolderUsage(entries[holder].share, with: usage))
            scope = entries[holder].scope
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
        var entry = claims[id].firstEntry
        while !entry.isNone {
            let scope = entries[entry].scope
            if wasUnqueued { scopes[scope].unqueued.remove(entry, in: &entries) } else { dequeue(entry) }
            unlistIfQuiet(scope)
            scopes[scope].holders.insert(entry, in: &entries)
            scopes[scope].usage.add(entries[entry].usage)
            _ = carryUp(from: scope)
            entry = entries[entry].next
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
            let (held, holds) = (entries[holder].usage, HolderUsage(entries[holder].share, with: scopes[scope].usage))
            if held == holds { return scope }
            entries[holder].usage = holds
            scope = entries[holder].scope
            scopes[scope].usage.remove(held)
            scopes[scope].usage.add(holds)
        }
    }

    /// Moves waiting claims into the scope of an ancestor that now holds what they wait for. This is rare, because
    /// ancestors ask first.
    private mutating func takeIn(descendantsOf id: Claim.ID) {
        let owner = claims[id].owner
        var entry = claims[id].firstEntry
        while !entry.isNone {
            // The claims in other scopes cannot have this owner as their nearest holder, because the ancestors of an
            // ancestor are ancestors.
            let outer = entries[entry].scope
            for waiting in waiting(directlyIn: outer) where claims[entries[waiting].claim].ancestors.contains(owner) {
                let inner = scope(inside: entry)
                if claims[entries[waiting].claim].state == .unqueued {
                    scopes[outer].unqueued.remove(waiting, in: &entries)
                    scopes[inner].unqueued.append(waiting, in: &entries)
                } else {
                    dequeue(waiting)
                    scopes[inner].queue.insert(waiting, in: &entries)
                }
                entries[waiting].scope = inner
                listAsBusy(inner)
            }
            if !entries[entry].innerScope.isNone { noteWaiting(within: entries[entry].innerScope) }
            entry = entries[entry].next
        }
    }

    /// Returns the entries that wait in a scope, without those in the scopes inside it.
    private func waiting(directlyIn scope: Scope.ID) -> [ClaimEntry.ID] {
        var found: [ClaimEntry.ID] = []
        for first in [scopes[scope].queue.first, scopes[scope].unqueued.first] {
            var entry = first
            while !entry.isNone {
                found.append(entry)
                entry = entries[entry].following
            }
        }
        return found
    }

    // MARK: Release

    mutating func release(_ entry: ClaimEntry.ID) {
        let scope = entries[entry].scope
        scopes[scope].holders.remove(entry, in: &entries)
        scopes[scope].usage.remove(entries[entry].usage)
        if !entries[entry].innerScope.isNone { dissolve(entries[entry].innerScope, into: scope) }
        noteWaiting(within: carryUp(from: scope))
    }

    /// Moves everything from the scope of a holder that is released into the scope around it. This is rare, because
    /// ancestors release last.
    private mutating func dissolve(_ inner: Scope.ID, into outer: Scope.ID) {
        while let holder = scopes[inner].holders.popFirst(in: &entries) {
            entries[holder].scope = outer
            scopes[outer].holders.insert(holder, in: &entries)
            scopes[outer].usage.add(entries[holder].usage)
        }
        var (queued, unqueued) = (ClaimEntryList(), ClaimEntryList())
        while let waiting = scopes[inner].queue.popFirst(in: &entries) {
            if move(waiting, to: outer) { queued.append(waiting, in: &entries) }
        }
        while let waiting = scopes[inner].unqueued.popFirst(in: &entries) {
            if move(waiting, to: outer) { unqueued.append(waiting, in: &entries) }
        }
        scopes[outer].queue.merge(queued, in: &entries)
        scopes[outer].unqueued.merge(unqueued, in: &entries)
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

    /// Moves a waiting entry out of a scope that is dissolved. Returns false if it went into another scope, because an
    /// ancestor between the two has come to hold the name after a descendant did.
    private mutating func move(_ waiting: ClaimEntry.ID, to outer: Scope.ID) -> Bool {
        let claim = entries[waiting].claim
        let scope = nearestScope(under: entries[waiting].root, of: claims[claim].ancestors)
        entries[waiting].scope = scope
        if scope == outer { return true }
        var alone = ClaimEntryList()
        alone.append(waiting, in: &entries)
        if claims[claim].state == .unqueued {
            scopes[scope].unqueued.merge(alone, in: &entries)
        } else {
            scopes[scope].queue.merge(alone, in: &entries)
        }
        listAsBusy(scope)
        note(claim)
        return false
    }

    mutating func bypassQueues(_ id: Claim.ID) {
        unlinkNames(of: id)
        var entry = claims[id].firstEntry
        while !entry.isNone {
            dequeue(entry)
            scopes[entries[entry].scope].unqueued.append(entry, in: &entries)
            entry = entries[entry].next
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

    mutating func discardCandidates() {
        for candidate in candidates { claims[candidate.claim].isNoted = false }
        candidates.removeAll(keepingCapacity: true)
    }

    mutating func noteFirst(of scope: Scope.ID) {
        let first = scopes[scope].queue.first
        if !first.isNone { note(entries[first].claim) }
    }

    /// Notes all claims that a change in the scope may concern: the first one in each wait queue in it, at any depth,
    /// and those that wait in no queue.
    mutating func noteWaiting(within top: Scope.ID) {
        var scope = top
        while !scope.isNone {
            noteFirst(of: scope)
            var entry = scopes[scope].unqueued.first
            while !entry.isNone {
                note(entries[entry].claim)
                entry = entries[entry].following
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

    /// Sorts the new candidates into those that are sorted already, so that the next one to examine comes last.
    private mutating func rank(from start: Int) -> Int {
        for index in start..<candidates.count {
            let claim = candidates[index].claim
            candidates[index].rank = rank(of: claim)
            candidates[index].arrival = claims[claim].arrival
            claims[claim].isNoted = false
        }
        if start == 0 {
            candidates.sort { $1.comesBefore($0) }
            return candidates.count
        }
        for index in start..<candidates.count {
            let candidate = candidates[index]
            var (low, high) = (0, index)
            while low < high {
                let middle = (low + high) / 2
                if candidate.comesBefore(candidates[middle]) { low = middle + 1 } else { high = middle }
            }
            if low < index {
                candidates.remove(at: index)
                candidates.insert(candidate, at: low)
            }
        }
        return candidates.count
    }

    private func rank(of claim: Claim.ID) -> Int {
        if claims[claim].state == .unqueued { return 0 }
        var entry = claims[claim].firstEntry
        while !entry.isNone {
            if entries[entry].scope != entries[entry].root { return 1 }
            entry = entries[entry].next
        }
        return 2
    }
}
