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
