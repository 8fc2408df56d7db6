/// The unfinished operations of a queue: those that `cancelAll` reaches, and that must be gone before the queue is
/// idle. An operation keeps its place, so an insertion and a removal take a few instructions. Copies of a registry
/// share their places, so there must be only one.
struct OperationRegistry {
    private final class Memory {
        let places: UnsafeMutableBufferPointer<UInt>

        init(capacity: Int) { places = .allocate(capacity: capacity) }

        deinit { places.deallocate() }
    }

    /// The number of operations that have ever been inserted.
    private(set) var insertedCount = 0
    /// The number of operations that have been removed.
    private(set) var removedCount = 0
    private var firstFree = Self.end
    /// The places, which belong to `memory`. A place holds the address of an operation, or, with the lowest bit set,
    /// the index of the next free place. The pointer is copied here because it saves an indirection, and the check for
    /// unique references that an array would make. Safe: only places below `used` are read; they have been initialized,
    /// and live as long as `memory`.
    private var places = UnsafeMutableBufferPointer<UInt>(start: nil, count: 0)
    /// The number of places that have ever held an operation since the last reset.
    private var used = 0
    private var memory: Memory?

    @inline(__always) var count: Int { insertedCount - removedCount }

    mutating func reserve(_ more: Int) {
        let needed = count + more
        if needed > places.count { grow(to: max(needed, 2 * places.count)) }
    }

    @inline(__always)
    mutating func insert(_ operation: Unmanaged<AnyOperation>) {
        insertedCount += 1
        let place: UInt
        if firstFree != Self.end {
            place = firstFree
            firstFree = places[Int(place)] >> 1
        } else {
            if used == places.count { grow(to: max(16, 2 * used)) }
            place = UInt(used)
            used += 1
        }
        places[Int(place)] = UInt(bitPattern: operation.toOpaque())
        operation._withUnsafeGuaranteedRef { $0.registryIndex = UInt32(place) }
    }

    @inline(__always)
    mutating func remove(_ operation: AnyOperation) { remove(at: operation.registryIndex) }

    @inline(__always)
    mutating func remove(at place: UInt32) {
        assert(place < used && places[Int(place)] & 1 == 0)
        removedCount += 1
        let place = UInt(place)
        places[Int(place)] = firstFree << 1 | 1
        firstFree = place
        if count == 0 { reset() }
    }

    private mutating func reset() {
        used = 0
        firstFree = Self.end
        if places.count > 4096 { use(nil) }
    }

    @inline(never)
    private mutating func grow(to capacity: Int) {
        let larger = Memory(capacity: capacity)
        _ = larger.places.initialize(fromContentsOf: places[..<used])
        use(larger)
    }

    private mutating func use(_ memory: Memory?) {
        self.memory = memory
        places = memory?.places ?? UnsafeMutableBufferPointer(start: nil, count: 0)
    }

    /// The place and the address of an operation that is not retained.
    struct Entry {
        fileprivate let place: UInt32
        fileprivate let address: UInt

        /// Makes an entry. Called by the thread that has inserted the operation.
        init(of operation: AnyOperation) {
            place = operation.registryIndex
            address = UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque())
        }
    }

    /// Returns the operation at `entry`, or another one that has reused its place and its address. Returns nil if there
    /// is none.
    func member(at entry: Entry) -> AnyOperation? {
        guard entry.place < used, places[Int(entry.place)] == entry.address else { return nil }
        return Unmanaged<AnyOperation>.fromOpaque(UnsafeRawPointer(bitPattern: entry.address)!).takeUnretainedValue()
    }

    /// Returns all operations, retained, in no particular order.
    ///
    /// - Complexity: O(n) for n places.
    func members() -> [AnyOperation] {
        places[..<used].compactMap { word in
            word & 1 == 0
                ? Unmanaged<AnyOperation>.fromOpaque(UnsafeRawPointer(bitPattern: word)!).takeUnretainedValue() : nil
        }
    }

    /// Returns the operations that occupy `places` now, each once, retained.
    ///
    /// - Complexity: O(n log n) for n places.
    func members(at places: [UInt32]) -> [AnyOperation] {
        var last: UInt32?
        return places.sorted().compactMap { place in
            defer { last = place }
            guard place != last, place < used, self.places[Int(place)] & 1 == 0 else { return nil }
            let address = UnsafeRawPointer(bitPattern: self.places[Int(place)])!
            return Unmanaged<AnyOperation>.fromOpaque(address).takeUnretainedValue()
        }
    }

    private static let end = UInt.max >> 1
}
