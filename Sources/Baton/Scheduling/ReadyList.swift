/// First in, first out, linked through the operations themselves, so that nothing is allocated. The list does not retain:
/// an added operation is kept alive by its queue.
struct ReadyList {
    private var head: Unmanaged<AnyOperation>?
    private var tail: Unmanaged<AnyOperation>?

    @inline(__always) var isEmpty: Bool { head == nil }

    /// The others follow by their links.
    var first: Unmanaged<AnyOperation>? { head }

    @inline(__always)
    mutating func append(_ operation: Unmanaged<AnyOperation>) {
        operation._withUnsafeGuaranteedRef { $0.link = nil }
        if let tail { tail._withUnsafeGuaranteedRef { $0.link = operation } } else { head = operation }
        tail = operation
    }

    @inline(__always)
    mutating func popFirst() -> Unmanaged<AnyOperation>? {
        guard let first = head else { return nil }
        head = first._withUnsafeGuaranteedRef { $0.link }
        if head == nil { tail = nil }
        return first
    }
}

/// First in, first out, in an array whose front is given back now and then.
struct Fifo<Element> {
    private var elements: [Element] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    var count: Int { elements.count - head }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        if isEmpty { return nil }
        let first = elements[head]
        head += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: elements.capacity <= 1024)
            head = 0
        } else if head >= 1024, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return first
    }

    /// All, the first first.
    mutating func takeAll() -> [Element] {
        defer { self = Self() }
        return head == 0 ? elements : Array(elements[head...])
    }
}
