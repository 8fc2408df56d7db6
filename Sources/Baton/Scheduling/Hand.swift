internal import CBaton
internal import Synchronization

/// Ready operations that a lane has taken under one lock, to run them one after another without it.
///
/// What waits in a hand still belongs to the queue: whoever holds its lock may take the rest back. So there is one word, the place
/// of the operation that the lane runs. Those before it have left the queue, those after it wait. The lane alone moves it on,
/// with a compare-exchange; everybody else closes the hand with an exchange, under the queue's lock. Whichever comes first
/// decides: a lane that finds its hand closed has not left the operation, and asks the queue.
final class Hand: Sendable {
    struct Card {
        let operation: Unmanaged<AnyOperation>
        /// In the roster. The operation may be gone when this is asked for.
        let place: UInt32
    }

    private static let closed = -1
    private static let size = 16
    /// How long an operation of a hand may take, in nanoseconds, for the lane to take several again: those behind it wait so long.
    private static let longest: Int64 = 5_000

    private let current = Atomic<Int>(closed)

    // Written by the lane, under the queue's lock and while the hand is closed; read by the lane, and under that lock.
    @exclusivity(unchecked) nonisolated(unsafe) private var cards: UnsafeMutablePointer<Card>?
    @exclusivity(unchecked) nonisolated(unsafe) private(set) var count = 0

    // The lane's own. Safe: read and written on its task alone, one step after another.
    /// How many operations it takes at once: more as long as they are short, it runs all that it takes, and nobody needs them.
    @exclusivity(unchecked) nonisolated(unsafe) private(set) var reach: Int
    /// It was opened, and the lane has not given it back.
    @exclusivity(unchecked) nonisolated(unsafe) private(set) var isOut = false
    /// The lane runs what is at the place of the hand.
    @exclusivity(unchecked) nonisolated(unsafe) private var isAtCard = false
    @exclusivity(unchecked) nonisolated(unsafe) private var areShort = true
    @exclusivity(unchecked) nonisolated(unsafe) private var opened = Int64.zero
    private let least: Int
    private let isTimed: Bool

    /// - Parameters:
    ///   - least: What ``reach`` begins with: 1, but for tests with small graphs.
    ///   - isTimed: Whether it looks at the clock.
    init(least: Int = 1, isTimed: Bool = false) {
        self.least = least
        self.isTimed = isTimed
        reach = least
    }

    deinit { cards?.deallocate() }

    // MARK: Of the lane

    /// What the lane runs has finished, came to nothing but its end, and leaves the queue with this. Returns what comes next. Nil:
    /// it has not left, and the lane has to ask.
    @inline(__always)
    func moveOn() -> Unmanaged<AnyOperation>? { isAtCard ? moveOnAtCard() : nil }

    @inline(never)
    private func moveOnAtCard() -> Unmanaged<AnyOperation>? {
        let place = current.load(ordering: .relaxed)
        guard place != Self.closed, place + 1 < count,
            current.compareExchange(
                expected: place, desired: place + 1, successOrdering: .acquiringAndReleasing,
                failureOrdering: .relaxed
            ).exchanged
        else { return nil }
        prefetch(place + 3)
        return self[place + 1].operation
    }

    /// Before the lane asks for more.
    ///
    /// - Parameter areShort: Bodies have been lately, as far as its slice has seen.
    @inline(__always)
    func look(areShort: Bool) {
        self.areShort = areShort
        if isOut, isTimed { lookAtClock() }
    }

    @inline(never)
    private func lookAtClock() {
        if baton_continuous_time() - opened > Int64(count) * Self.longest { areShort = false }
    }

    /// The lane runs something else next.
    @inline(__always)
    func turnAway() { isAtCard = false }

    /// It comes soon, and another core has touched it last.
    private func prefetch(_ place: Int) {
        if place < count { baton_prefetch(self[place].operation.toOpaque()) }
    }

    // MARK: Of the lane, under the queue's lock

    /// - Parameter isPlain: What the lane has run has come to nothing but its end.
    /// - Parameter isNeeded: The lane has not run all that was in it.
    @inline(__always)
    func giveBack(isPlain: Bool, isNeeded: Bool) {
        isOut = false
        isAtCard = false
        reach = isPlain && !isNeeded && areShort ? min(Self.size, 2 * reach) : least
    }

    @inline(__always)
    func append(_ operation: Unmanaged<AnyOperation>) {
        if cards == nil { cards = .allocate(capacity: Self.size) }
        let place = operation._withUnsafeGuaranteedRef { $0.rosterIndex }
        (cards! + count).initialize(to: Card(operation: operation, place: place))
        count += 1
    }

    /// The lane runs the first one.
    func open() {
        isOut = true
        isAtCard = true
        if isTimed { opened = baton_continuous_time() }
        current.store(0, ordering: .releasing)
        prefetch(1)
        prefetch(2)
    }

    func clear() { count = 0 }

    // MARK: Under the queue's lock

    subscript(place: Int) -> Card { cards![place] }

    /// Where the lane is. Nil if the hand is closed.
    var place: Int? {
        let place = current.load(ordering: .relaxed)
        return place == Self.closed ? nil : place
    }

    /// Something waits in it.
    var hasMore: Bool { place.map { $0 + 1 < count } ?? false }

    /// Where the lane was: what came before that has left, what comes after it waits. Nil: it was closed before.
    func close() -> Int? {
        let place = current.exchange(Self.closed, ordering: .acquiringAndReleasing)
        return place == Self.closed ? nil : place
    }
}
