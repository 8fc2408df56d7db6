/// The children of a group, or the operations of an iteration, that have not ended, in the order in which they were
/// appended. The memory is proportional to the number of unfinished operations.
struct UnfinishedOperations<Operation> {
    /// The entries in the order of their places. An entry is empty once its operation has ended, and is removed later.
    private var entries: [(place: Int, operation: Operation?)] = []
    private var givenCount = 0
    /// The number of operations that have not ended.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var endedCount: Int { givenCount - count }

    /// The number of entries, for tests.
    var entryCount: Int { entries.count }

    var all: [Operation] { entries.compactMap(\.operation) }

    /// Returns the operations that were appended after the one with this place, in that order.
    func all(after place: Int) -> [Operation] { entries[index(of: place + 1)...].compactMap(\.operation) }

    /// Returns up to `limit` operations, the latest first. Searches from the end, because the first operations usually
    /// end first.
    func latest(_ limit: Int) -> [Operation] { Array(entries.lazy.reversed().compactMap(\.operation).prefix(limit)) }

    /// Appends an operation, and returns its place: the number of operations that were appended before it.
    mutating func append(_ operation: Operation) -> Int {
        let place = givenCount
        entries.append((place, operation))
        givenCount += 1
        count += 1
        return place
    }

    /// Removes an operation that has ended, and returns it. Returns nil if it was removed before.
    ///
    /// - Complexity: O(log *n*) amortized, where *n* is the number of operations that have not ended.
    @discardableResult
    mutating func remove(_ place: Int) -> Operation? {
        let index = index(of: place)
        guard index < entries.count, entries[index].place == place, let operation = entries[index].operation.take()
        else { return nil }
        count -= 1
        while let last = entries.last, last.operation == nil { entries.removeLast() }
        // At most about half of the entries are empty, so a search for operations does not pass many empty ones.
        if entries.count > 2 * count + 16 { entries.removeAll { $0.operation == nil } }
        return operation
    }

    /// Returns the index of the first entry whose place is not lower than `place`.
    private func index(of place: Int) -> Int {
        var (low, high) = (0, entries.count)
        // As long as no entry has been removed, the place is the index.
        if place < high, entries[place].place == place { return place }
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].place < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
