internal import Synchronization

/// A retry and a time limit as most operations that have any ask for them: plain numbers, and the same for many. All
/// that ask for the same have this one object. Only one that fails, is cut short or has anything else gets optional
/// state of its own.
///
/// The first hundred or so that a program asks for are kept for as long as it runs, so nobody has to count who has
/// them; what comes after them is part of the operation's optionalState, as what has closures is.
final class SharedLimits: Sendable {
    struct Values: Equatable {
        /// Nil: what fails is not tried again.
        var backoff: Backoff.Plain?
        var maxAttempts: Int32 = 1
        /// Of each attempt.
        var limit: Duration?

        /// By the numbers: several times as fast as comparing durations.
        @inline(__always)
        static func == (left: Values, right: Values) -> Bool {
            left.limit?.attoseconds == right.limit?.attoseconds && left.maxAttempts == right.maxAttempts
                && left.backoff == right.backoff
        }
    }

    let values: Values

    init(_ values: Values) { self.values = values }

    private static let table = SharedLimitsTable()

    /// Nil: there are too many others.
    static func with(_ values: Values) -> Unmanaged<SharedLimits>? { table.find(values) }
}

/// Finds the one object for equal limits, by open addressing. A slot that is filled stays as it is, so looking needs no
/// lock: all that can happen is that somebody else fills a slot first.
final class SharedLimitsTable: @unchecked Sendable {
    private typealias Slot = Atomic<Unmanaged<SharedLimits>?>

    static let slotCount = 128
    private static let probes = 4

    // @unchecked: atomics that are there as long as the table.
    private let slots = UnsafeMutablePointer<Slot>.allocate(capacity: slotCount)

    init() {
        for number in 0..<Self.slotCount { (slots + number).initialize(to: Slot(nil)) }
    }

    deinit {
        for number in 0..<Self.slotCount { slots[number].load(ordering: .relaxed)?.release() }
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
    }

    /// Nil: its slots are taken by others. What is found lives as long as the table.
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

    /// Returns what is there then.
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
