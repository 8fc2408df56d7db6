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
