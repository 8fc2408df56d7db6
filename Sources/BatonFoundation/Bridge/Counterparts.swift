internal import Baton

/// Finds what was made for an operation again, as long as somebody keeps it. It keeps neither.
final class Counterparts<Made: AnyObject & Sendable>: Sendable {
    /// An object: Swift 6.3.1 takes the absence of a generic struct with a weak reference for one that is there.
    private final class Entry: Sendable {
        weak let made: Made?
        /// Of one that is being released, `made` is nil; this tells it from the one that has replaced it.
        let identity: ObjectIdentifier

        init(_ made: Made) {
            self.made = made
            identity = ObjectIdentifier(made)
        }
    }

    /// By the number of the operation, which no other one has after it.
    private let entries = Locked<[UInt64: Entry]>([:])

    /// What there is for the operation, or else `candidate`, of which the caller then learns that it was taken.
    func find(for operation: AnyOperation, orTake candidate: () -> Made) -> (made: Made, isNew: Bool) {
        let id = operation.reference.id
        if let made = entries.withLock({ $0[id]?.made }) { return (made, false) }
        let candidate = candidate()
        let other = entries.withLock { entries -> Made? in
            if let other = entries[id]?.made { return other }
            entries[id] = Entry(candidate)
            return nil
        }
        return other.map { ($0, false) } ?? (candidate, true)
    }

    /// What there is for the operation with this number.
    func existing(for id: UInt64) -> Made? { entries.withLock { $0[id]?.made } }

    /// From the `deinit` of what was made.
    func forget(_ made: Made, of operation: AnyOperation) {
        forget(ObjectIdentifier(made), of: operation.reference.id)
    }

    func forget(_ identity: ObjectIdentifier, of id: UInt64) {
        entries.withLock { entries in
            if entries[id]?.identity == identity { entries[id] = nil }
        }
    }

    // MARK: Cancels

    /// Operations whose cancel is told to what is made for them.
    private let followed = Locked<Set<UInt64>>([])

    /// Lives as long as the operation's handler.
    private final class Following: Sendable {
        let table: Counterparts
        let id: UInt64

        init(_ id: UInt64, in table: Counterparts) { (self.id, self.table) = (id, table) }

        deinit { table.followed.withLock { _ = $0.remove(id) } }

        var made: Made? { table.existing(for: id) }
    }

    /// Tells the cancel of the operation to what there is for it then: one handler, however often something is made for
    /// it anew.
    func follow(_ operation: AnyOperation, whenCancelled tell: @escaping @Sendable (Made) -> Void) {
        let id = operation.reference.id
        if followed.withLock({ $0.insert(id).inserted }) {
            let following = Following(id, in: self)
            operation.didCancel { _ in following.made.map(tell) }
        } else if operation.isCancelled {
            // The handler may have been called before this was made.
            existing(for: id).map(tell)
        }
    }

    var count: Int { entries.withLock { $0.count } }
}
