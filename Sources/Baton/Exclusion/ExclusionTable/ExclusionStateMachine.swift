/// Decides who holds which named exclusion. Pure; whoever has it locks it, asks, unlocks, and tells those that were
/// granted.
///
/// An owner has one claim at a time: on several names, all of which it gets at once. Per name, waiting ones are served
/// in the order in which they came, but for further attempts, which come first: else one would wait behind all first
/// attempts for a name that it had before. None passes another of its kind, so that neither writers nor those with a
/// great weight starve. What a descendant of a holder asks for is taken from what the holder has: it competes with
/// other descendants of that holder in a line of their own, and with others only for what exceeds it.
///
/// Owners are kept while they wait or hold. Whoever calls has references of its own, so none is released here. The
/// ancestors of an owner include those of its ancestors; they hold before it asks, and give back after it has.
struct ExclusionStateMachine<Owner: AnyObject> {
    enum Answer: Equatable {
        case granted
        case waiting
    }

    enum Standing: Equatable {
        case none
        /// False: after ``Arbiter/leaveLine(_:)``.
        case waiting(inLine: Bool)
        case held
    }

    /// What an owner had, and who got something because of it, in the order of arrival.
    struct Released {
        enum Claim: Equatable {
            case none
            case waiting
            case held
        }

        let claim: Claim
        let granted: [Owner]
    }

    private var table = ExclusionTable()
    /// By the numbers of their claims.
    private var owners: [Owner?] = []

    /// Nobody waits or holds, and nothing is left of those who did.
    var isEmpty: Bool { table.isEmpty }

    /// Nobody waits for this name or holds it.
    func isFree(_ name: ExclusionName) -> Bool { table.names[name] == nil }

    // MARK: Events

    /// All of it or nothing. The ancestors: the nearest first. An owner that has a claim keeps that one: the answer is
    /// about it.
    ///
    /// - Parameter isFurtherAttempt: Whether it comes before first attempts. An owner may ask so a limited number of
    ///   times, each time after it has asked without: else those behind it might wait for ever.
    mutating func request(
        _ owner: Owner, _ demands: ExclusionSet, inside ancestors: some Sequence<Owner>, isFurtherAttempt: Bool = false
    ) -> Answer {
        let key = ObjectIdentifier(owner)
        let ancestors = ancestors.map { ObjectIdentifier($0) }
        guard let id = table.enter(key, demands, inside: ancestors, isFurtherAttempt: isFurtherAttempt) else {
            return standing(of: owner) == .held ? .granted : .waiting
        }
        while owners.count <= id.index { owners.append(nil) }
        owners[id.index] = owner
        if table.isGrantable(id) {
            table.grant(id)
            // Owners behind it in a line were refused before, and where a scope of its own opens, the owners within
            // wait for the same as before.
            table.forgetCandidates()
            return .granted
        }
        table.stay(id, inside: ancestors)
        return .waiting
    }

    /// Gives back what the owner holds, or withdraws it from the lines.
    mutating func release(_ owner: Owner) -> Released {
        guard let id = table.numbers[ObjectIdentifier(owner)] else { return Released(claim: .none, granted: []) }
        let wasHeld = table.claims[id].state == .holding
        table.leave(id)
        owners[id.index] = nil
        if table.claims.isEmpty, owners.count > 1024 { owners = [] }
        return Released(claim: wasHeld ? .held : .waiting, granted: settle())
    }

    /// From now on the owner waits for holders alone: it goes before those in line, and holds nobody up there. Returns
    /// who got something because of it, in the order of arrival.
    mutating func leaveLine(_ owner: Owner) -> [Owner] {
        guard let id = table.numbers[ObjectIdentifier(owner)], table.claims[id].state == .inLine else { return [] }
        table.stepAside(id)
        return settle()
    }

    private mutating func settle() -> [Owner] { table.settle().compactMap { owners[$0.index] } }

    // MARK: Questions

    func standing(of owner: Owner) -> Standing {
        guard let id = table.numbers[ObjectIdentifier(owner)] else { return .none }
        switch table.claims[id].state {
        case .inLine: return .waiting(inLine: true)
        case .apart: return .waiting(inLine: false)
        case .holding: return .held
        }
    }

    /// For people: the first of its names that holders do not let it have, and one of those holders; or if only a line
    /// is in its way, the name and the owner before it.
    func obstacle(for owner: Owner) -> (name: ExclusionName, holder: Owner)? {
        guard let id = table.numbers[ObjectIdentifier(owner)], let found = table.obstacle(for: id),
            let holder = owners[found.claim.index]
        else { return nil }
        return (found.name, holder)
    }

    /// Every holder whose giving back counts for a waiting owner, in no particular order, but no more than the limit.
    func blockers(of owner: Owner, upTo limit: Int = .max) -> [Owner] {
        guard let id = table.numbers[ObjectIdentifier(owner)] else { return [] }
        return owners(of: table.blockers(of: id, upTo: limit))
    }

    /// Whom a waiting owner may have to wait for, as its lines are now: more than it does, but never fewer. Those that
    /// the search has listed before are left out.
    func possibleBlockers(of owner: Owner, within extent: inout ExclusionTable.Extent) -> [Owner] {
        guard let id = table.numbers[ObjectIdentifier(owner)] else { return [] }
        return owners(of: table.possibleBlockers(of: id, within: &extent))
    }

    /// Who may have to wait for one that holds names. Those that the search has listed before are left out.
    func possiblyBlocked(by owner: Owner, within extent: inout ExclusionTable.Extent) -> [Owner] {
        guard let id = table.numbers[ObjectIdentifier(owner)] else { return [] }
        return owners(of: table.possiblyBlocked(by: id, within: &extent))
    }

    private func owners(of claims: [Claim.ID]) -> [Owner] { claims.compactMap { owners[$0.index] } }

    /// Whether a line keeps a waiting owner from its names, whatever their holders do.
    func standsBehindOthers(_ owner: Owner) -> Bool {
        table.numbers[ObjectIdentifier(owner)].map(table.standsBehindOthers) ?? false
    }

    /// Whether a waiting owner could have all of its names if of all holders these alone remained. Lines do not count.
    func fits(_ owner: Owner, beside others: Set<ObjectIdentifier>) -> Bool {
        table.numbers[ObjectIdentifier(owner)].map { table.fits($0, beside: others) } ?? false
    }

    /// Whether the holders let a waiting owner have all of its names. Lines do not count.
    func isAllowed(_ owner: Owner) -> Bool {
        table.numbers[ObjectIdentifier(owner)].map(table.isAllowed) ?? false
    }

    /// Grows with each request. Nil: the owner neither waits nor holds.
    func arrival(of owner: Owner) -> UInt64? {
        table.numbers[ObjectIdentifier(owner)].map { table.claims[$0].arrival.number }
    }

    /// How many wait or hold.
    var count: Int { table.numbers.count }

    /// All who use a name give the same limit. The first of the demands for which somebody present has given another
    /// one.
    func conflictingLimit(for demands: ExclusionSet) -> (name: ExclusionName, limit: Int, otherLimit: Int)? {
        table.conflictingLimit(for: demands)
    }
}
