internal import Synchronization

/// An object that stands for some values, and that an ``InternTable`` makes once for all that are equal.
protocol Interned: AnyObject, Sendable {
    associatedtype Values: Equatable

    var values: Values { get }

    init(_ values: Values)

    /// The hash of the values, whose lower bits select the slot.
    static func hash(of values: Values) -> UInt64
}

/// A hash table with open addressing that maps equal values to one object. It keeps the objects until it is released
/// itself, so users of a table that lives as long as the process need not retain them.
///
/// A lookup takes no lock, because a filled slot never changes. It loads the slot with acquire ordering, and fills an
/// empty one with a compare-and-exchange that releases the new object. The exchange fails if another thread has filled
/// the slot first; it then acquires the object of that thread, and the own one is released. So all threads that find a
/// slot filled see one object, initialized.
final class InternTable<Object: Interned>: @unchecked Sendable {
    // @unchecked: the pointer is constant, the slots are atomics, and they are allocated as long as the table exists.
    private typealias Slot = Atomic<Unmanaged<Object>?>

    static var slotCount: Int { 128 }
    /// The number of slots that a lookup tries.
    private static var probes: Int { 4 }

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
    func find(_ values: Object.Values) -> Unretained<Object>? {
        let first = Object.hash(of: values)
        for probe in 0..<Self.probes {
            let slot = slots + Int((first &+ UInt64(probe)) % UInt64(Self.slotCount))
            let found = Unretained(slot.pointee.load(ordering: .acquiring) ?? fill(slot, with: values))
            if found.use({ $0.values == values }) { return found }
        }
        return nil
    }

    /// Fills an empty slot. Returns the object in it, which another thread may have stored first.
    @inline(never)
    private func fill(_ slot: UnsafeMutablePointer<Slot>, with values: Object.Values) -> Unmanaged<Object> {
        let made = Unmanaged.passRetained(Object(values))
        let (isFilled, other) = slot.pointee.compareExchange(
            expected: nil, desired: made, ordering: .acquiringAndReleasing)
        if !isFilled { made.release() }
        return other ?? made
    }
}
