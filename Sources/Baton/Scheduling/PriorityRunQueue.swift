/// A first-in, first-out queue.
protocol FIFOQueueProtocol {
    associatedtype Element

    init()
    var isEmpty: Bool { get }
    mutating func append(_ element: Element)
    mutating func popFirst() -> Element?
}

/// One first-in, first-out queue for each of the five priorities, and the set of those that are not empty.
struct PriorityRunQueue<Queue: FIFOQueueProtocol> {
    private(set) var filled = PriorityMask()
    private var queues = (Queue(), Queue(), Queue(), Queue(), Queue())

    var isEmpty: Bool { filled.isEmpty }

    @inline(__always)
    mutating func append(_ element: Queue.Element, at priority: OperationPriority) {
        change(priority) { $0.append(element) }
        filled.insert(priority)
    }

    @inline(__always)
    mutating func popFirst(at priority: OperationPriority) -> Queue.Element? {
        let (first, isEmpty) = change(priority) { ($0.popFirst(), $0.isEmpty) }
        if isEmpty { filled.remove(priority) }
        return first
    }

    mutating func prepend(_ operation: Unmanaged<AnyOperation>, at priority: OperationPriority)
    where Queue == IntrusiveList {
        change(priority) { $0.prepend(operation) }
        filled.insert(priority)
    }

    /// Takes all operations of another queue, in order, and puts them before or behind its own.
    mutating func take(_ batch: PriorityRunQueue<IntrusiveList>, first: Bool) where Queue == IntrusiveList {
        var left = batch.filled
        while let priority = left.highest {
            left.remove(priority)
            let queue = batch.queue(at: priority)
            change(priority) { first ? $0.prepend(contentsOf: queue) : $0.append(contentsOf: queue) }
            filled.insert(priority)
        }
    }

    private func queue(at priority: OperationPriority) -> Queue {
        switch priority {
        case .veryLow: queues.0
        case .low: queues.1
        case .normal: queues.2
        case .high: queues.3
        case .veryHigh: queues.4
        }
    }

    /// Removes an operation, which must be in the queue of this priority.
    mutating func remove(_ operation: Unmanaged<AnyOperation>, at priority: OperationPriority)
    where Queue == IntrusiveList {
        let isEmpty = change(priority) { queue in
            queue.remove(operation)
            return queue.isEmpty
        }
        if isEmpty { filled.remove(priority) }
    }

    /// Selects the queue by index, because a `switch` takes several times as long. Safe: a tuple of elements of one
    /// type is laid out as an array, and the raw values of the priorities are 0 to 4.
    @inline(__always)
    private mutating func change<Result>(_ priority: OperationPriority, _ body: (inout Queue) -> Result) -> Result {
        withUnsafeMutablePointer(to: &queues) { queues in
            queues.withMemoryRebound(to: Queue.self, capacity: 5) { body(&$0[Int(priority.rawValue)]) }
        }
    }
}

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
