/// Which unfinished operations have which identity. Pure; see ``Deduplication``.
///
/// It never compares identities, because that is the user's code. The caller does, outside the lock, with those of the
/// same hash; a new one is taken in only if no other of its hash has come in between.
struct DeduplicationTable<Owner: AnyObject> {
    /// Of an identity; it rises with every new one.
    typealias Place = UInt64

    private struct Entry {
        let identity: any Identity
        /// Oldest first. Several when one has replaced others that have not finished.
        var owners: [Owner]
    }

    private var entries: [Place: Entry] = [:]
    /// By hash; rising.
    private var places: [Int: [Place]] = [:]
    private var lastPlace: Place = 0

    var count: Int { entries.count }

    /// Those of this hash that came after `place`.
    func candidates(for hash: Int, after place: Place) -> [(place: Place, identity: any Identity)] {
        (places[hash] ?? []).filter { $0 > place }.map { ($0, entries[$0]!.identity) }
    }

    /// Empty if the identity has become free.
    func owners(at place: Place) -> [Owner] { entries[place]?.owners ?? [] }

    /// Nil: others of its hash came after `last`, to be compared first.
    mutating func insert(_ identity: any Identity, for owner: Owner, ifNoneAfter last: Place) -> Place? {
        if let newest = places[identity.hash]?.last, newest > last { return nil }
        lastPlace += 1
        entries[lastPlace] = Entry(identity: identity, owners: [owner])
        places[identity.hash, default: []].append(lastPlace)
        return lastPlace
    }

    enum Entrance {
        /// It has the identity; these have not finished, as far as is known.
        case entered(behind: [Owner])
        /// The newest of those that have it.
        case taken(by: Owner)
        /// The identity has become free in between.
        case gone
    }

    /// - Parameter finished: Seen finished, and about to leave.
    mutating func enter(
        _ owner: Owner, at place: Place, ignoring finished: [Owner], replaces: Bool
    ) -> Entrance {
        guard let owners = entries[place]?.owners else { return .gone }
        let unfinished = owners.filter { owner in !finished.contains { $0 === owner } }
        if !replaces, let newest = unfinished.last { return .taken(by: newest) }
        entries[place]!.owners = unfinished + [owner]
        return .entered(behind: unfinished)
    }

    /// The identity, if it has become free, for the caller to release after unlocking.
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
