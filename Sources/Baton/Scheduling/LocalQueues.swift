/// The open local queues of a queue's workers. All are of one priority: see ``QueueCore/State/deal(to:)``.
struct LocalQueues {
    private struct Entry {
        let localQueue: LocalQueue
        /// Where its worker was when it was looked at.
        var position: LocalQueue.Position?
    }

    private var entries: [Entry] = []
    private var looked = 0
    private(set) var level = OperationPriority.normal

    var isEmpty: Bool { entries.isEmpty }

    /// Something waits in one of them.
    var haveMore: Bool { entries.contains { $0.localQueue.hasMore } }

    var last: LocalQueue? { entries.last?.localQueue }

    mutating func append(_ localQueue: LocalQueue, of level: OperationPriority) {
        self.level = level
        entries.append(Entry(localQueue: localQueue))
    }

    mutating func remove(_ localQueue: LocalQueue) {
        guard let index = entries.firstIndex(where: { $0.localQueue === localQueue }) else { return }
        entries.swapAt(index, entries.count - 1)
        entries.removeLast()
    }

    /// Looks at one after another. Returns one whose worker is where it was the last time: its body takes long.
    mutating func findStuck() -> LocalQueue? {
        if entries.isEmpty { return nil }
        looked = (looked + 1) % entries.count
        let position = entries[looked].localQueue.position
        if position == entries[looked].position { return entries[looked].localQueue }
        entries[looked].position = position
        return nil
    }
}
