/// Every operation of a queue that has not finished: what `cancelAll` reaches, and what must be empty for the queue to be
/// idle. Each operation keeps its place, so that entering and leaving cost a few instructions.
struct Roster {
    /// A place holds an operation's address, or, with the lowest bit set, the next free place.
    private var places: ContiguousArray<UInt> = []
    private var firstFree: UInt?
    /// All that have ever come.
    private(set) var entered = 0
    /// All that have gone again.
    private(set) var left = 0

    @inline(__always) var count: Int { entered - left }

    mutating func reserve(_ more: Int) {
        let needed = count + more
        if needed > places.capacity { places.reserveCapacity(max(needed, 2 * places.capacity)) }
    }

    @inline(__always)
    mutating func enter(_ operation: Unmanaged<AnyOperation>) {
        entered += 1
        let word = UInt(bitPattern: operation.toOpaque())
        if let place = firstFree {
            let next = places[Int(place)] >> 1
            firstFree = next == Self.end ? nil : next
            places[Int(place)] = word
            operation._withUnsafeGuaranteedRef { $0.rosterIndex = UInt32(place) }
        } else {
            operation._withUnsafeGuaranteedRef { $0.rosterIndex = UInt32(places.count) }
            places.append(word)
        }
    }

    @inline(__always)
    mutating func leave(_ operation: AnyOperation) {
        left += 1
        let place = operation.rosterIndex
        places[Int(place)] = (firstFree ?? Self.end) << 1 | 1
        firstFree = UInt(place)
        if count == 0 { reset() }
    }

    private mutating func reset() {
        places.removeAll(keepingCapacity: places.capacity <= 4096)
        firstFree = nil
    }

    /// Retained, in no particular order.
    func members() -> [AnyOperation] {
        places.compactMap { word in
            word & 1 == 0
                ? Unmanaged<AnyOperation>.fromOpaque(UnsafeRawPointer(bitPattern: word)!).takeUnretainedValue() : nil
        }
    }

    private static let end = UInt.max >> 1
}
