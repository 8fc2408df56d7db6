/// Places in a row, linked through themselves, so that each can leave without a search.
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

    mutating func popFirst(in places: inout Slab<Place>) -> Place.ID? {
        if isEmpty { return nil }
        let id = first
        remove(id, in: &places)
        return id
    }

    /// Both are in the order of arrival, and so is what comes out.
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
