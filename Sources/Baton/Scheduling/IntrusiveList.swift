/// A first-in, first-out list that is linked through the operations themselves, so it allocates nothing. Each operation
/// but the first also points to the previous one, so that any operation can be removed in constant time. The list does
/// not retain operations: the queue retains those that were added.
struct IntrusiveList: FIFOQueueProtocol {
    private var head: Unmanaged<AnyOperation>?
    private var tail: Unmanaged<AnyOperation>?

    @inline(__always) var isEmpty: Bool { head == nil }

    /// The first operation. The others follow through their links.
    var first: Unmanaged<AnyOperation>? { head }

    @inline(__always)
    mutating func append(_ operation: Unmanaged<AnyOperation>) {
        let former = tail?.toOpaque()
        operation._withUnsafeGuaranteedRef { operation in
            operation.link = nil
            operation.backLink = former
        }
        if let tail {
            tail._withUnsafeGuaranteedRef { $0.link = operation.toOpaque() }
        } else {
            head = operation
        }
        tail = operation
    }

    mutating func prepend(_ operation: Unmanaged<AnyOperation>) {
        let former = head
        operation._withUnsafeGuaranteedRef { $0.link = former?.toOpaque() }
        former?._withUnsafeGuaranteedRef { $0.backLink = operation.toOpaque() }
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

    private static func link(_ operation: Unmanaged<AnyOperation>, _ next: Unmanaged<AnyOperation>) {
        operation._withUnsafeGuaranteedRef { $0.link = next.toOpaque() }
        next._withUnsafeGuaranteedRef { $0.backLink = operation.toOpaque() }
    }

    /// Removes an operation, which must be in the list.
    mutating func remove(_ operation: Unmanaged<AnyOperation>) {
        if head?.toOpaque() == operation.toOpaque() {
            _ = popFirst()
            return
        }
        let next = Self.following(operation)
        let previous = operation._withUnsafeGuaranteedRef { Unmanaged<AnyOperation>.fromOpaque($0.backLink!) }
        previous._withUnsafeGuaranteedRef { previous in
            assert(previous.link == operation.toOpaque())
            previous.link = next?.toOpaque()
        }
        if let next { next._withUnsafeGuaranteedRef { $0.backLink = previous.toOpaque() } } else { tail = previous }
    }

    /// Appends an operation, and those that are linked to it, in order.
    @inline(__always)
    mutating func append(linked first: Unmanaged<AnyOperation>?) { Self.forEach(from: first) { append($0) } }

    /// Visits an operation, and those that are linked to it, in order. The closure may append the operation to another
    /// list, or release it.
    @inline(__always)
    static func forEach(from first: Unmanaged<AnyOperation>?, _ body: (Unmanaged<AnyOperation>) -> Void) {
        var next = first
        while let operation = next {
            next = following(operation)
            body(operation)
        }
    }

    /// Visits all operations in order. The closure may append the operation to another list, or release it.
    @inline(__always)
    func forEach(_ body: (Unmanaged<AnyOperation>) -> Void) { Self.forEach(from: head, body) }

    @inline(__always)
    private static func following(_ operation: Unmanaged<AnyOperation>) -> Unmanaged<AnyOperation>? {
        operation._withUnsafeGuaranteedRef { $0.link.map { .fromOpaque($0) } }
    }

    @inline(__always)
    mutating func popFirst() -> Unmanaged<AnyOperation>? {
        guard let first = head else { return nil }
        head = Self.following(first)
        if head == nil { tail = nil }
        return first
    }
}
