/// A first-in, first-out queue.
protocol FIFOQueueProtocol {
    associatedtype Element

    init()
    var isEmpty: Bool { get }
    mutating func append(_ element: Element)
    mutating func popFirst() -> Element?
}

/// A first-in, first-out queue in one array, which removes its consumed front from time to time. It releases each
/// element as soon as the caller has popped it.
struct FIFOQueue<Element>: FIFOQueueProtocol {
    private var elements: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    var count: Int { elements.count - head }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        if isEmpty { return nil }
        let first = elements[head].take()
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
