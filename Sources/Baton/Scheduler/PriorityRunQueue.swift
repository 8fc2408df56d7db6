/// One first-in, first-out queue for each of the five priorities, and the set of those that are not empty.
struct PriorityRunQueue<Queue: FIFOQueueProtocol> {
    private(set) var filled = PriorityMask()
    private var queues = PriorityMap(repeating: Queue())

    var isEmpty: Bool { filled.isEmpty }

    @inline(__always)
    mutating func append(_ element: Queue.Element, at priority: OperationPriority) {
        queues.change(priority) { $0.append(element) }
        filled.insert(priority)
    }

    @inline(__always)
    mutating func popFirst(at priority: OperationPriority) -> Queue.Element? {
        let (first, isEmpty) = queues.change(priority) { ($0.popFirst(), $0.isEmpty) }
        if isEmpty { filled.remove(priority) }
        return first
    }

    mutating func prepend(_ operation: Unretained<AnyOperation>, at priority: OperationPriority)
    where Queue == IntrusiveList {
        queues.change(priority) { $0.prepend(operation) }
        filled.insert(priority)
    }

    /// Takes all operations of another queue, in order, and puts them before or behind its own.
    mutating func take(_ batch: PriorityRunQueue<IntrusiveList>, first: Bool) where Queue == IntrusiveList {
        var left = batch.filled
        while let priority = left.highest {
            left.remove(priority)
            let queue = batch.queues[priority]
            queues.change(priority) { first ? $0.prepend(contentsOf: queue) : $0.append(contentsOf: queue) }
            filled.insert(priority)
        }
    }

    /// Removes an operation, which must be in the queue of this priority.
    mutating func remove(_ operation: Unretained<AnyOperation>, at priority: OperationPriority)
    where Queue == IntrusiveList {
        let isEmpty = queues.change(priority) { queue in
            queue.remove(operation)
            return queue.isEmpty
        }
        if isEmpty { filled.remove(priority) }
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

// MARK: - The list of one priority

/// A first-in, first-out list that is linked through the operations themselves, so it allocates nothing. Each operation
/// but the first also points to the previous one, so that any operation can be removed in constant time. The list does
/// not retain operations: the queue retains those that were added.
struct IntrusiveList: FIFOQueueProtocol {
    private var head: Unretained<AnyOperation>?
    private var tail: Unretained<AnyOperation>?

    @inline(__always) var isEmpty: Bool { head == nil }

    /// The first operation. The others follow through their links.
    var first: Unretained<AnyOperation>? { head }

    @inline(__always)
    mutating func append(_ operation: Unretained<AnyOperation>) {
        let former = tail.map { DependentList.Place($0) }
        operation.use { operation in
            operation.next = nil
            operation.previous = former
        }
        if let tail {
            tail.use { $0.next = DependentList.Place(operation) }
        } else {
            head = operation
        }
        tail = operation
    }

    mutating func prepend(_ operation: Unretained<AnyOperation>) {
        let former = head
        operation.use { $0.next = former.map { DependentList.Place($0) } }
        former?.use { $0.previous = DependentList.Place(operation) }
        head = operation
        if former == nil { tail = operation }
    }

    /// Appends the operations of another list in order. The other list must not be used afterwards.
    mutating func append(contentsOf other: IntrusiveList) {
        guard let first = other.head else { return }
        if let tail { Self.link(tail, first) } else { head = first }
        tail = other.tail
    }

    /// Inserts the operations of another list, in order, before those of this one. The other list must not be used
    /// afterwards.
    mutating func prepend(contentsOf other: IntrusiveList) {
        guard let last = other.tail else { return }
        if let head { Self.link(last, head) } else { tail = last }
        head = other.head
    }

    private static func link(_ operation: Unretained<AnyOperation>, _ next: Unretained<AnyOperation>) {
        operation.use { $0.next = DependentList.Place(next) }
        next.use { $0.previous = DependentList.Place(operation) }
    }

    /// Removes an operation, which must be in the list.
    mutating func remove(_ operation: Unretained<AnyOperation>) {
        if head == operation {
            _ = popFirst()
            return
        }
        assert(head != nil, "An operation is removed from the list that contains it.")
        let next = Self.following(operation)
        let previous = operation.use { $0.previous!.onlyOperation }
        previous.use { previous in
            assert(previous.next == DependentList.Place(operation))
            previous.next = next.map { DependentList.Place($0) }
        }
        if let next { next.use { $0.previous = DependentList.Place(previous) } } else { tail = previous }
    }

    /// Appends an operation, and those that are linked to it, in order.
    @inline(__always)
    mutating func append(linked first: Unretained<AnyOperation>?) { Self.forEach(from: first) { append($0) } }

    /// Visits an operation, and those that are linked to it, in order. The closure may append the operation to another
    /// list, or release it.
    @inline(__always)
    static func forEach(from first: Unretained<AnyOperation>?, _ body: (Unretained<AnyOperation>) -> Void) {
        var next = first
        while let operation = next {
            next = following(operation)
            body(operation)
        }
    }

    /// Visits all operations in order. The closure may append the operation to another list, or release it.
    @inline(__always)
    func forEach(_ body: (Unretained<AnyOperation>) -> Void) { Self.forEach(from: head, body) }

    @inline(__always)
    private static func following(_ operation: Unretained<AnyOperation>) -> Unretained<AnyOperation>? {
        operation.use { $0.next?.onlyOperation }
    }

    @inline(__always)
    mutating func popFirst() -> Unretained<AnyOperation>? {
        guard let first = head else { return nil }
        head = Self.following(first)
        if head == nil { tail = nil }
        return first
    }
}
