/// A list of elements in the order in which they were appended. A single element needs no array: most operations that
/// have a handler have only one.
enum TinyArray<Element> {
    case none
    case one(Element)
    case many([Element])

    var isEmpty: Bool { count == 0 }

    var count: Int {
        switch self {
        case .none: 0
        case .one: 1
        case .many(let elements): elements.count
        }
    }

    subscript(place: Int) -> Element {
        switch self {
        case .none: preconditionFailure("there is no element \(place)")
        case .one(let element):
            precondition(place == 0, "there is no element \(place)")
            return element
        case .many(let elements): return elements[place]
        }
    }

    @inline(__always)
    mutating func append(_ element: consuming Element) {
        switch take() {
        case .none: self = .one(element)
        case .one(let first):
            self = .many([first, element])
        case .many(var elements):
            elements.append(element)
            self = .many(elements)
        }
    }

    @inline(__always)
    func forEach(_ body: (Element) -> Void) {
        switch self {
        case .none: break
        case .one(let element): body(element)
        case .many(let elements): elements.forEach(body)
        }
    }

    var all: [Element] {
        switch self {
        case .none: []
        case .one(let element): [element]
        case .many(let elements): elements
        }
    }

    /// Moves the elements out, so that an array is changed in place instead of being copied.
    @inline(__always)
    mutating func take() -> Self {
        let all = self
        self = .none
        return all
    }
}
