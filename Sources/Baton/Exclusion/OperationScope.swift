/// The scope in which names of exclusions and keys of unique operations count.
///
/// ```swift
/// let imports = OperationScope("imports")
/// let first = AsyncOperationQueue(), second = AsyncOperationQueue()
/// first.scope = imports
/// second.scope = imports
/// ```
///
/// The same name of an ``Exclusion``, or the same key of ``AnyOperation/unique(by:policy:within:file:line:)``, is a
/// different one in each scope. A queue has the scope ``process`` unless another one is set. The `within:` parameter of
/// a single exclusion or key overrides the scope of the queue.
public struct OperationScope: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Hashable {
        case process
        /// The scope of the queue to which the operation was added.
        case ownQueue
        case queue(UInt32)
        case made(UInt64)
        case schedule(ObjectIdentifier)
    }

    let kind: Kind
    private let label: String

    /// The scope of all queues of the process. This is the default.
    public static let process = OperationScope(.process, "process")

    /// A scope that each queue has by itself.
    public static let queue = OperationScope(.ownQueue, "queue")

    private static let numbers = NumberGenerator()

    /// Makes a new scope. Its copies are the same scope.
    ///
    /// - Parameter name: The name of the scope in explanations. Two scopes with the same name are different scopes.
    public init(_ name: String) {
        self.init(.made(Self.numbers.next()), name)
    }

    private init(_ kind: Kind, _ label: String) {
        self.kind = kind
        self.label = label
    }

    /// Makes the scope of the schedule that this executor decides.
    init(of schedule: any DeterministicTaskExecutor) {
        self.init(.schedule(ObjectIdentifier(schedule)), "schedule")
    }

    /// The scope for the queue with this number.
    func resolved(on queue: UInt32) -> OperationScope {
        switch kind {
        case .ownQueue: OperationScope(.queue(queue), label)
        case .process, .queue, .made, .schedule: self
        }
    }

    /// Returns true if both are the same scope.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

    /// Hashes the identity of the scope.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    /// The name of the scope.
    public var description: String { label.singleLine }

    /// The text after a name of this scope in explanations; empty for the scopes that no caller has named.
    var suffix: String {
        switch kind {
        case .made: label.isBlank ? "" : " within \(label.quoted)"
        case .process, .ownQueue, .queue, .schedule: ""
        }
    }
}

extension AsyncOperationQueue {
    /// The scope of the exclusions and unique operations of this queue. The default is ``OperationScope/process``.
    ///
    /// A queue that runs on a seeded schedule of `BatonTesting` begins with a scope of that schedule, so that tests
    /// that run at the same time do not interfere.
    ///
    /// The scope may be set at any time. It applies to exclusions that are requested and unique operations that are
    /// added from then on. Exclusions and keys that are held or waited for stay in their scope.
    public var scope: OperationScope {
        get { core.scope.withLock { $0 } }
        set { core.scope.withLock { $0 = newValue } }
    }
}

extension QueueCore {
    /// The scope in which a name counts for an operation of this queue.
    ///
    /// - Parameter override: The scope of the name itself, if it has one.
    func resolve(_ override: OperationScope?) -> OperationScope {
        (override ?? scope.withLock { $0 }).resolved(on: number)
    }

    /// The exclusions with their names as they are known in the whole process.
    func resolve(_ exclusions: ExclusionSet) -> ExclusionSet {
        let inherited = resolve(nil)
        if inherited == .process, !exclusions.hasScopedNames { return exclusions }
        return exclusions.mapNames { $0.resolved(on: self, inheriting: inherited) }
    }
}

extension ExclusionName {
    fileprivate func resolved(on core: QueueCore, inheriting scope: OperationScope) -> ExclusionName {
        switch self {
        // The name belongs to one group, whatever its scope.
        case .group: self
        case .text, .type: placed(within: scope)
        case .within(let own, let name): name.placed(within: core.resolve(own))
        }
    }

    private func placed(within scope: OperationScope) -> ExclusionName {
        scope == .process ? self : .within(scope, self)
    }
}
