/// A binary heap, whose first element is the smallest.
struct BinaryHeap<Element: Comparable> {
    private var elements: [Element] = []

    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var place = elements.count - 1
        while place > 0, elements[place] < elements[(place - 1) / 2] {
            elements.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func popFirst() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let first = elements.first else { return last }
        elements[0] = last
        var place = 0
        while true {
            let left = 2 * place + 1
            guard left < elements.count else { return first }
            let right = left + 1
            let least = right < elements.count && elements[right] < elements[left] ? right : left
            if elements[place] <= elements[least] { return first }
            elements.swapAt(place, least)
            place = least
        }
    }
}
