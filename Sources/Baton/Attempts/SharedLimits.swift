internal import Synchronization

/// The retry and the time limit of operations that ask for plain numbers, which are often the same. All operations with
/// equal numbers share one object. An operation gets optional state of its own only when it fails, is cut short, or
/// needs anything else.
///
/// The process keeps the first limits that fit into the table, about a hundred, for as long as it runs, so they need no
/// reference counting. Other limits are stored in the optional state of the operation, as are limits with closures.
final class SharedLimits: Sendable {
    struct Values: Equatable {
        /// The backoff of failed attempts; nil if they are not retried.
        var backoff: Backoff.Curve?
        var maxAttempts: Int32 = 1
        /// The time limit of each attempt.
        var limit: Duration?

        /// Compares the numbers, which is several times as fast as comparing durations.
        @inline(__always)
        static func == (left: Values, right: Values) -> Bool {
            left.limit?.attoseconds == right.limit?.attoseconds && left.maxAttempts == right.maxAttempts
                && left.backoff == right.backoff
        }
    }

    let values: Values

    init(_ values: Values) { self.values = values }

    private static let table = SharedLimitsTable()

    /// Returns the object for these values, or nil if the table has no room for it.
    static func with(_ values: Values) -> Unmanaged<SharedLimits>? { table.find(values) }
}

/// A hash table with open addressing that maps equal limits to one object. A filled slot never changes, so a lookup
/// takes no lock. It loads a slot with acquire ordering and fills an empty one with a compare-and-exchange, which fails
/// if another thread has filled the slot first.
final class SharedLimitsTable: @unchecked Sendable {
    private typealias Slot = Atomic<Unmanaged<SharedLimits>?>

    static let slotCount = 128
    private static let probes = 4

    // @unchecked: the pointer is constant, the slots are atomics, and they are allocated as long as the table exists.
    private let slots = UnsafeMutablePointer<Slot>.allocate(capacity: slotCount)

    init() {
        for number in 0..<Self.slotCount { (slots + number).initialize(to: Slot(nil)) }
    }

    deinit {
        for number in 0..<Self.slotCount { slots[number].load(ordering: .relaxed)?.release() }
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
    }

    /// Returns the object for these values, which lives as long as the table, or nil if other values occupy its slots.
    @inline(__always)
    func find(_ values: SharedLimits.Values) -> Unmanaged<SharedLimits>? {
        let first = values.hash
        for probe in 0..<Self.probes {
            let slot = slots + Int((first &+ UInt64(probe)) % UInt64(Self.slotCount))
            let found = slot.pointee.load(ordering: .acquiring) ?? fill(slot, with: values)
            if found._withUnsafeGuaranteedRef({ $0.values == values }) { return found }
        }
        return nil
    }

    /// Fills an empty slot. Returns the object in it, which another thread may have stored first.
    @inline(never)
    private func fill(_ slot: UnsafeMutablePointer<Slot>, with values: SharedLimits.Values) -> Unmanaged<SharedLimits> {
        let made = Unmanaged.passRetained(SharedLimits(values))
        let (isFilled, other) = slot.pointee.compareExchange(
            expected: nil, desired: made, ordering: .acquiringAndReleasing)
        if !isFilled { made.release() }
        return other ?? made
    }
}

extension SharedLimits.Values {
    /// The multiplier is that of Fibonacci hashing: Knuth, "The Art of Computer Programming", volume 3, section 6.4.
    @inline(__always)
    fileprivate var hash: UInt64 {
        let times = (backoff?.first.attoseconds ?? 1) &+ (limit?.attoseconds ?? 1) &* 31
        let words = UInt64(truncatingIfNeeded: times) ^ UInt64(truncatingIfNeeded: maxAttempts)
        return (words &* 0x9E37_79B9_7F4A_7C15) >> 32
    }
}
