/// One value for each of the five priorities, in place.
struct PerPriority<Value> {
    private var veryLow: Value
    private var low: Value
    private var normal: Value
    private var high: Value
    private var veryHigh: Value

    init(_ make: () -> Value) {
        veryLow = make()
        low = make()
        normal = make()
        high = make()
        veryHigh = make()
    }

    subscript(priority: OperationPriority) -> Value {
        @inline(__always) get {
            switch priority {
            case .veryLow: veryLow
            case .low: low
            case .normal: normal
            case .high: high
            case .veryHigh: veryHigh
            }
        }
        @inline(__always) _modify {
            switch priority {
            case .veryLow: yield &veryLow
            case .low: yield &low
            case .normal: yield &normal
            case .high: yield &high
            case .veryHigh: yield &veryHigh
            }
        }
    }
}

/// A set of priorities in one byte.
struct PrioritySet {
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

    init() {}

    private init(bits: UInt8) { self.bits = bits }
}
