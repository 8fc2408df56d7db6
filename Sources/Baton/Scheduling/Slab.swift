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

    /// Whether there is such a place: it goes when the memory is given back.
    func hasPlace(_ id: ID) -> Bool { id.index < elements.count }

    var isEmpty: Bool { free.count == elements.count }

    /// Of all places, also of those that are free.
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
