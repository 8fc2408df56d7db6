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
