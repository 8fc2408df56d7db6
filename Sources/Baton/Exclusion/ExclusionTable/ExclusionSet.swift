/// How much of a name is asked for or held.
enum Share: Hashable, Sendable {
    case all
    case shared
    case units(Int, of: Int)

    /// For one who asks twice: the greater one, which includes the other.
    func merged(with other: Share) -> Share {
        switch (self, other) {
        case (.all, _), (_, .all): .all
        case (.units(let weight, let limit), .units(let otherWeight, let otherLimit)):
            .units(max(weight, otherWeight), of: min(limit, otherLimit))
        case (.units, .shared): self
        case (.shared, .units), (.shared, .shared): other
        }
    }

    /// `Int.max` for none.
    var limit: Int {
        switch self {
        case .all, .shared: .max
        case .units(_, let limit): limit
        }
    }

    /// Why this can never be granted; nil if it can.
    func problem(for name: ExclusionName) -> String? {
        guard case .units(let weight, let limit) = self else { return nil }
        if limit < 1 { return "the limit of \(name) is \(limit), and must be at least 1" }
        if weight < 1 { return "the weight in \(name) is \(weight), and must be at least 1" }
        if weight > limit { return "the weight in \(name) is \(weight), more than the limit of \(limit)" }
        return nil
    }
}

/// What one owner asks for: each name once, in the order of first mention.
struct ExclusionSet: Sendable, Hashable {
    struct Demand: Sendable, Hashable {
        let name: ExclusionName
        fileprivate(set) var share: Share
    }

    private var demands: [Demand] = []
    /// Where each name is, if there are more than a few.
    private var places: [ExclusionName: Int] = [:]
    /// Some of the names have a scope of their own.
    private(set) var haveScopes = false

    init() {}

    init(_ exclusions: some Sequence<Exclusion>) {
        for exclusion in exclusions { insert(exclusion) }
    }

    mutating func insert(_ exclusion: Exclusion) {
        insert(Demand(name: exclusion.key, share: exclusion.share))
    }

    mutating func formUnion(_ other: ExclusionSet) {
        for demand in other { insert(demand) }
    }

    private mutating func insert(_ demand: Demand) {
        if let place = place(of: demand.name) {
            demands[place].share = demands[place].share.merged(with: demand.share)
        } else {
            demands.append(demand)
            if case .within = demand.name { haveScopes = true }
            notePlaces()
        }
    }

    /// Two names may become one.
    func mapNames(_ change: (ExclusionName) -> ExclusionName) -> ExclusionSet {
        var changed = ExclusionSet()
        for demand in demands { changed.insert(Demand(name: change(demand.name), share: demand.share)) }
        return changed
    }

    /// Most operations name a handful; one that locks a file each may name thousands.
    private static let few = 16

    private func place(of name: ExclusionName) -> Int? {
        demands.count > Self.few ? places[name] : demands.firstIndex { $0.name == name }
    }

    private mutating func notePlaces() {
        if demands.count <= Self.few { return }
        for place in places.count..<demands.count { places[demands[place].name] = place }
    }

    /// Why this can never be granted; nil if it can. Two that can be granted may make one that cannot: the smaller
    /// limit of one, and the greater weight of the other.
    var problem: String? {
        for demand in demands {
            if let problem = demand.share.problem(for: demand.name) { return problem }
        }
        return nil
    }
}

extension ExclusionSet: RandomAccessCollection {
    var startIndex: Int { demands.startIndex }
    var endIndex: Int { demands.endIndex }
    var isEmpty: Bool { demands.isEmpty }
    subscript(place: Int) -> Demand { demands[place] }
}
