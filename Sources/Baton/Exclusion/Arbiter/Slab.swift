/// Elements with fixed numbers. The place of a removed one is used again, so that a steady state allocates nothing.
struct Slab<Element> {
    struct ID: Hashable {
        fileprivate let number: Int32

        static var none: Self { Self(number: -1) }
        var isNone: Bool { number < 0 }

        /// For a list beside this one.
        var index: Int { Int(number) }
    }

    private var elements: [Element] = []
    private var free: [ID] = []

    var isEmpty: Bool { free.count == elements.count }

    @inline(__always)
    mutating func insert(_ element: Element) -> ID {
        if let id = free.popLast() {
            elements[id.index] = element
            return id
        }
        elements.append(element)
        return ID(number: Int32(elements.count - 1))
    }

    /// What is in the element stays there until its place is used again, or all are gone.
    @inline(__always)
    mutating func remove(_ id: ID) {
        free.append(id)
        // After a rush, the memory is given back.
        if isEmpty, elements.count > 1024 { self = Self() }
    }

    @inline(__always)
    subscript(id: ID) -> Element {
        _read { yield elements[id.index] }
        _modify { yield &elements[id.index] }
    }
}

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
