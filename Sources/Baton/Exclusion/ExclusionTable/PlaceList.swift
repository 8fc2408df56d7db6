/// A list of places that is linked through them, so that each can be removed without a search.
struct PlaceList {
    private(set) var first = Place.ID.none
    private(set) var last = Place.ID.none

    var isEmpty: Bool { first.isNone }

    @inline(__always)
    mutating func append(_ id: Place.ID, in places: inout Slab<Place>) {
        places[id].previous = last
        places[id].following = .none
        if last.isNone { first = id } else { places[last].following = id }
        last = id
    }

    @inline(__always)
    mutating func remove(_ id: Place.ID, in places: inout Slab<Place>) {
        let (previous, following) = (places[id].previous, places[id].following)
        if previous.isNone { first = following } else { places[previous].following = following }
        if following.isNone { last = previous } else { places[following].previous = previous }
    }

    @inline(__always)
    mutating func insert(_ id: Place.ID, before next: Place.ID, in places: inout Slab<Place>) {
        if next.isNone { return append(id, in: &places) }
        let previous = places[next].previous
        places[id].previous = previous
        places[id].following = next
        places[next].previous = id
        if previous.isNone { first = id } else { places[previous].following = id }
    }

    mutating func popFirst(in places: inout Slab<Place>) -> Place.ID? {
        if isEmpty { return nil }
        let id = first
        remove(id, in: &places)
        return id
    }

    /// Merges another list. Both lists are in the order of arrival, and so is the result.
    mutating func merge(_ other: PlaceList, in places: inout Slab<Place>) {
        var (left, right) = (self, other)
        self = PlaceList()
        while !left.isEmpty || !right.isEmpty {
            let takesLeft =
                right.isEmpty || !left.isEmpty && places[left.first].arrival < places[right.first].arrival
            let next = takesLeft ? left.popFirst(in: &places) : right.popFirst(in: &places)
            if let next { append(next, in: &places) }
        }
    }
}

/// The places that wait in one queue, ordered by ``Arrival``: those of further attempts come first.
struct ClaimQueue {
    private var all = PlaceList()
    private var firstOther = Place.ID.none

    var first: Place.ID { all.first }

    var isEmpty: Bool { all.isEmpty }

    /// Inserts a place behind all others of its kind.
    @inline(__always)
    mutating func insert(_ id: Place.ID, in places: inout Slab<Place>) {
        if places[id].arrival.isFurtherAttempt { return all.insert(id, before: firstOther, in: &places) }
        all.append(id, in: &places)
        if firstOther.isNone { firstOther = id }
    }

    @inline(__always)
    mutating func remove(_ id: Place.ID, in places: inout Slab<Place>) {
        if firstOther == id { firstOther = places[id].following }
        all.remove(id, in: &places)
    }

    mutating func popFirst(in places: inout Slab<Place>) -> Place.ID? {
        if isEmpty { return nil }
        let id = first
        remove(id, in: &places)
        return id
    }

    /// Merges another list, which is also in the order of arrival.
    mutating func merge(_ other: PlaceList, in places: inout Slab<Place>) {
        all.merge(other, in: &places)
        firstOther = first
        while !firstOther.isNone, places[firstOther].arrival.isFurtherAttempt {
            firstOther = places[firstOther].following
        }
    }
}

/// The holders of a scope. Shared holders come last: none of them is in the way of a claim on units, so a search for
/// holders in the way can stop before them, however many there are.
struct HolderList {
    private var all = PlaceList()
    private var firstReader = Place.ID.none

    var first: Place.ID { all.first }

    var isEmpty: Bool { all.isEmpty }

    @inline(__always)
    mutating func insert(_ id: Place.ID, in places: inout Slab<Place>) {
        if case .shared = places[id].share {
            all.append(id, in: &places)
            if firstReader.isNone { firstReader = id }
        } else {
            all.insert(id, before: firstReader, in: &places)
        }
    }

    @inline(__always)
    mutating func remove(_ id: Place.ID, in places: inout Slab<Place>) {
        if firstReader == id { firstReader = places[id].following }
        all.remove(id, in: &places)
    }

    mutating func popFirst(in places: inout Slab<Place>) -> Place.ID? {
        if isEmpty { return nil }
        let id = first
        remove(id, in: &places)
        return id
    }
}
