import Synchronization

/// Names an operation without keeping it alive: what errors, events and explanations hold.
public struct OperationReference: Sendable, Hashable, Identifiable, Codable, CustomStringConvertible {
    /// Unique in the process; given when somebody first asks for it, so it says nothing about order.
    public let id: UInt64
    private let givenName: String?
    private let fallbackName: FallbackName
    /// Of an operation in ``OperationError/dependencyFailed(source:via:cause:)``: the one that needs its output has a
    /// retry, which does not run this one again.
    var isRetriedInVain = false

    /// The operation's name; without one the type of its procedure, else the place in the source that made it.
    ///
    /// A place reads "parse.swift:38", or "parse.swift:38 then" if a `then` has made it. An operation that a closure
    /// with a `default:` for its input makes has no place, and is called "operation" with its id.
    public var name: String { givenName ?? fallbackName.name ?? "operation \(id)" }

    /// The name in typographic quotes, on one line: control characters of it are spaces.
    public var description: String { "‘\(name.singleLine)’" }

    /// Two references are equal when they name the same operation.
    public static func == (left: Self, right: Self) -> Bool { left.id == right.id }

    /// Hashes the id.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension OperationReference {
    /// Resolves the name lazily, because most references are never printed.
    package init(id: UInt64, name: String?) { self.init(id: id, name: name, fallbackName: .none) }

    init(id: UInt64, name: String?, fallbackName: FallbackName) {
        self.id = id
        givenName = name
        self.fallbackName = fallbackName
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case name
    }

    /// From its id and name.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(id: try values.decode(UInt64.self, forKey: .id), name: try values.decode(String.self, forKey: .name))
    }

    /// As its id and name.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(name, forKey: .name)
    }

    private static let lastID = Atomic<UInt64>(0)

    static func nextID() -> UInt64 { lastID.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension AnyOperation {
    /// Names this operation without keeping it alive.
    public final var reference: OperationReference {
        withLife { reference(&$0) }
    }

    /// The same, with the lock of its state held by the caller.
    final func reference(_ life: inout Lifecycle) -> OperationReference {
        let optionalState = life.madeOptionalState()
        if optionalState.id == 0 { optionalState.id = OperationReference.nextID() }
        return OperationReference(id: optionalState.id, name: optionalState.name, fallbackName: fallbackName)
    }
}
