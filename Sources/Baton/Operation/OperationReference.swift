import Synchronization

/// Identifies an operation without keeping it alive. Errors, events and explanations hold references.
public struct OperationReference: Sendable, Hashable, Identifiable, Codable, CustomStringConvertible {
    /// A number that is unique in the process. It is assigned when it is first needed, so it says nothing about order.
    public let id: UInt64
    private let givenName: String?
    private let fallbackName: FallbackName
    /// True in an ``OperationError/dependencyFailed(source:via:cause:)`` if the operation that needs the output of this
    /// one has a retry, which does not run this one again.
    var readerRetriesOnlyItself = false

    /// The operation's name; without one, the type of its procedure; otherwise the place in the source that made it.
    ///
    /// A place reads "parse.swift:38", or "parse.swift:38 then" for an operation that `then` has made. An operation
    /// that is made from a closure with a `default:` for its input has no place, and is called "operation" with its id.
    public var name: String { givenName ?? fallbackName.name ?? "operation \(id)" }

    /// The name in typographic quotes, on one line. Control characters of the name are replaced by spaces.
    public var description: String { "‘\(name.singleLine)’" }

    /// Returns whether both references identify the same operation.
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

    /// Decodes the id and the name.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(id: try values.decode(UInt64.self, forKey: .id), name: try values.decode(String.self, forKey: .name))
    }

    /// Encodes the id and the name.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(name, forKey: .name)
    }

    private static let lastID = Atomic<UInt64>(0)

    /// Returns a new id. It is never 0, which stands for an id that was not assigned yet.
    static func nextID() -> UInt64 { lastID.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension AnyOperation {
    /// A reference that identifies this operation without keeping it alive.
    public final var reference: OperationReference {
        withLife { reference(&$0) }
    }

    /// Returns the reference. The caller holds the operation's lock.
    final func reference(_ life: inout Lifecycle) -> OperationReference {
        let optionalState = life.ensureOptionalState()
        if optionalState.id == 0 { optionalState.id = OperationReference.nextID() }
        return OperationReference(id: optionalState.id, name: optionalState.name, fallbackName: fallbackName)
    }
}
