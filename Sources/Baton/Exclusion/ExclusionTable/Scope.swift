/// One name of one claim: a place in a line, or among the holders.
struct Place {
    typealias ID = Slab<Place>.ID

    let claim: Claim.ID
    let arrival: Arrival
    let share: Share
    /// Where those of no ancestor that holds the name are.
    let root: Scope.ID
    var scope: Scope.ID
    /// For a holder: what its descendants hold or wait for within it, if they do.
    var inside = Scope.ID.none
    /// Of a holder: what it uses, with all that is inside it.
    var load: Load
    /// The claim's place for its next name.
    var next = ID.none
    /// In the list of the scope in which it is.
    var previous = ID.none
    var following = ID.none
}

/// Those who have the same nearest ancestor among the holders of a name, or have none; it exists while there is one.
struct Scope {
    typealias ID = Slab<Scope>.ID

    /// Only the outermost one has it, and only it has no holder around it.
    var name: ExclusionName?
    /// All of a name that are present, at any depth, waiting or holding: only in the outermost one.
    var declaredLimits = Limits()

    /// Names that somebody in a line for this one waits for, too, and how many do: only in the outermost one. Whoever
    /// stands behind them waits for the holders of those names as well.
    var links: [ID: Int] = [:]

    var holder = Place.ID.none
    var holders = HolderList()
    var tally = Tally()

    var line = ClaimLine()
    /// They wait, in no line.
    var apart = PlaceList()

    /// The scopes directly inside this one where somebody waits, at any depth; linked through themselves.
    var firstBusy = ID.none
    var isListedAsBusy = false
    var previousBusy = ID.none
    var nextBusy = ID.none

    init(name: ExclusionName) { self.name = name }

    init(holder: Place.ID) { self.holder = holder }

    var isQuiet: Bool { line.isEmpty && apart.isEmpty && firstBusy.isNone }

    var isUnused: Bool { holders.isEmpty && line.isEmpty && apart.isEmpty }
}

/// What a holder uses of a name.
struct Load: Equatable {
    var isAll = false
    /// So wide that no sum of them overflows.
    var units: Int128 = 0
    /// The smallest one, with those of all inside.
    var limit: Int

    init(_ share: Share) {
        limit = share.limit
        switch share {
        case .all: isAll = true
        case .shared: break
        // A weight below 0 is refused before it comes here; it must not make room for others if it does come.
        case .units(let weight, _): units = Int128(max(weight, 0))
        }
    }

    /// Of one who holds the share, and gives of it to those inside.
    init(_ share: Share, with inside: Tally) {
        self.init(share)
        isAll = isAll || inside.exclusives > 0
        units = max(units, inside.units)
        limit = min(limit, inside.limits.smallest)
    }
}

/// What the direct holders of a scope use together.
struct Tally {
    private(set) var count = 0
    private(set) var exclusives = 0
    private(set) var units: Int128 = 0
    private(set) var limits = Limits()

    mutating func add(_ load: Load) {
        count += 1
        exclusives += load.isAll ? 1 : 0
        units += load.units
        if load.limit < .max { limits.insert(load.limit) }
    }

    mutating func remove(_ load: Load) {
        count -= 1
        exclusives -= load.isAll ? 1 : 0
        units -= load.units
        if load.limit < .max { limits.remove(load.limit) }
    }

    /// Limits count beside an exclusive one, too: they may be about what is inside it, and outlast it.
    var isValid: Bool { (exclusives == 0 || count == 1) && units <= limits.smallest }
}

/// How many gave which limit. All are meant to give the same one, so that one is at hand.
struct Limits {
    private struct Entry {
        var limit: Int
        var count: Int
    }

    private var first = Entry(limit: .max, count: 0)
    /// Greater ones, ascending.
    private var others: [Entry] = []

    /// `Int.max` for none.
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
