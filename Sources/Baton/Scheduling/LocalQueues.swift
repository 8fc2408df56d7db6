/// The open local queues of a queue's workers. All of them hold operations of one priority; see
/// ``QueueCore/State/nextAction(refilling:)``.
struct LocalQueues {
    private struct Entry {
        let localQueue: LocalQueue
        /// The worker's position at the last look.
        var position: LocalQueue.Position?
    }

    private var entries: [Entry] = []
    private var lastChecked = 0
    private(set) var level = OperationPriority.normal

    var isEmpty: Bool { entries.isEmpty }

    /// True if an operation waits in one of the local queues.
    var haveMore: Bool { entries.contains { $0.localQueue.hasMore } }

    var last: LocalQueue? { entries.last?.localQueue }

    mutating func append(_ localQueue: LocalQueue, of level: OperationPriority) {
        assert(entries.isEmpty || self.level == level)
        self.level = level
        entries.append(Entry(localQueue: localQueue))
    }

    mutating func remove(_ localQueue: LocalQueue) {
        // The search begins at the end, because `reclaimAll()` removes the last local queue first.
        guard let index = entries.lastIndex(where: { $0.localQueue === localQueue }) else { return }
        entries.swapAt(index, entries.count - 1)
        entries.removeLast()
    }

    /// Looks at the next local queue, in rotation. Returns it if its worker has not moved since the last look, because
    /// its body takes long.
    mutating func findStuck() -> LocalQueue? {
        if entries.isEmpty { return nil }
        lastChecked = (lastChecked + 1) % entries.count
        let position = entries[lastChecked].localQueue.position
        if position == entries[lastChecked].position { return entries[lastChecked].localQueue }
        entries[lastChecked].position = position
        return nil
    }
}
