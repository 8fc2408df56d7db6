import BatonTesting

/// A source of random choices that depend only on a seed.
struct SeededRandom {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    mutating func isLucky(percent: Int) -> Bool { number(1...100) <= percent }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0...elements.count - 1)] }

    mutating func shuffled<Element>(_ elements: [Element]) -> [Element] { elements.shuffled(using: &generator) }

    /// Returns `count` random elements, among which an element may occur twice, or none if `elements` is empty.
    mutating func some<Element>(_ count: Int, of elements: [Element]) -> [Element] {
        elements.isEmpty ? [] : (0..<count).map { _ in pick(elements) }
    }
}
