import Synchronization

/// Names an operation without keeping it alive: what errors, events and explanations hold.
public struct OperationReference: Sendable, Hashable, Identifiable, Codable, CustomStringConvertible {
    /// Unique in the process; given when somebody first asks for it, so it says nothing about order.
    public let id: UInt64
    /// The operation's name; without one its procedure's type; without that, "operation" and its id.
    public let name: String

    /// Names an operation that is known from elsewhere.
    package init(id: UInt64, name: String) {
        self.id = id
        self.name = name
    }

    /// The name in typographic quotes.
    public var description: String { "‘\(name)’" }

    /// Two references are equal when they name the same operation.
    public static func == (left: Self, right: Self) -> Bool { left.id == right.id }

    /// Hashes the id.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension OperationReference {
    private static let lastID = Atomic<UInt64>(0)

    static func nextID() -> UInt64 { lastID.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension AnyOperation {
    /// Names this operation without keeping it alive.
    public final var reference: OperationReference {
        let (id, name) = life.withLock { life in
            let details = life.madeDetails()
            if details.id == 0 { details.id = OperationReference.nextID() }
            return (details.id, details.name)
        }
        return OperationReference(id: id, name: name ?? procedureType.map { "\($0)" } ?? "operation \(id)")
    }
}
