/// The part of a claim that concerns one name: an entry of a wait queue, or a holder.
struct ClaimEntry {
    typealias ID = Slab<ClaimEntry>.ID

    let claim: Claim.ID
    let arrival: Arrival
    let share: Share
    /// The outermost scope of the name.
    let root: Scope.ID
    var scope: Scope.ID
    /// The scope in which the descendants of a holder hold or wait; none if there are no such descendants.
    var innerScope = Scope.ID.none
    /// The amount that a holder uses, including everything inside it.
    var usage: HolderUsage
    /// The entry of the same claim for its next name.
    var next = ID.none
    /// The neighbours in the list of the scope.
    var previous = ID.none
    var following = ID.none
}

/// The holders and waiting claims of a name that have the same nearest ancestor among its holders, or no such ancestor.
/// A scope exists while it is not empty.
struct Scope {
    typealias ID = Slab<Scope>.ID

    /// The name, in the outermost scope of a name only. It is also the only scope without a holder around it.
    var name: ExclusionName?
    /// The limits that all owners of the name have given, at any depth, waiting or holding. Used in the outermost scope
    /// only.
    var declaredLimits = Limits()

    /// Other names for which claims in a wait queue of this name wait as well, each with the number of such claims.
    /// Claims behind these wait for the holders of the other names, too. Used in the outermost scope only.
    var links: [ID: Int] = [:]

    var holder = ClaimEntry.ID.none
    var holders = HolderList()
    var usage = ScopeUsage()

    var queue = ClaimQueue()
    /// The claims that wait in no queue.
    var unqueued = ClaimEntryList()

    /// The scopes directly inside this one in which a claim waits at any depth, as a list that is linked through the
    /// scopes.
    var firstBusy = ID.none
    var isListedAsBusy = false
    var previousBusy = ID.none
    var nextBusy = ID.none

    init(name: ExclusionName) { self.name = name }

    init(holder: ClaimEntry.ID) { self.holder = holder }

    var isQuiet: Bool { queue.isEmpty && unqueued.isEmpty && firstBusy.isNone }

    var isUnused: Bool { holders.isEmpty && queue.isEmpty && unqueued.isEmpty }
}

/// The amount that a holder uses of a name.
struct HolderUsage: Equatable {
    var isAll = false
    /// The sum of the weights, in a type so wide that no sum overflows.
    var units: Int128 = 0
    /// The smallest limit, including the limits inside the holder.
    var limit: Int

    init(_ share: Share) {
        limit = share.limit
        switch share {
        case .all: isAll = true
        case .shared: break
        // A weight below 0 is refused before it gets here. If one does, it must not make room for other claims.
        case .units(let weight, _): units = Int128(max(weight, 0))
        }
    }

    /// Makes the usage of a holder that gives parts of its share to the claims inside it.
    init(_ share: Share, with inside: ScopeUsage) {
        self.init(share)
        isAll = isAll || inside.exclusives > 0
        units = max(units, inside.units)
        limit = min(limit, inside.limits.smallest)
    }
}

/// The amount that the direct holders of a scope use together.
struct ScopeUsage {
    private(set) var count = 0
    private(set) var exclusives = 0
    private(set) var units: Int128 = 0
    private(set) var limits = Limits()

    mutating func add(_ holder: HolderUsage) {
        count += 1
        exclusives += holder.isAll ? 1 : 0
        units += holder.units
        if holder.limit < .max { limits.insert(holder.limit) }
    }

    mutating func remove(_ holder: HolderUsage) {
        count -= 1
        exclusives -= holder.isAll ? 1 : 0
        units -= holder.units
        if holder.limit < .max { limits.remove(holder.limit) }
    }

    /// True if the holders are compatible. Limits count beside an exclusive holder, too: they may come from inside it,
    /// and outlast it.
    var isValid: Bool { (exclusives == 0 || count == 1) && units <= limits.smallest }
}

/// The limits that were given, each with the number of claims that gave it. All claims should give the same one, so one
/// is stored without an array.
struct Limits {
    private struct Entry {
        var limit: Int
        var count: Int
        /// The call site that gave the limit first.
        var site = DeclarationSite.unknown
        /// The last claim that gave the limit; none if that claim has left.
        var claim = Claim.ID.none
    }

    private var first = Entry(limit: .max, count: 0)
    /// The greater limits, ascending.
    private var others: [Entry] = []

    /// `Int.max` if there is no limit.
    var smallest: Int { first.limit }

    /// Returns the smallest limit that is not this one, with a claim that has given it; none if that is not known.
    func firstOther(than limit: Int) -> (limit: DeclaredLimit, claim: Claim.ID)? {
        let other = first.count == 0 || first.limit != limit ? first : others.first
        guard let other, other.count > 0 else { return nil }
        return (DeclaredLimit(limit: other.limit, site: other.site), other.claim)
    }

    mutating func insert(
        _ limit: Int, from site: DeclarationSite = .unknown, by claim: Claim.ID = .none
    ) {
        let entry = Entry(limit: limit, count: 1, site: site, claim: claim)
        if first.count == 0 {
            first = entry
        } else if limit == first.limit {
            first.count += 1
            first.claim = claim
        } else if limit < first.limit {
            others.insert(first, at: 0)
            first = entry
        } else if let index = others.firstIndex(where: { $0.limit >= limit }) {
            if others[index].limit == limit {
                others[index].count += 1
                others[index].claim = claim
            } else {
                others.insert(entry, at: index)
            }
        } else {
            others.append(entry)
        }
    }

