internal import Baton

/// Finds the object that was made for an operation, as long as that object exists. The table retains neither.
final class WeakObjectTable<Object: AnyObject & Sendable>: Sendable {
    /// An entry of the table. It is a class, because Swift 6.3.1 takes a missing generic struct with a weak reference
    /// for one that exists.
    private final class Entry: Sendable {
        weak let object: Object?
        /// The identity of the object. While that object is being released, `object` is nil, and this property
        /// distinguishes its entry from that of its replacement.
        let identity: ObjectIdentifier

        init(_ object: Object) {
            self.object = object
            identity = ObjectIdentifier(object)
        }
    }

    /// The entries by the identifiers of the operations, which are never reused.
    private let entries = Locked<[UInt64: Entry]>([:])

    /// Returns the object for an operation. If there is none, it stores and returns `candidate`, with `isNew` set to
    /// true.
    func find(for operation: AnyOperation, orTake candidate: () -> Object) -> (object: Object, isNew: Bool) {
        let id = operation.reference.id
        if let object = entries.withLock({ $0[id]?.object }) { return (object, false) }
        let candidate = candidate()
        let other = entries.withLock { entries -> Object? in
            if let other = entries[id]?.object { return other }
            entries[id] = Entry(candidate)
            return nil
        }
        return other.map { ($0, false) } ?? (candidate, true)
    }

    /// Returns the object for the operation with this identifier.
    func existing(for id: UInt64) -> Object? { entries.withLock { $0[id]?.object } }

    /// Removes an object from the table. The `deinit` of the object calls this.
    func forget(_ object: Object, of operation: AnyOperation) {
        forget(ObjectIdentifier(object), of: operation.reference.id)
    }

    func forget(_ identity: ObjectIdentifier, of id: UInt64) {
        entries.withLock { entries in
            if entries[id]?.identity == identity { entries[id] = nil }
        }
    }

    // MARK: Cancellation

    /// The operations whose cancels are passed on to their objects.
    private let followed = Locked<Set<UInt64>>([])

    /// Keeps an operation in `followed` as long as the operation retains its `didCancel` handler.
    private final class FollowRegistration: Sendable {
        let table: WeakObjectTable
        let id: UInt64

        init(_ id: UInt64, in table: WeakObjectTable) { (self.id, self.table) = (id, table) }

        deinit { table.followed.withLock { _ = $0.remove(id) } }

        var object: Object? { table.existing(for: id) }
    }

    /// Passes the cancellation of an operation on to the object that exists for it at that time. The operation gets one
    /// handler, however many objects are made for it one after another.
    func follow(_ operation: AnyOperation, whenCancelled tell: @escaping @Sendable (Object) -> Void) {
        let id = operation.reference.id
        if followed.withLock({ $0.insert(id).inserted }) {
            let registration = FollowRegistration(id, in: self)
            operation.didCancel { _ in registration.object.map(tell) }
        } else if operation.isCancelled {
            // The handler may have run before this object was stored.
            existing(for: id).map(tell)
        }
    }

    var count: Int { entries.withLock { $0.count } }
}
