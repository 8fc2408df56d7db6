internal import CBaton
internal import Synchronization

/// What a worker does without the queue's lock: run ready operations that it has taken under it, one after another, and
/// let those leave that have ended.
///
/// What waits in a local queue still belongs to the queue: whoever holds its lock may take it back. So there is one
/// word, how many have left by the local queue, and which one comes next. The worker alone moves it on, with a
/// compare-exchange; everybody else closes the local queue with an exchange, under the queue's lock. Whichever comes
/// first decides: a worker that finds its local queue closed has not left the operation, and asks the queue.
final class LocalQueue: Sendable {
    struct Position: Equatable {
        fileprivate static let closed: UInt32 = .max
        fileprivate let word: UInt32

        fileprivate init?(word: UInt32) {
            if word == Self.closed { return nil }
            self.word = word
        }

        fileprivate init(left: Int, next: Int) { word = UInt32(left) | UInt32(next) << 16 }

        /// So many have left.
        var left: Int { Int(word & 0xFFFF) }
        /// The first that waits.
        var next: Int { Int(word >> 16) }
    }

    private static let size = 16
    /// How long an operation of a local queue may take, in nanoseconds, for the worker to take several again: those
    /// behind it wait so long.
    private static let longest: Int64 = 5_000

    private let word = Atomic<UInt32>(Position.closed)

    // Two rows in cache lines of their own: what stands beside them may belong to another worker. Safe: `waiting` and
    // `count` are written by the worker, under the queue's lock and while the local queue is closed; read by the
    // worker, and under that lock. Of `left` the worker writes a place before it moves the word past it, and others
    // read those that are before the word.
    nonisolated(unsafe) private let rows: UnsafeMutableRawPointer
    nonisolated(unsafe) private let waiting: UnsafeMutablePointer<Unmanaged<AnyOperation>>
    @exclusivity(unchecked) nonisolated(unsafe) private(set) var count = 0
    nonisolated(unsafe) private let left: UnsafeMutablePointer<UInt32>

    // The worker's own. Safe: read and written on its task alone, one step after another.
    /// How many operations it takes at once: more as long as they are short, it runs all that it takes, and nobody
    /// needs them.
    @exclusivity(unchecked) nonisolated(unsafe) private(set) var reach: Int
    /// It was opened, and the worker has not given it back.
    @exclusivity(unchecked) nonisolated(unsafe) private(set) var isOut = false
    @exclusivity(unchecked) nonisolated(unsafe) private var areShort = true
    @exclusivity(unchecked) nonisolated(unsafe) private var opened = Int64.zero
    /// How many the worker has begun since then.
    @exclusivity(unchecked) nonisolated(unsafe) private var begun = Int64.zero
    private let least: Int
    private let isTimed: Bool

    /// - Parameters:
    ///   - least: What ``reach`` begins with: 1, but for tests with small graphs.
    ///   - isTimed: Whether it looks at the clock.
    init(least: Int = 1, isTimed: Bool = false) {
        self.least = least
        self.isTimed = isTimed
        reach = least
        let waitingBytes = Self.size * MemoryLayout<Unmanaged<AnyOperation>>.stride
        rows = .allocate(byteCount: waitingBytes + Self.size * MemoryLayout<UInt32>.stride, alignment: 64)
        waiting = rows.bindMemory(to: Unmanaged<AnyOperation>.self, capacity: Self.size)
        left = (rows + waitingBytes).bindMemory(to: UInt32.self, capacity: Self.size)
    }

    deinit { rows.deallocate() }

    // MARK: Of the worker

    /// What the worker runs has finished, and leaves the queue with this. Returns what comes next. Nil: it has not
    /// left, and the worker has to ask.
    @inline(__always)
    func moveOn(after operation: Unmanaged<AnyOperation>) -> Unmanaged<AnyOperation>? {
        isOut ? moveOnToNext(after: operation) : nil
    }

    @inline(never)
    private func moveOnToNext(after operation: Unmanaged<AnyOperation>) -> Unmanaged<AnyOperation>? {
        guard let position, position.next < count, leave(operation, position, next: position.next + 1)
        else { return nil }
        return waiting[position.next]
    }

    /// As above, but the worker goes on with something else.
    @inline(__always)
    func leave(_ operation: Unmanaged<AnyOperation>) -> Bool {
        guard isOut, let position else { return false }
        return leave(operation, position, next: position.next)
    }

    @inline(__always)
    private func leave(_ operation: Unmanaged<AnyOperation>, _ position: Position, next: Int) -> Bool {
        if position.left == Self.size { return false }
        left[position.left] = operation._withUnsafeGuaranteedRef { $0.registryIndex }
        begun += 1
        return word.compareExchange(
            expected: position.word, desired: Position(left: position.left + 1, next: next).word,
            successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed
        ).exchanged
    }

    /// Before the worker asks for more.
    ///
    /// - Parameter areShort: Bodies have been lately, as far as its slice has seen.
    @inline(__always)
    func look(areShort: Bool) {
        self.areShort = areShort
        if isOut, isTimed { lookAtClock() }
    }

    @inline(never)
    private func lookAtClock() {
        if baton_continuous_time() - opened > begun * Self.longest { areShort = false }
    }

    // MARK: Of the worker, under the queue's lock

    /// - Parameter isPlain: What the worker has run has come to nothing but its end.
    /// - Parameter isNeeded: The worker has not run all that was in it.
    @inline(__always)
    func giveBack(isPlain: Bool, isNeeded: Bool) {
        isOut = false
        reach = isPlain && !isNeeded && areShort ? min(Self.size, 2 * reach) : least
    }

    @inline(__always)
    func append(_ operation: Unmanaged<AnyOperation>) {
        waiting[count] = operation
        // It comes soon, and another core has touched it last.
        baton_prefetch(operation.toOpaque())
        count += 1
    }

    /// The worker runs something, and what is in the local queue comes after it.
    func open() {
        isOut = true
        begun = 1
        if isTimed { opened = baton_continuous_time() }
        word.store(Position(left: 0, next: 0).word, ordering: .releasing)
    }

    /// Those that have left are counted.
    func goOn(from position: Position) {
        word.store(Position(left: 0, next: position.next).word, ordering: .releasing)
    }

    func clear() { count = 0 }

    // MARK: Under the queue's lock

    subscript(place: Int) -> Unmanaged<AnyOperation> { waiting[place] }

    /// In the registry, of those that have left. They may be gone.
    func placesLeft(at position: Position) -> UnsafeBufferPointer<UInt32> {
        UnsafeBufferPointer(start: left, count: position.left)
    }

    /// Where the worker is. Nil if the local queue is closed.
    var position: Position? { Position(word: word.load(ordering: .relaxed)) }

    /// Something waits in it.
    var hasMore: Bool { position.map { $0.next < count } ?? false }

    /// Where the worker was. Nil: it was closed before.
    func close() -> Position? { Position(word: word.exchange(Position.closed, ordering: .acquiringAndReleasing)) }
}

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
