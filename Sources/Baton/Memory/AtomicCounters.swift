internal import Synchronization

/// Hands out the numbers 1, 2, 3 and so on, each once.
///
/// Relaxed: all increments of one word have one order, so no number is handed out twice, and a number publishes nothing
/// that its thread has done.
struct NumberGenerator: ~Copyable, Sendable {
    private let last = Atomic<UInt64>(0)

    @inline(__always)
    borrowing func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// Counts the holds of something whose release other threads wait for.
///
/// The last decrement has to see what all threads have done, so each decrement releases it and the last one acquires
/// it; ``isZero`` acquires it too. The increment can be relaxed: a hold begins while another one lasts, or under a lock
/// that every reader of ``isZero`` takes as well.
struct HoldCounter: ~Copyable, Sendable {
    private let word = Atomic<Int>(0)

    @inline(__always)
    borrowing func begin() { word.wrappingAdd(1, ordering: .relaxed) }

    /// Ends a hold. Returns true if it was the last one.
    @inline(__always)
    borrowing func end() -> Bool {
        let left = word.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
        assert(left >= 0, "Every hold that ends has begun.")
        return left == 0
    }

    var isZero: Bool { @inline(__always) get { word.load(ordering: .acquiring) == 0 } }
}

/// The number of changes of something, which tells a reader whether what it has read is still current.
///
/// A writer makes its change and then increments the count, which releases the change. A reader loads the count, which
/// acquires the changes counted so far, and then reads. So a reader that finds the same count again has seen every
/// change that was counted before, and a reader that has missed a change finds another count later.
struct VersionCounter: ~Copyable, Sendable {
    private let word = Atomic<UInt64>(0)

    /// The number of changes so far. Load it before reading.
    var current: UInt64 { word.load(ordering: .acquiring) }

    /// Counts a change, which has been made.
    borrowing func advance() { word.add(1, ordering: .releasing) }
}

/// The largest of the numbers that threads have stored. Relaxed: the number publishes nothing else, and never
/// decreases.
struct AtomicMaximum: ~Copyable, Sendable {
    private let word: Atomic<UInt8>

    init(_ value: UInt8) { word = Atomic(value) }

    var value: UInt8 { word.load(ordering: .relaxed) }

    /// Returns true if the maximum has grown. If several threads store the same number, it returns true to one of them.
    borrowing func raise(to value: UInt8) -> Bool {
        let (former, now) = word.max(value, ordering: .relaxed)
        return former != now
    }
}
