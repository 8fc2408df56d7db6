/// First in, first out, linked through the operations themselves, so that nothing is allocated. The list does not retain:
/// an added operation is kept alive by its queue.
struct ReadyList {
    private var head: Unmanaged<AnyOperation>?
    private var tail: Unmanaged<AnyOperation>?

    @inline(__always) var isEmpty: Bool { head == nil }

    /// The others follow by their links.
    var first: Unmanaged<AnyOperation>? { head }

    @inline(__always)
    mutating func append(_ operation: Unmanaged<AnyOperation>) {
        operation._withUnsafeGuaranteedRef { $0.link = nil }
        if let tail { tail._withUnsafeGuaranteedRef { $0.link = operation } } else { head = operation }
        tail = operation
    }

    /// This one, and those that are linked to it, in order.
    @inline(__always)
    mutating func append(linked first: Unmanaged<AnyOperation>?) {
        var next = first
        while let operation = next {
            next = operation._withUnsafeGuaranteedRef { $0.link }
            append(operation)
        }
    }

    @inline(__always)
    mutating func popFirst() -> Unmanaged<AnyOperation>? {
        guard let first = head else { return nil }
        head = first._withUnsafeGuaranteedRef { $0.link }
        if head == nil { tail = nil }
        return first
    }
}
