/// An array of elements with stable IDs. It reuses the places of removed elements, so a steady state allocates nothing.
struct Slab<Element> {
    struct ID: Hashable {
        fileprivate let number: Int32

        static var none: Self { Self(number: -1) }
        var isNone: Bool { number < 0 }

        /// The index of the element, for a list that is parallel to this one.
        var index: Int { Int(number) }
    }

    private var elements: [Element] = []
    private var free: [ID] = []

    /// True if the place exists. Places cease to exist when an empty slab releases its memory.
    func hasPlace(_ id: ID) -> Bool { elements.indices.contains(id.index) }

    var isEmpty: Bool { free.count == elements.count }

    /// The elements of all places, those of free places included.
    var all: [Element] { elements }

    @inline(__always)
    mutating func insert(_ element: Element) -> ID {
        if let id = free.popLast() {
            elements[id.index] = element
            return id
        }
        elements.append(element)
        return ID(number: Int32(elements.count - 1))
    }

    /// Frees a place. The slab keeps the element until the place is used again, or until an empty slab with more than
    /// 1,024 places releases its memory. So the caller first clears what the slab must not retain.
    @inline(__always)
    mutating func remove(_ id: ID) {
        assert(free.count < elements.count && free.last != id, "Internal inconsistency: a place is freed twice")
        free.append(id)
        // After a peak, the empty slab releases its memory.
        if isEmpty, elements.count > 1024 { self = Self() }
    }

    @inline(__always)
    subscript(id: ID) -> Element {
        _read { yield elements[id.index] }
        _modify { yield &elements[id.index] }
    }
}
