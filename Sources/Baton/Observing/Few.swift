/// First in, first out. One alone takes no array: most operations that have a handler have one.
enum Few<Element> {
    case none
    case one(Element)
    case many([Element])

    var isEmpty: Bool {
        switch self {
        case .none: true
        case .one: false
        case .many(let elements): elements.isEmpty
        }
    }

    mutating func append(_ element: Element) {
        switch take() {
        case .none: self = .one(element)
        case .one(let first):
            self = .many([first, element])
        case .many(var elements):
            elements.append(element)
            self = .many(elements)
        }
    }

    mutating func popFirst() -> Element? {
        switch take() {
        case .none: return nil
        case .one(let element): return element
        case .many(var elements):
            let first = elements.isEmpty ? nil : elements.removeFirst()
            self = .many(elements)
            return first
        }
    }

    var all: [Element] {
        switch self {
        case .none: []
        case .one(let element): [element]
        case .many(let elements): elements
        }
    }

    func visit(_ body: (Element) -> Void) {
        switch self {
        case .none: break
        case .one(let element): body(element)
        case .many(let elements): for element in elements { body(element) }
        }
    }

    /// Taken out, so that an array is changed in its place.
    private mutating func take() -> Self {
        let all = self
        self = .none
        return all
    }
}
