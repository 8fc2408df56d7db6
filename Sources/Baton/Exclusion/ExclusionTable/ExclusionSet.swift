/// The amount of a name that is asked for or held.
enum Share: Hashable, Sendable {
    case all
    case shared
    case units(Int, of: Int)

    /// Returns the greater of two shares that one owner asks for, which includes the other one.
    func merged(with other: Share) -> Share {
        switch (self, other) {
        case (.all, _), (_, .all): .all
        case (.units(let weight, let limit), .units(let otherWeight, let otherLimit)):
            .units(max(weight, otherWeight), of: min(limit, otherLimit))
        case (.units, .shared): self
        case (.shared, .units), (.shared, .shared): other
        }
    }

    /// `Int.max` if there is no limit.
    var limit: Int {
        switch self {
        case .all, .shared: .max
        case .units(_, let limit): limit
        }
    }

    /// Returns the reason why this can never be granted, or nil if it can.
    func problem(for name: ExclusionName) -> String? {
        guard case .units(let weight, let limit) = self else { return nil }
        if limit < 1 { return "the limit of \(name) is \(limit), and must be at least 1" }
        if weight < 1 { return "the weight in \(name) is \(weight), and must be at least 1" }
        if weight > limit { return "the weight in \(name) is \(weight), more than the limit of \(limit)" }
        return nil
    }
}

/// The exclusions that one owner asks for: each name once, in the order of first mention.
struct ExclusionSet: Sendable, Hashable {
    struct Demand: Sendable, Hashable {
        let name: ExclusionName
        fileprivate(set) var share: Share
    }

    private var demands: [Demand] = []
    /// The index of each name, if there are more than a few.
    private var places: [ExclusionName: Int] = [:]
    /// True if some of the names count within a scope.
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

    /// Returns the set with changed names. If two names become one, their shares are merged.
    func mapNames(_ change: (ExclusionName) -> ExclusionName) -> ExclusionSet {
        var changed = ExclusionSet()
        for demand in demands { changed.insert(Demand(name: change(demand.name), share: demand.share)) }
        return changed
    }

    /// The number of names up to which a linear search suffices. Most operations have a handful of names; an operation
    /// that locks a name for each of its files may have thousands.
    private static let few = 16

    private func place(of name: ExclusionName) -> Int? {
        demands.count > Self.few ? places[name] : demands.firstIndex { $0.name == name }
    }

    private mutating func notePlaces() {
        if demands.count <= Self.few { return }
        for place in places.count..<demands.count { places[demands[place].name] = place }
    }

    /// The reason why this can never be granted; nil if it can. Two shares that can be granted may merge into one that
    /// cannot: one with the smaller limit and the greater weight.
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
