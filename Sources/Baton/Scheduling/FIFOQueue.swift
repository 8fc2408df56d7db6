/// First in, first out, in an array whose front is given back now and then.
struct FIFOQueue<Element>: WaitingLine {
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
}

/// First in, first out, in arrays of limited length: what is in it is never moved, and nothing that was taken out is
/// kept. For much that stays long; what comes and goes at once is faster in a ``FIFOQueue``.
struct ChunkedFIFOQueue<Element> {
    private static var chunkLength: Int { 1024 }

    /// What comes next, from `head` on.
    private var front: [Element?] = []
    private var head = 0
    /// Full ones, the first first.
    private var middle: [[Element?]] = []
    private var back: [Element?] = []

    var isEmpty: Bool { head == front.count && back.isEmpty }

    var count: Int { front.count - head + middle.count * Self.chunkLength + back.count }

    mutating func append(_ element: consuming Element) {
        if back.count == Self.chunkLength { beginChunk() }
        back.append(element)
    }

    mutating func popFirst() -> Element? {
        if head == front.count, !turnOver() { return nil }
        defer { head += 1 }
        return front[head].take()
    }

    @inline(never)
    private mutating func beginChunk() {
        middle.append(back)
        back = []
        back.reserveCapacity(Self.chunkLength)
    }

    /// False: there is nothing more.
    private mutating func turnOver() -> Bool {
        front.removeAll(keepingCapacity: true)
        head = 0
        if middle.isEmpty { swap(&front, &back) } else { front = middle.removeFirst() }
        return !front.isEmpty
    }
}
