internal import Synchronization

/// Where names count: those of an ``Exclusion``, and the keys of ``AnyOperation/unique(by:policy:within:file:line:)``.
///
/// ```swift
/// let imports = OperationScope("imports")
/// let first = AsyncOperationQueue(), second = AsyncOperationQueue()
/// first.scope = imports
/// second.scope = imports
/// ```
///
/// The same name in two scopes is two names. A queue has the scope ``process`` unless another one is set. A single
/// exclusion or key overrides that with `within:`.
public struct OperationScope: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Hashable {
        case process
        /// That of the queue on which the operation is.
        case ownQueue
        case queue(UInt32)
        case made(UInt64)
        case schedule(ObjectIdentifier)
    }

    let kind: Kind
    private let label: String

    /// All queues of the process: what is used unless another scope is set.
    public static let process = OperationScope(.process, "process")

    /// Each queue by itself.
    public static let queue = OperationScope(.ownQueue, "queue")

    private static let lastNumber = Atomic<UInt64>(0)

    /// Makes a scope of its own, which all that get it share.
    ///
    /// - Parameter name: What it is called in explanations. Two scopes of one name are two.
    public init(_ name: String) {
        self.init(.made(Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue), name)
    }

    private init(_ kind: Kind, _ label: String) {
        self.kind = kind
        self.label = label
    }

    /// The schedule that this executor decides.
    init(of schedule: any DeterministicTaskExecutor) {
        self.init(.schedule(ObjectIdentifier(schedule)), "schedule")
    }

    /// For the queue of this number.
    func resolved(on queue: UInt32) -> OperationScope {
        switch kind {
        case .ownQueue: OperationScope(.queue(queue), label)
        case .process, .queue, .made, .schedule: self
        }
    }

    /// Two scopes are equal if they are the same one.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

    /// Hashes what makes it the same one.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    /// The name.
    public var description: String { label.singleLine }

    /// Stands behind a name of this scope in explanations; empty for the scopes that nobody has named.
    var suffix: String {
        switch kind {
        case .made: " within ‘\(description)’"
        case .process, .ownQueue, .queue, .schedule: ""
        }
    }
}

extension AsyncOperationQueue {
    /// Where the names of exclusions and the keys of unique operations of this queue count; ``OperationScope/process``
    /// unless set.
    ///
    /// A queue that runs on a seeded schedule of `BatonTesting` begins with a scope of that schedule, so that tests
    /// that run at the same time do not meet.
    ///
    /// May be set at any time, and holds for names that are asked for, and for unique operations that are added, from
    /// then on. What is held or waited for stays in its scope.
    public var scope: OperationScope {
        get { core.scope.withLock { $0 } }
        set { core.scope.withLock { $0 = newValue } }
    }
}

extension QueueCore {
    /// Where a name counts for an operation of this queue.
    ///
    /// - Parameter override: The scope that the name itself has been given.
    func resolve(_ override: OperationScope?) -> OperationScope {
        (override ?? scope.withLock { $0 }).resolved(on: number)
    }

    /// The names as they are known in the whole process.
    func resolve(_ exclusions: ExclusionSet) -> ExclusionSet {
        let inherited = resolve(nil)
        if inherited == .process, !exclusions.haveScopes { return exclusions }
        return exclusions.mapNames { $0.resolved(on: self, inheriting: inherited) }
    }
}

extension ExclusionName {
    fileprivate func resolved(on core: QueueCore, inheriting scope: OperationScope) -> ExclusionName {
        switch self {
        // One group has it, wherever that is.
        case .group: self
        case .text, .type: placed(within: scope)
        case .within(let own, let name): name.placed(within: core.resolve(own))
        }
    }

    private func placed(within scope: OperationScope) -> ExclusionName {
        scope == .process ? self : .within(scope, self)
    }
}
