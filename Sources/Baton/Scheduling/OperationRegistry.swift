/// Every operation of a queue that has not finished: what `cancelAll` reaches, and what must be empty for the queue to
/// be idle. Each operation keeps its place, so that entering and leaving cost a few instructions. A copy would share
/// the places.
struct OperationRegistry {
    private final class Memory {
        let places: UnsafeMutableBufferPointer<UInt>

        init(capacity: Int) { places = .allocate(capacity: capacity) }

        deinit { places.deallocate() }
    }

    /// All that have ever come.
    private(set) var entered = 0
    /// All that have gone again.
    private(set) var left = 0
    private var firstFree = Self.end
    /// A place holds an operation's address, or, with the lowest bit set, the next free place. Those of `memory`, at
    /// hand without a look at it, and without the look that an array takes at who else has it. Safe: only those below
    /// `used` are read, which have been written, and they live as long as `memory`.
    private var places = UnsafeMutableBufferPointer<UInt>(start: nil, count: 0)
    /// The others have never held anything.
    private var used = 0
    private var memory: Memory?

    @inline(__always) var count: Int { entered - left }

    mutating func reserve(_ more: Int) {
        let needed = count + more
        if needed > places.count { grow(to: max(needed, 2 * places.count)) }
    }

    @inline(__always)
    mutating func enter(_ operation: Unmanaged<AnyOperation>) {
        entered += 1
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
    mutating func leave(_ operation: AnyOperation) { leave(place: operation.registryIndex) }

    @inline(__always)
    mutating func leave(place: UInt32) {
        left += 1
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

    /// Where an operation was entered, for whoever does not keep it.
    struct Entry {
        fileprivate let place: UInt32
        fileprivate let address: UInt

        /// To be made by the thread that has entered it.
        init(of operation: AnyOperation) {
            place = operation.registryIndex
            address = UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque())
        }
    }

    /// The operation, or another one that has its place and its address after it. Nil: it has left.
    func member(at entry: Entry) -> AnyOperation? {
        guard entry.place < used, places[Int(entry.place)] == entry.address else { return nil }
        return Unmanaged<AnyOperation>.fromOpaque(UnsafeRawPointer(bitPattern: entry.address)!).takeUnretainedValue()
    }

    /// Retained, in no particular order.
    func members() -> [AnyOperation] {
        places[..<used].compactMap { word in
            word & 1 == 0
                ? Unmanaged<AnyOperation>.fromOpaque(UnsafeRawPointer(bitPattern: word)!).takeUnretainedValue() : nil
        }
    }

    /// Retained: those that are at these places now, each once.
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
