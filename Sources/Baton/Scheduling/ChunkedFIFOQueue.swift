/// A first-in, first-out queue in arrays of limited length. Elements are never moved, and memory of removed elements is
/// not kept. Use it for many elements that stay long; a ``FIFOQueue`` is faster for elements that come and go quickly.
struct ChunkedFIFOQueue<Element> {
    private static var chunkLength: Int { 1024 }

    /// The chunk whose elements are removed next, from `head` on.
    private var front: [Element?] = []
    private var head = 0
    /// The full chunks, in order.
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

    /// Replaces the consumed front by the next chunk. Returns false if there are no more elements.
    private mutating func turnOver() -> Bool {
        front.removeAll(keepingCapacity: true)
        head = 0
        if middle.isEmpty { swap(&front, &back) } else { front = middle.removeFirst() }
        return !front.isEmpty
    }
}
