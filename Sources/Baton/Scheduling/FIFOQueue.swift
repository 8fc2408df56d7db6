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
