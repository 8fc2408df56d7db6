@testable import Baton

/// A model of the ``ExclusionStateMachine`` that is as simple as possible: it computes everything from scratch at every
/// step.
struct ExclusionStateMachineModel {
    struct Claim {
        let owner: Int
        let demands: ExclusionSet
        let isFurtherAttempt: Bool
        var isHolding = false
        var isInLine = true
        /// The owner in whose scope each demand is while the claim holds. The outermost scope is nil.
        var scopes: [Int?]
    }

    /// The parent of each owner. The number of a parent is smaller than those of its children.
    let parents: [Int?]
    /// The claims in order of arrival, those of further attempts before the others.
    private(set) var claims: [Claim] = []

    init(parents: [Int?]) { self.parents = parents }

    private struct Holder {
        let owner: Int
        let scope: Int?
        let share: Share
    }

    func claim(of owner: Int) -> Claim? { claims.first { $0.owner == owner } }

    func isAncestor(_ owner: Int, of other: Int) -> Bool {
        var above = parents[other]
        while let next = above {
            if next == owner { return true }
            above = parents[next]
        }
        return false
    }

    // MARK: Events

    /// Returns the owners whose claims are granted because of the request.
    mutating func request(_ owner: Int, _ demands: ExclusionSet, isFurtherAttempt: Bool = false) -> [Int] {
        let comesFirst =
            isFurtherAttempt && !claims.contains { !$0.isHolding && isAncestor(owner, of: $0.owner) }
        let claim = Claim(
            owner: owner, demands: demands, isFurtherAttempt: comesFirst, scopes: demands.map { _ in nil })
        let place = comesFirst ? claims.firstIndex { !$0.isFurtherAttempt } : nil
        claims.insert(claim, at: place ?? claims.endIndex)
        return settle()
    }

    mutating func release(_ owner: Int) -> [Int] {
        remove(owner)
        return settle()
    }

    private mutating func remove(_ owner: Int) {
        guard let place = claims.firstIndex(where: { $0.owner == owner }) else { return }
        let gone = claims.remove(at: place)
        guard gone.isHolding else { return }
        for (demand, outer) in zip(gone.demands, gone.scopes) {
            for other in claims.indices where claims[other].isHolding {
                for (number, its) in claims[other].demands.enumerated()
                where its.name == demand.name && claims[other].scopes[number] == owner {
                    claims[other].scopes[number] = outer
                }
            }
        }
    }

    mutating func leaveQueues(_ owner: Int) -> [Int] {
        for place in claims.indices where claims[place].owner == owner && !claims[place].isHolding {
            claims[place].isInLine = false
        }
        return settle()
    }

    // MARK: Grants

    private mutating func settle() -> [Int] {
        var granted: [Int] = []
        while let next = nextToGrant {
            claims[next].scopes = claims[next].demands.map { scope(of: claims[next], $0.name) }
            claims[next].isHolding = true
            granted.append(next)
        }
        return granted.sorted().map { claims[$0].owner }
    }

    /// The next claim to grant. Claims that have left the queues come first, then claims inside a holder, then the
    /// others, each in order of arrival.
    private var nextToGrant: Int? {
        let waiting = claims.indices.filter { !claims[$0].isHolding }
        let isInside = { (place: Int) in claims[place].demands.contains { scope(of: claims[place], $0.name) != nil } }
        let ranks = waiting.map { (claims[$0].isInLine ? isInside($0) ? 1 : 2 : 0, $0) }
        return ranks.sorted { $0 < $1 }.first { isFirst($0.1) && isAllowed(claims[$0.1]) }?.1
    }

    private func isFirst(_ place: Int) -> Bool {
        !claims[place].isInLine
            || claims[place].demands.allSatisfy { before(claims[place].owner, $0.name).isEmpty }
    }

    /// The owners before `owner` in the same queue, in order.
    func before(_ owner: Int, _ name: ExclusionName) -> [Int] {
        guard let claim = claim(of: owner) else { return [] }
        let scope = scope(of: claim, name)
        return claims.prefix { $0.owner != owner }.filter { other in
            !other.isHolding && other.isInLine && other.demands.contains { $0.name == name }
                && self.scope(of: other, name) == scope
        }.map(\.owner)
    }

