internal import CBaton
internal import Synchronization

/// The part of a queue that a worker uses without the queue's lock: ready operations that it has taken under one lock
/// and runs one after another, and a record of the operations that it has removed from the queue.
///
/// Operations in a local queue still belong to the queue: a thread that holds the queue's lock may take them back.
/// Therefore one atomic word packs two indices: how many operations are removed, and which one runs next. Only the
/// worker advances the word, with a compare-exchange. Any thread closes the local queue, with an exchange and under the
/// queue's lock. The modification order of the word decides a race: if the worker finds its local queue closed, its
/// operation is not removed, and the worker asks the queue.
final class LocalQueue: Sendable {
    struct Position: Equatable {
        fileprivate static let closed: UInt32 = .max
        fileprivate let word: UInt32

        fileprivate init?(word: UInt32) {
            if word == Self.closed { return nil }
            self.word = word
        }

        fileprivate init(removedCount: Int, next: Int) { word = UInt32(removedCount) | UInt32(next) << 16 }

        /// The number of operations that the worker has removed from the queue.
        var removedCount: Int { Int(word & 0xFFFF) }
        /// The index of the first operation that waits.
        var next: Int { Int(word >> 16) }
    }

    private static let size = 16
    /// The average time that an operation of a local queue may take, in nanoseconds, if the worker is to take several
    /// again. The operations behind it wait as long.
    private static let maxAverageDuration: Int64 = 5_000

    private let word = Atomic<UInt32>(Position.closed)

    // Two arrays in one allocation, aligned to a cache line, because the memory beside them may belong to another
    // worker. Safe: the worker writes `waiting` and `count` under the queue's lock while the local queue is closed; the
    // worker reads them, and other threads read them under that lock. The worker writes an element of `removed` before
    // it moves the word past it, and other threads read only elements below the word that `close()` returned. The
    // exchange in `close()` acquires what the worker's compare-exchange has released.
    nonisolated(unsafe) private let storage: UnsafeMutableRawPointer
    nonisolated(unsafe) private let waiting: UnsafeMutablePointer<Unmanaged<AnyOperation>>
    @exclusivity(unchecked) nonisolated(unsafe) private(set) var count = 0
    nonisolated(unsafe) private let removed: UnsafeMutablePointer<UInt32>

    // The fields below belong to the worker. Safe: they are accessed on its task alone, one access after another.
    /// The number of operations that the worker takes at once. It doubles while the bodies are short, the worker runs
    /// everything that it takes, and nobody else needs these operations.
    @exclusivity(unchecked) nonisolated(unsafe) private(set) var batchLimit: Int
    /// True from the opening of the local queue until the worker ends its batch, even if another thread has closed the
    /// local queue in between.
    @exclusivity(unchecked) nonisolated(unsafe) private(set) var isInUse = false
    @exclusivity(unchecked) nonisolated(unsafe) private var bodiesAreShort = true
    @exclusivity(unchecked) nonisolated(unsafe) private var opened = Int64.zero
    /// The number of operations that the worker has begun since `opened`.
    @exclusivity(unchecked) nonisolated(unsafe) private var begun = Int64.zero
    private let initialBatchLimit: Int
    private let isTimed: Bool

    /// Makes the closed local queue of a new worker.
    ///
    /// - Parameters:
    ///   - initialBatchLimit: The initial and least value of ``batchLimit``. It is 1, except in tests with small
    ///     graphs.
    ///   - isTimed: True if the worker reads the clock to find out whether its bodies are short.
    init(initialBatchLimit: Int = 1, isTimed: Bool = false) {
        self.initialBatchLimit = initialBatchLimit
        self.isTimed = isTimed
        batchLimit = initialBatchLimit
        let waitingBytes = Self.size * MemoryLayout<Unmanaged<AnyOperation>>.stride
        storage = .allocate(byteCount: waitingBytes + Self.size * MemoryLayout<UInt32>.stride, alignment: 64)
        waiting = storage.bindMemory(to: Unmanaged<AnyOperation>.self, capacity: Self.size)
        removed = (storage + waitingBytes).bindMemory(to: UInt32.self, capacity: Self.size)
    }

    deinit { storage.deallocate() }

    // MARK: Called by the worker

