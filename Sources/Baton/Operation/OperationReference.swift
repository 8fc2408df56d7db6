/// Identifies an operation without keeping it alive. Errors, events and explanations hold references.
public struct OperationReference: Sendable, Hashable, Identifiable, Codable, CustomStringConvertible {
    /// A number that is unique in the process. It is assigned when it is first needed, so it says nothing about order.
    public let id: UInt64
    private let givenName: String?
    private let fallbackName: FallbackName
    /// In an ``OperationError/dependencyFailed(source:via:cause:)``, the setting that makes the operation that needs
    /// the output of this one run again. It does not run this one again.
    var readerRunsOnlyItselfAgain: RunAgain?
    /// True in an ``OperationError/dependencyFailed(source:via:cause:)``, if a condition has brought the operation
    /// along.
    var isOfCondition = false
    /// True in a ``SkipReason/duplicate(of:)`` or a ``CancellationReason/replaced(by:)``, if one of the two operations
    /// depends on the other.
    var dependsOnDuplicate = false
    /// In a ``SkipReason/edge(source:outcome:)``, what asked for another outcome; nil if that is not known.
    var unmetDemand: UnmetDemand?
    /// In an ``OperationError/dependencyCycle(_:)``, the way in which the operation waits for the next one of the path.
    /// In an ``OperationError/exclusionDeadlock(_:)`` only the width of a group is noted.
    var cycleLink = CycleLink.dependency

    /// The operation's name; without one, the type of its procedure; otherwise the place in the source that made it.
    ///
    /// A place reads "parse.swift:38", or "parse.swift:38 then" for an operation that `then` has made. An operation
    /// that is made from a closure with a `default:` for its input, or with an empty name, has no place, and is called
    /// "operation" with its id.
    public var name: String { givenName ?? fallbackName.name ?? "operation \(id)" }

    /// The name in typographic quotes, on one line. Control characters of the name are replaced by spaces, and
    /// typographic quotes in it alternate, as in ‘dependencies of “a”’.
    public var description: String { name.quoted }

    /// Returns whether both references identify the same operation.
    public static func == (left: Self, right: Self) -> Bool { left.id == right.id }

    /// Hashes the id.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A setting with which an operation runs its body more than once.
enum RunAgain: String, Sendable {
    case retry
    case repetition
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

    private static let ids = NumberGenerator()

    /// Returns a new id. It is never 0, which stands for an id that was not assigned yet.
    static func nextID() -> UInt64 { ids.next() }
}

extension AnyOperation {
    /// A reference that identifies this operation without keeping it alive.
    public final var reference: OperationReference {
        withLifecycle { reference(&$0) }
    }

    /// Returns the reference. The caller holds the operation's lock.
    final func reference(_ life: inout Lifecycle) -> OperationReference {
        let optionalState = life.ensureOptionalState()
        if optionalState.id == 0 { optionalState.id = OperationReference.nextID() }
        return OperationReference(id: optionalState.id, name: optionalState.name, fallbackName: fallbackName)
    }
}

// MARK: - Names of operations without a name

/// Identifies an operation without a name by the type of its procedure, or by the place in the source that made it.
///
/// The value is one word, so that it does not make operations larger. The lower 48 bits, which are all that pointers
/// use on the supported platforms, hold a pointer to the type's metadata or to the name of the file. The upper 16 bits
/// are 0 for a type; for a place they hold the step and the line.
@usableFromInline
struct FallbackName: Sendable, Hashable {
    /// The call that made the operation at its place.
    @usableFromInline
    enum Step: UInt8 {
        // The raw values begin at 1, so that no place looks like a type.
        case made = 1
        case then, map, flatMap, recover, mapError, unwrapped, collect, collectResults, filter, reduce, callback
        case delayed
    }

    @usableFromInline
    static let pointerBits: UInt64 = 48
    @usableFromInline
    static let lineBits: UInt64 = 12

    @usableFromInline
    let bits: UInt64

    @inlinable
    init(bits: UInt64) { self.bits = bits }

    @inlinable
    static var none: FallbackName { FallbackName(bits: 0) }

    /// Identifies an operation by a type. A pointer that does not fit into its bits is left out, because it would look
    /// like a place.
    @inlinable
    init(_ type: Any.Type?) {
        let pointer = type.map { UInt64(UInt(bitPattern: ObjectIdentifier($0))) } ?? 0
        self.init(bits: pointer >> Self.pointerBits == 0 ? pointer : 0)
    }

    /// Identifies an operation by a place. A line that does not fit into its bits is left out.
    @inlinable
    init(_ step: Step, _ file: StaticString, _ line: UInt) {
        let pointer = file.hasPointerRepresentation ? UInt64(UInt(bitPattern: file.utf8Start)) : 0
        if pointer == 0 || pointer >> Self.pointerBits != 0 {
            self = .none
        } else {
            let storedLine = UInt64(line) >> Self.lineBits == 0 ? UInt64(line) : 0
            self.init(bits: (UInt64(step.rawValue) << Self.lineBits | storedLine) << Self.pointerBits | pointer)
        }
    }

    /// True if the operation was made by a call whose result only passes an output or an error on.
    var onlyPassesOn: Bool {
        switch step {
        case .mapError, .unwrapped, .delayed: true
        case .made, .then, .map, .flatMap, .recover, .collect, .collectResults, .filter, .reduce, .callback, nil: false
        }
    }

    private var step: Step? { Step(rawValue: UInt8(bits >> (Self.pointerBits + Self.lineBits))) }

    private var isPlace: Bool { bits >> Self.pointerBits != 0 }

    private var address: UInt { UInt(truncatingIfNeeded: bits & (1 << Self.pointerBits - 1)) }

    /// The type of the procedure; nil if there is none.
    var type: Any.Type? { isPlace ? nil : metatype(at: address) }

    /// The type or the place as text; nil if neither is known.
    var name: String? { isPlace ? place : type.map { "\($0)" } }

    private var place: String? {
        guard let path = text(ofStaticStringAt: address) else { return nil }
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return file + lineSuffix + (step?.suffix ?? "")
    }

    /// The place with its module, as in reports of misuse; nil if it is not known.
    var callSite: String? { isPlace ? text(ofStaticStringAt: address).map { $0 + lineSuffix } : nil }

    private var lineSuffix: String {
        let line = bits >> Self.pointerBits & (1 << Self.lineBits - 1)
        return line == 0 ? "" : ":\(line)"
    }
}

extension FallbackName.Step {
    fileprivate var suffix: String {
        switch self {
        case .made: ""
        case .then: " then"
        case .map: " map"
        case .flatMap: " flatMap"
        case .recover: " recover"
        case .mapError: " mapError"
        case .unwrapped: " unwrapped"
        case .collect: " collect"
        case .collectResults: " collectResults"
        case .filter: " filter"
        case .reduce: " reduce"
        case .callback: " callback"
        case .delayed: " delayed"
        }
    }
}

extension AnyOperation {
    /// Records the place that made the operation, for its fallback name. Call this before other threads can see the
    /// operation.
    @inlinable
    @discardableResult
    final func recordOrigin(step: FallbackName.Step = .made, _ file: StaticString, _ line: UInt) -> Self {
        fallbackName = FallbackName(step, file, line)
        return self
    }
}
