/// A set of priorities in one byte.
struct PriorityMask {
    private(set) var bits: UInt8 = 0

    var isEmpty: Bool { bits == 0 }

    @inline(__always)
    var highest: OperationPriority? {
        OperationPriority(rawValue: UInt8(truncatingIfNeeded: 7 - bits.leadingZeroBitCount))
    }

    @inline(__always)
    func contains(_ priority: OperationPriority) -> Bool { bits & (1 << priority.rawValue) != 0 }

    @inline(__always)
    mutating func insert(_ priority: OperationPriority) { bits |= 1 << priority.rawValue }

    @inline(__always)
    mutating func remove(_ priority: OperationPriority) { bits &= ~(1 << priority.rawValue) }

    @inline(__always)
    func union(_ other: Self) -> Self { Self(bits: bits | other.bits) }

    @inline(__always)
    func isDisjoint(with other: Self) -> Bool { bits & other.bits == 0 }

    init() {}

    private init(bits: UInt8) { self.bits = bits }
}
