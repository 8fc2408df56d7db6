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
    }

    private var first = Entry(limit: .max, count: 0)
    /// The greater limits, ascending.
    private var others: [Entry] = []

    /// `Int.max` if there is no limit.
    var smallest: Int { first.limit }

    func firstOther(than limit: Int) -> Int? {
        if first.count == 0 { return nil }
        return first.limit != limit ? first.limit : others.first?.limit
    }

    mutating func insert(_ limit: Int) {
        if limit == first.limit || first.count == 0 {
            first = Entry(limit: limit, count: first.count + 1)
        } else if limit < first.limit {
            others.insert(first, at: 0)
            first = Entry(limit: limit, count: 1)
        } else if let place = others.firstIndex(where: { $0.limit >= limit }) {
            if others[place].limit == limit {
                others[place].count += 1
            } else {
                others.insert(Entry(limit: limit, count: 1), at: place)
            }
        } else {
            others.append(Entry(limit: limit, count: 1))
        }
    }

    mutating func remove(_ limit: Int) {
        if limit == first.limit {
            first.count -= 1
            if first.count > 0 { return }
            first = others.isEmpty ? Entry(limit: .max, count: 0) : others.removeFirst()
        } else if let place = others.firstIndex(where: { $0.limit == limit }) {
            others[place].count -= 1
            if others[place].count == 0 { others.remove(at: place) }
        }
    }
}
