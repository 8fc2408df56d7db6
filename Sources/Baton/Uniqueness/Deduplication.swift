/// The identities that unfinished operations have, in the whole process: ``DeduplicationTable`` behind its lock.
enum Deduplication {
    typealias Place = DeduplicationTable<AnyOperation>.Place

    private static let table = Locked(DeduplicationTable<AnyOperation>())

    enum Entrance {
        /// It has the identity from now on, and comes after those that have not finished.
        case entered(at: Place, behind: [AnyOperation])
        case taken(by: AnyOperation)
    }

    /// Takes the identity for the operation, if nobody has it or those who have it are to be replaced: one step,
    /// although the comparing is done outside the lock. Whatever comes in between is compared, too, until nothing has.
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
            // An outcome is published before the table is told.
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

    /// At the finish.
    static func leave(_ operation: AnyOperation, at place: Place) {
        // Held for its release after unlocking.
        let identity = table.withLock { $0.leave(operation, at: place) }
        withExtendedLifetime(identity) {}
    }
}

/// What an operation is unique by: a key of any type, in a namespace.
///
/// Hashed once, when it is made: the hashing is the user's code, and so is the comparing. Neither is done under a lock.
protocol Identity: AnyObject, Sendable {
    var hash: Int { get }

    func equals(_ other: any Identity) -> Bool
}

/// A type never meets a text that reads the same.
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
