/// The identities of the unfinished operations in the process: the driver of ``DeduplicationTable``, which it locks.
enum Deduplication {
    typealias Place = DeduplicationTable<AnyOperation>.Place

    private static let table = Locked(DeduplicationTable<AnyOperation>())

    enum Entrance {
        /// The operation has the identity from now on, and comes after the given operations, which have not finished.
        case entered(at: Place, behind: [AnyOperation])
        case taken(by: AnyOperation)
    }

    /// Takes the identity for the operation, if no other operation has it or those that have it are to be replaced.
    ///
    /// This is one step for the callers, although identities are compared outside the lock: an identity that is
    /// inserted during the comparison makes ``DeduplicationTable/insert(_:for:ifNoneAfter:)`` fail, and is compared
    /// next.
    static func enter(_ operation: AnyOperation, _ identity: any Identity, replaces: Bool) -> Entrance {
        var compared: Place = 0
        while true {
            let candidates = table.withLock { $0.candidates(for: identity.hash, after: compared) }
            guard let found = candidates.first(where: { $0.identity.equals(identity) }) else {
                compared = candidates.last?.place ?? compared
                let place = table.withLock { $0.insert(identity, for: operation, ifNoneAfter: compared) }
                if let place { return .entered(at: place, behind: []) }
                continue
            }
            // An operation publishes its outcome before it leaves the table, so an owner may have finished.
            let finished = table.withLock { $0.owners(at: found.place) }.filter(\.hasFinished)
            let entrance = table.withLock {
                $0.enter(operation, at: found.place, ignoring: finished, replaces: replaces)
            }
            switch entrance {
            case .entered(let former): return .entered(at: found.place, behind: former)
            case .taken(let other): return .taken(by: other)
            case .gone: break
            }
        }
    }

    /// Gives up the identity when the operation finishes.
    static func leave(_ operation: AnyOperation, at place: Place) {
        // The identity is released after unlocking.
        let identity = table.withLock { $0.leave(operation, at: place) }
        withExtendedLifetime(identity) {}
    }
}

/// The identity of a unique operation: a key of any type, in a namespace.
///
/// Hashing and comparing keys runs the user's code, so neither is done under a lock. The hash is computed once, when
/// the identity is made.
protocol Identity: AnyObject, Sendable {
    var hash: Int { get }

    func equals(_ other: any Identity) -> Bool
}

/// A namespace of keys. A type and a text are different namespaces, even if the text is the name of the type.
enum Namespace: Hashable {
    case type(ObjectIdentifier)
    case text(String)
}

final class KeyIdentity<Key: Hashable & Sendable>: Identity {
    private let key: Key
    private let namespace: Namespace
    let hash: Int

    init(_ key: Key, in namespace: Namespace) {
        self.key = key
        self.namespace = namespace
        var hasher = Hasher()
        hasher.combine(namespace)
        hasher.combine(ObjectIdentifier(Key.self))
        hasher.combine(key)
        hash = hasher.finalize()
    }

    func equals(_ other: any Identity) -> Bool {
        guard hash == other.hash, let other = other as? KeyIdentity<Key> else { return false }
        return namespace == other.namespace && key == other.key
    }
}

/// An identity that counts within one scope.
final class ScopedIdentity: Identity {
    private let base: any Identity
    private let scope: OperationScope
    let hash: Int

    init(_ base: any Identity, within scope: OperationScope) {
        self.base = base
        self.scope = scope
        hash = base.hash ^ scope.hashValue
    }

    func equals(_ other: any Identity) -> Bool {
        guard let other = other as? ScopedIdentity else { return false }
        return scope == other.scope && base.equals(other.base)
    }
}