    /// Returns the nearest ancestor that holds the name.
    private func scope(of claim: Claim, _ name: ExclusionName) -> Int? {
        var above = parents[claim.owner]
        while let ancestor = above {
            if let holding = self.claim(of: ancestor), holding.isHolding,
                holding.demands.contains(where: { $0.name == name })
            {
                return ancestor
            }
            above = parents[ancestor]
        }
        return nil
    }

    private func holders(of name: ExclusionName) -> [Holder] {
        claims.filter(\.isHolding).flatMap { claim in
            zip(claim.demands, claim.scopes).filter { $0.0.name == name }.map {
                Holder(owner: claim.owner, scope: $0.1, share: $0.0.share)
            }
        }
    }

    private func isAllowed(_ claim: Claim) -> Bool {
        claim.demands.allSatisfy { refusing(claim, $0).isEmpty }
    }

    /// Returns the scopes that would become invalid if the claim were granted. The outermost scope is nil.
    private func refusing(_ claim: Claim, _ demand: ExclusionSet.Demand) -> [Int?] {
        let scope = scope(of: claim, demand.name)
        let all = holders(of: demand.name) + [Holder(owner: claim.owner, scope: scope, share: demand.share)]
        return ([nil] + all.map(\.owner)).filter { !Self.isValid($0, all) }
    }

    private static func isValid(_ scope: Int?, _ all: [Holder]) -> Bool {
        let direct = all.filter { $0.scope == scope }
        let usages = direct.map { usage(of: $0, all) }
        if usages.contains(where: \.isAll), direct.count > 1 { return false }
        let limits = all.filter { isInside($0, scope, all) }.map(\.share.limit)
        return usages.reduce(0) { $0 + $1.units } <= limits.min() ?? .max
    }

    private static func usage(of holder: Holder, _ all: [Holder]) -> (isAll: Bool, units: Int) {
        let inside = all.filter { $0.scope == holder.owner }.map { usage(of: $0, all) }
        let isAll = inside.contains(where: \.isAll)
        let units = inside.reduce(0) { $0 + $1.units }
        switch holder.share {
        case .all: return (true, units)
        case .shared: return (isAll, units)
        case .units(let weight, _): return (isAll, max(weight, units))
        }
    }

    /// Returns true if the holder is inside the scope at any depth.
    private static func isInside(_ holder: Holder, _ scope: Int?, _ all: [Holder]) -> Bool {
        if holder.scope == scope || scope == nil { return true }
        guard let outer = all.first(where: { $0.owner == holder.scope }) else { return false }
        return isInside(outer, scope, all)
    }

    /// True if all claims that hold are within the limits.
    var isValid: Bool {
        claims.filter(\.isHolding).flatMap(\.demands).allSatisfy { demand in
            let all = holders(of: demand.name)
            return ([nil] + all.map(\.owner)).allSatisfy { Self.isValid($0, all) }
        }
    }

    // MARK: Queries

    /// Returns the holders that block the demand: all holders in a scope that refuses it whose share conflicts with the
    /// demand, except ancestors of the claim's owner.
    func holdersBlocking(_ claim: Claim, _ demand: ExclusionSet.Demand) -> [Int] {
        let refusing = refusing(claim, demand)
        let all = holders(of: demand.name)
        return all.filter { holder in
            refusing.contains { Self.isInside(holder, $0, all) } && !isAncestor(holder.owner, of: claim.owner)
                && (holder.share == .all || demand.share == .all || holder.share != .shared && demand.share != .shared)
        }.map(\.owner)
    }

    func fits(_ owner: Int, without gone: Set<Int>) -> Bool {
        var rest = self
        for owner in gone where claim(of: owner)?.isHolding == true { rest.remove(owner) }
        return rest.claim(of: owner).map { !$0.isHolding && rest.isAllowed($0) } ?? false
    }
}
