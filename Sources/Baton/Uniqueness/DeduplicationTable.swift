/// The identities of unfinished operations. A pure state machine; ``Deduplication`` is its driver.
///
/// The table never compares identities, because that runs the user's code. The caller compares those with the same hash
/// outside the lock. A new identity is inserted only if no other one with its hash has come in between.
struct DeduplicationTable<Owner: AnyObject> {
    /// The number of an identity, which rises with every new one.
    typealias Place = UInt64

    private struct Entry {
        let identity: any Identity
        /// The owners, oldest first. There are several if an owner has replaced others that have not finished.
        var owners: [Owner]
    }

    private var entries: [Place: Entry] = [:]
    /// The places of the identities with a hash, in ascending order.
    private var places: [Int: [Place]] = [:]
    private var lastPlace: Place = 0

    var count: Int { entries.count }

    /// The identities with this hash that came after `place`.
    func candidates(for hash: Int, after place: Place) -> [(place: Place, identity: any Identity)] {
        (places[hash] ?? []).filter { $0 > place }.map { ($0, entries[$0]!.identity) }
    }

    /// The owners of the identity, or an empty array if the identity has become free.
    func owners(at place: Place) -> [Owner] { entries[place]?.owners ?? [] }

    /// Inserts an identity. Returns nil if others with the same hash came after `last`, which the caller has to compare
    /// first.
    mutating func insert(_ identity: any Identity, for owner: Owner, ifNoneAfter last: Place) -> Place? {
        if let newest = places[identity.hash]?.last, newest > last { return nil }
        lastPlace += 1
        entries[lastPlace] = Entry(identity: identity, owners: [owner])
        places[identity.hash, default: []].append(lastPlace)
        return lastPlace
    }

    enum Entrance {
        /// The owner has the identity. The given owners have not finished, as far as is known.
        case entered(behind: [Owner])
        /// The newest owner of the identity has it.
        case taken(by: Owner)
        /// The identity has become free in between.
        case gone
    }

    /// Adds an owner to an identity, if it has no unfinished owner or these are to be replaced.
    ///
    /// - Parameter finished: Owners that were seen finished, and are about to leave.
    mutating func enter(
        _ owner: Owner, at place: Place, ignoring finished: [Owner], replaces: Bool
    ) -> Entrance {
        guard let owners = entries[place]?.owners else { return .gone }
        let unfinished = owners.filter { owner in !finished.contains { $0 === owner } }
        if !replaces, let newest = unfinished.last { return .taken(by: newest) }
        entries[place]!.owners = unfinished + [owner]
        return .entered(behind: unfinished)
    }

    /// Removes an owner. Returns the identity if it has become free, for the caller to release after unlocking.
    mutating func leave(_ owner: Owner, at place: Place) -> (any Identity)? {
        guard let entry = entries[place] else { return nil }
        let rest = entry.owners.filter { $0 !== owner }
        if !rest.isEmpty {
            entries[place]!.owners = rest
            return nil
        }
        entries[place] = nil
        let hash = entry.identity.hash
        places[hash]!.removeAll { $0 == place }
        if places[hash]!.isEmpty { places[hash] = nil }
        return entry.identity
    }
}