    /// Removes `operation`, which the worker has finished, from the queue.
    ///
    /// - Returns: The next operation of the local queue. Nil if `operation` was not removed, so that the worker has to
    ///   ask the queue.
    @inline(__always)
    func popNext(afterRemoving operation: Unmanaged<AnyOperation>) -> Unmanaged<AnyOperation>? {
        isInUse ? popNextInUse(afterRemoving: operation) : nil
    }

    @inline(never)
    private func popNextInUse(afterRemoving operation: Unmanaged<AnyOperation>) -> Unmanaged<AnyOperation>? {
        guard let position, position.next < count, remove(operation, position, next: position.next + 1)
        else { return nil }
        return waiting[position.next]
    }

    /// Removes `operation` from the queue, if the worker continues with an operation that is not from the local queue.
    ///
    /// - Returns: False if `operation` was not removed.
    @inline(__always)
    func remove(_ operation: Unmanaged<AnyOperation>) -> Bool {
        guard isInUse, let position else { return false }
        return remove(operation, position, next: position.next)
    }

    @inline(__always)
    private func remove(_ operation: Unmanaged<AnyOperation>, _ position: Position, next: Int) -> Bool {
        if position.removedCount == Self.size { return false }
        removed[position.removedCount] = operation._withUnsafeGuaranteedRef { $0.registryIndex }
        begun += 1
        return word.compareExchange(
            expected: position.word, desired: Position(removedCount: position.removedCount + 1, next: next).word,
            successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed
        ).exchanged
    }

    /// Checks whether the bodies of the local queue were short. Called before the worker asks for more.
    ///
    /// - Parameter bodiesAreShort: False if the worker's time slice has seen long bodies.
    @inline(__always)
    func sampleClock(bodiesAreShort: Bool) {
        self.bodiesAreShort = bodiesAreShort
        if isInUse, isTimed { checkAverageDuration() }
    }

    @inline(never)
    private func checkAverageDuration() {
        if baton_continuous_time() - opened > begun * Self.maxAverageDuration { bodiesAreShort = false }
    }

    // MARK: Called by the worker, under the queue's lock

    /// Ends the batch that the worker has taken, and computes how many operations the worker takes next time.
    ///
    /// - Parameters:
    ///   - isPlain: True if the worker's last operation needs no clean-up besides removing it from the registry.
    ///   - isNeeded: True if operations were left in the local queue, or another thread had closed it.
    @inline(__always)
    func endBatch(isPlain: Bool, isNeeded: Bool) {
        isInUse = false
        batchLimit = isPlain && !isNeeded && bodiesAreShort ? min(Self.size, 2 * batchLimit) : initialBatchLimit
    }

    @inline(__always)
    func append(_ operation: Unmanaged<AnyOperation>) {
        assert(position == nil && count < Self.size)
        waiting[count] = operation
        // The worker runs the operation soon, and another core has touched it last.
        baton_prefetch(operation.toOpaque())
        count += 1
    }

    /// Opens the local queue. The worker runs an operation that is not in it, and then those that are in it.
    func open() {
        assert(position == nil)
        isInUse = true
        begun = 1
        if isTimed { opened = baton_continuous_time() }
        word.store(Position(removedCount: 0, next: 0).word, ordering: .releasing)
    }

    /// Opens the local queue again, after the removed operations were removed from the registry as well.
    func reopen(at position: Position) {
        assert(self.position == nil)
        word.store(Position(removedCount: 0, next: position.next).word, ordering: .releasing)
    }

    func clear() {
        assert(position == nil)
        count = 0
    }

    // MARK: Called by any thread, under the queue's lock

    subscript(place: Int) -> Unmanaged<AnyOperation> { waiting[place] }

    /// The registry places of the operations that the worker has removed. The operations themselves may have been
    /// freed.
    func removedPlaces(at position: Position) -> UnsafeBufferPointer<UInt32> {
        UnsafeBufferPointer(start: removed, count: position.removedCount)
    }

    /// The worker's position, or nil if the local queue is closed.
    var position: Position? { Position(word: word.load(ordering: .relaxed)) }

    /// True if the local queue is open and an operation waits in it.
    var hasMore: Bool { position.map { $0.next < count } ?? false }

    /// Closes the local queue. Returns the worker's last position, or nil if the local queue was closed before.
    func close() -> Position? { Position(word: word.exchange(Position.closed, ordering: .acquiringAndReleasing)) }
}
