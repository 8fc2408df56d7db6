/// The open hands of a queue's lanes. All are of one priority: see ``QueueCore/State/deal(to:)``.
struct Hands {
    private struct Entry {
        let hand: Hand
        /// Where its lane was when it was looked at.
        var position: Hand.Position?
    }

    private var entries: [Entry] = []
    private var looked = 0
    private(set) var level = OperationPriority.normal

    var isEmpty: Bool { entries.isEmpty }

    /// Something waits in one of them.
    var haveMore: Bool { entries.contains { $0.hand.hasMore } }

    var last: Hand? { entries.last?.hand }

    mutating func append(_ hand: Hand, of level: OperationPriority) {
        self.level = level
        entries.append(Entry(hand: hand))
    }

    mutating func remove(_ hand: Hand) {
        guard let index = entries.firstIndex(where: { $0.hand === hand }) else { return }
        entries.swapAt(index, entries.count - 1)
        entries.removeLast()
    }

    /// Looks at one after another. Returns one whose lane is where it was the last time: its body takes long.
    mutating func findStuck() -> Hand? {
        if entries.isEmpty { return nil }
        looked = (looked + 1) % entries.count
        let position = entries[looked].hand.position
        if position == entries[looked].position { return entries[looked].hand }
        entries[looked].position = position
        return nil
    }
}