    mutating func remove(_ limit: Int, by claim: Claim.ID = .none) {
        if limit == first.limit {
            first.count -= 1
            if first.claim == claim { first.claim = .none }
            if first.count > 0 { return }
            first = others.isEmpty ? Entry(limit: .max, count: 0) : others.removeFirst()
        } else if let index = others.firstIndex(where: { $0.limit == limit }) {
            others[index].count -= 1
            if others[index].claim == claim { others[index].claim = .none }
            if others[index].count == 0 { others.remove(at: index) }
        }
    }
}

// MARK: - Lists of claims

/// A list of entries that is linked through them, so that each can be removed without a search.
struct ClaimEntryList {
    private(set) var first = ClaimEntry.ID.none
    private(set) var last = ClaimEntry.ID.none

    var isEmpty: Bool { first.isNone }

    @inline(__always)
    mutating func append(_ id: ClaimEntry.ID, in entries: inout Slab<ClaimEntry>) {
        entries[id].previous = last
        entries[id].following = .none
        if last.isNone { first = id } else { entries[last].following = id }
        last = id
    }

    @inline(__always)
    mutating func remove(_ id: ClaimEntry.ID, in entries: inout Slab<ClaimEntry>) {
        let (previous, following) = (entries[id].previous, entries[id].following)
        if previous.isNone { first = following } else { entries[previous].following = following }
        if following.isNone { last = previous } else { entries[following].previous = previous }
    }

    @inline(__always)
    mutating func insert(_ id: ClaimEntry.ID, before next: ClaimEntry.ID, in entries: inout Slab<ClaimEntry>) {
        if next.isNone { return append(id, in: &entries) }
        let previous = entries[next].previous
        entries[id].previous = previous
        entries[id].following = next
        entries[next].previous = id
        if previous.isNone { first = id } else { entries[previous].following = id }
    }

    mutating func popFirst(in entries: inout Slab<ClaimEntry>) -> ClaimEntry.ID? {
        if isEmpty { return nil }
        let id = first
        remove(id, in: &entries)
        return id
    }

    /// Merges another list. Both lists are in the order of arrival, and so is the result.
    mutating func merge(_ other: ClaimEntryList, in entries: inout Slab<ClaimEntry>) {
        var (left, right) = (self, other)
        self = ClaimEntryList()
        while !left.isEmpty || !right.isEmpty {
            let takesLeft =
                right.isEmpty || !left.isEmpty && entries[left.first].arrival < entries[right.first].arrival
            let next = takesLeft ? left.popFirst(in: &entries) : right.popFirst(in: &entries)
            if let next { append(next, in: &entries) }
        }
    }
}

/// The entries that wait in one queue, ordered by ``Arrival``: those of further attempts come first.
struct ClaimQueue {
    private var all = ClaimEntryList()
    private var firstOther = ClaimEntry.ID.none

    var first: ClaimEntry.ID { all.first }

    var isEmpty: Bool { all.isEmpty }

    /// Inserts an entry behind all others of its kind.
    @inline(__always)
    mutating func insert(_ id: ClaimEntry.ID, in entries: inout Slab<ClaimEntry>) {
        if entries[id].arrival.isFurtherAttempt { return all.insert(id, before: firstOther, in: &entries) }
        all.append(id, in: &entries)
        if firstOther.isNone { firstOther = id }
    }

    @inline(__always)
    mutating func remove(_ id: ClaimEntry.ID, in entries: inout Slab<ClaimEntry>) {
        if firstOther == id { firstOther = entries[id].following }
        all.remove(id, in: &entries)
    }

    mutating func popFirst(in entries: inout Slab<ClaimEntry>) -> ClaimEntry.ID? {
        if isEmpty { return nil }
        let id = first
        remove(id, in: &entries)
        return id
    }

    /// Merges another list, which is also in the order of arrival.
    mutating func merge(_ other: ClaimEntryList, in entries: inout Slab<ClaimEntry>) {
        all.merge(other, in: &entries)
        firstOther = first
        while !firstOther.isNone, entries[firstOther].arrival.isFurtherAttempt {
            firstOther = entries[firstOther].following
        }
    }
}

/// The holders of a scope. Shared holders come last: none of them is in the way of a claim on units, so a search for
/// holders in the way can stop before them, however many there are.
struct HolderList {
    private var all = ClaimEntryList()
    private var firstReader = ClaimEntry.ID.none

    var first: ClaimEntry.ID { all.first }

    var isEmpty: Bool { all.isEmpty }

    @inline(__always)
    mutating func insert(_ id: ClaimEntry.ID, in entries: inout Slab<ClaimEntry>) {
        if case .shared = entries[id].share {
            all.append(id, in: &entries)
            if firstReader.isNone { firstReader = id }
        } else {
            all.insert(id, before: firstReader, in: &entries)
        }
    }

    @inline(__always)
    mutating func remove(_ id: ClaimEntry.ID, in entries: inout Slab<ClaimEntry>) {
        if firstReader == id { firstReader = entries[id].following }
        all.remove(id, in: &entries)
    }

    mutating func popFirst(in entries: inout Slab<ClaimEntry>) -> ClaimEntry.ID? {
        if isEmpty { return nil }
        let id = first
        remove(id, in: &entries)
        return id
    }
}
