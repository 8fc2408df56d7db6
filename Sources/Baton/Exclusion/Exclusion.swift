/// A named lock or semaphore that an operation holds while it runs, on all queues of the process or of a scope.
///
/// ```swift
/// image.addCondition(.mutuallyExclusive("gpu"))
/// page.addCondition(.limited("example.org", to: 4)).addCondition(.mutuallyExclusive("cache", mode: .shared))
/// ```
///
/// Exclusions of the same name exclude one another wherever their operations were added, unless a queue or an exclusion
/// has a different ``OperationScope``. An `exclusive` one tolerates no other holder. A `shared` one tolerates shared
/// and limited holders. A limited one tolerates shared holders, which use no units, and as many limited ones as its
/// limit allows. If one operation has two exclusions of the same name, the stronger one counts.
///
/// An operation gets all of its exclusions at once or none of them, when its dependencies have finished, its conditions
/// are satisfied and its turn in the queue has come. While it waits, it holds no permit and no task. Waiting operations
/// are served in the order in which they came. An operation releases its exclusions when its outcome is published.
///
/// The exclusions that an operation's children request are taken from those that it holds: the children exclude one
/// another, but not their parent. Its children are the operations that it runs with
/// ``OperationContext/run(_:file:line:)``, the children of a ``GroupOperation``, the dependencies of its conditions,
/// and everything that these need. Operations that it produces or otherwise awaits are not its children. If holders
/// would wait for one another, or for an operation that waits for their exclusions, one of the waiting operations ends
/// with ``OperationError/exclusionDeadlock(_:)``.
///
/// A weight or a limit below 1, or a weight above the limit, ends the operation with ``OperationError/misuse(_:)``. Two
/// limits for one name, even on one operation, are reported as ``Misuse``, and the smaller one counts. If the smaller
/// limit leaves no room for a child of the holder, the child ends with that error.
///
/// - Complexity: An operation inside n nested holders takes O(n) to get an exclusion that somebody holds. If children
///   inside n holders wait for more of a name, finishing a holder examines O(n) of their waiting claims, and finding a
///   deadlock among them takes O(n²).
public struct Exclusion: OperationCondition, Hashable {
    /// The mode of an exclusion: it decides whether others may hold the same name at the same time.
    @nonexhaustive
    public enum Mode: Sendable, Hashable {
        /// No other operation may hold the name, as with a writer.
        case exclusive
        /// All operations that share the name may hold it, as with readers.
        case shared
    }

    let key: ExclusionName
    let share: Share
    /// The source location where the exclusion was added to an operation, for reports about its limit.
    var declarationSite = DeclarationSite.unknown

    /// The name that is held, for errors and explanations.
    public var name: String { "\(key)" }

    /// The exclusion itself.
    public var exclusions: [Exclusion] { [self] }

    /// Returns ``ConditionResult/satisfied``: the operation waits for the exclusion after its conditions have been
    /// evaluated.
    ///
    /// - Parameter operation: The operation that has the condition.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }

    /// The reason why this exclusion can never be granted; nil if it can.
    var problem: String? { share.problem(for: key) }
}

// An extension of the protocol, so that `addCondition(.mutuallyExclusive("gpu"))` finds these methods.
extension OperationCondition where Self == Exclusion {
    /// Keeps operations that hold the same exclusion from running at the same time, or lets those that share it run
    /// together.
    ///
    /// - Parameters:
    ///   - name: The name that the operations which exclude one another have in common.
    ///   - mode: Whether others that share the name may hold it at the same time.
    ///   - scope: The scope in which the name counts, or nil for ``AsyncOperationQueue/scope`` of the operation's
    ///     queue.
    /// - Returns: The condition.
    public static func mutuallyExclusive(
        _ name: String, mode: Exclusion.Mode = .exclusive, within scope: OperationScope? = nil
    ) -> Exclusion {
        Exclusion(key: ExclusionName.text(name).within(scope), share: Share(mode))
    }

    /// Keeps operations that use the same type as the exclusion's name from running at the same time, or lets those
    /// that share it run together.
    ///
    /// A type and a text are different names, even if the text is the name of the type. So a library that uses a type
    /// of its own cannot collide with another library.
    ///
    /// - Parameters:
    ///   - type: The type that the operations which exclude one another have in common.
    ///   - mode: Whether others that share the type may hold it at the same time.
    ///   - scope: The scope in which the type counts, or nil for ``AsyncOperationQueue/scope`` of the operation's
    ///     queue.
    /// - Returns: The condition.
    public static func mutuallyExclusive(
        _ type: Any.Type, mode: Exclusion.Mode = .exclusive, within scope: OperationScope? = nil
    ) -> Exclusion {
        Exclusion(key: ExclusionName.type(type).within(scope), share: Share(mode))
    }

    /// Lets operations run at the same time as long as the sum of their weights is within the limit.
    ///
    /// All operations that use the name have to give the same limit. The weight is at least 1 and at most the limit.
    ///
    /// - Parameters:
    ///   - name: The name that the operations which share the limit have in common.
    ///   - limit: The number of units.
    ///   - weight: The number of units that the operation takes.
    ///   - scope: The scope in which the name counts, or nil for ``AsyncOperationQueue/scope`` of the operation's
    ///     queue.
    /// - Returns: The condition.
    public static func limited(
        _ name: String, to limit: Int, weight: Int = 1, within scope: OperationScope? = nil
    ) -> Exclusion {
        Exclusion(key: ExclusionName.text(name).within(scope), share: .units(weight, of: limit))
    }
}

extension Exclusion: CustomStringConvertible {
    /// The mode or the weight of the exclusion, and its name.
    public var description: String {
        switch share {
        case .all: "exclusive \(name)"
        case .shared: "shared \(name)"
        case .units(let weight, let limit): "\(weight) of \(limit) of \(name)"
        }
    }
}

extension ExclusionName {
    fileprivate func within(_ scope: OperationScope?) -> ExclusionName { scope.map { .within($0, self) } ?? self }
}

extension Share {
    fileprivate init(_ mode: Exclusion.Mode) {
        switch mode {
        case .exclusive: self = .all
        case .shared: self = .shared
        }
    }
}

/// The name of an exclusion: a text or a type. A text and a type are never equal, even if the text is the name of the
/// type.
enum ExclusionName: Sendable {
    case text(String)
    case type(Any.Type)
    /// The width of a group, which is the number of its children that run at a time.
    case group(OperationReference, width: Int)
    /// A name that counts only within this scope.
    indirect case within(OperationScope, ExclusionName)
}

extension ExclusionName: Hashable {
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): left == right
        case (.type(let left), .type(let right)): left == right
        case (.group(let left, _), .group(let right, _)): left == right
        case (.within(let scope, let left), .within(let other, let right)): scope == other && left == right
        case (.text, _), (.type, _), (.group, _), (.within, _): false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .text(let text): hasher.combine(text)
        case .type(let type): hasher.combine(ObjectIdentifier(type))
        case .group(let group, _): hasher.combine(group)
        case .within(let scope, let name):
            hasher.combine(scope)
            hasher.combine(name)
        }
    }
}

extension ExclusionName: CustomStringConvertible {
    var description: String {
        switch self {
        case .text(let text): text.quoted
        case .type(let type): String(describing: type)
        case .group(let group, let width): ExclusionText.width(width, of: group)
        case .within(let scope, let name): "\(name)\(scope.suffix)"
        }
    }
}

/// Builds and recognises the displayed names of exclusions.
package enum ExclusionText {
    private static let widthOfGroup = "the width of the group"

    static func width(_ width: Int, of group: OperationReference) -> String {
        "\(widthOfGroup) \(group) (\(children(width)) at a time)"
    }

    static func children(_ count: Int) -> String { count == 1 ? "1 child" : "\(count) children" }

    /// True if the name is that of a group's width, which is not to be called an exclusion, because the user has made
    /// none. No other name begins in this way: texts are in quotes.
    package static func isWidth(_ name: String) -> Bool { name.hasPrefix(widthOfGroup) }

    /// Returns the phrase that names the exclusion in explanations.
    package static func phrase(for name: String) -> String { isWidth(name) ? name : "the exclusion \(name)" }
}

// MARK: - Sets of exclusions

/// How much of an exclusion an operation requests or holds: all, a shared part, or units of a limit.
enum Share: Hashable, Sendable {
    case all
    case shared
    case units(Int, of: Int)

    /// Returns a share that satisfies both.
    func merged(with other: Share) -> Share {
        switch (self, other) {
        case (.all, _), (_, .all): .all
        case (.units(let weight, let limit), .units(let otherWeight, let otherLimit)):
            .units(max(weight, otherWeight), of: min(limit, otherLimit))
        case (.units, .shared): self
        case (.shared, .units), (.shared, .shared): other
        }
    }

    /// `Int.max` if there is no limit.
    var limit: Int {
        switch self {
        case .all, .shared: .max
        case .units(_, let limit): limit
        }
    }

    /// Returns the reason why this can never be granted, or nil if it can.
    func problem(for name: ExclusionName) -> String? {
        guard case .units(let weight, let limit) = self else { return nil }
        if limit < 1 { return "the limit of \(name) is \(limit), and must be at least 1" }
        if weight < 1 { return "the weight in \(name) is \(weight), and must be at least 1" }
        if weight > limit { return "the weight in \(name) is \(weight), more than the limit of \(limit)" }
        return nil
    }
}

/// A limit, and the source location where it was added.
struct DeclaredLimit: Sendable, Hashable {
    let limit: Int
    let site: DeclarationSite
}

/// Two different limits of one name.
struct LimitConflict: Sendable, Hashable {
    let name: ExclusionName
    let limit: DeclaredLimit
    let other: DeclaredLimit
}

/// The exclusions that one owner asks for: each name once, in the order of first mention.
struct ExclusionSet: Sendable, Hashable {
    struct Demand: Sendable, Hashable {
        let name: ExclusionName
        fileprivate(set) var share: Share
        /// The smallest limit that was given for the name, even if an exclusive share includes it; nil if none was.
        fileprivate(set) var limit: DeclaredLimit?

        /// The source location where the limit of the share was added.
        var site: DeclarationSite { limit?.site ?? .unknown }
    }

    private var demands: [Demand] = []
    /// The index of each name, if there are more than a few.
    private var indexByName: [ExclusionName: Int] = [:]
    /// True if some of the names are valid within a scope only.
    private(set) var hasScopedNames = false
    /// Two limits that the owner has given for one name; nil if its limits agree.
    private(set) var conflict: LimitConflict?

    init() {}

    init(_ exclusions: some Sequence<Exclusion>) {
        for exclusion in exclusions { insert(exclusion) }
    }

    mutating func insert(_ exclusion: Exclusion) {
        let (share, site) = (exclusion.share, exclusion.declarationSite)
        let limit = share.limit < .max ? DeclaredLimit(limit: share.limit, site: site) : nil
        insert(Demand(name: exclusion.key, share: share, limit: limit))
    }

    mutating func formUnion(_ other: ExclusionSet) {
        for demand in other { insert(demand) }
    }

    private mutating func insert(_ demand: Demand) {
        if let index = index(of: demand.name) {
            demands[index].share = demands[index].share.merged(with: demand.share)
            noteLimit(of: demand, at: index)
        } else {
            demands.append(demand)
            if case .within = demand.name { hasScopedNames = true }
            noteIndices()
        }
    }

    private mutating func noteLimit(of demand: Demand, at index: Int) {
        guard let limit = demand.limit else { return }
        guard let other = demands[index].limit else { return demands[index].limit = limit }
        if limit.limit == other.limit { return }
        conflict = conflict ?? LimitConflict(name: demand.name, limit: limit, other: other)
        if limit.limit < other.limit { demands[index].limit = limit }
    }

    /// Returns the set with changed names. If two names become one, their shares are merged.
    func mapNames(_ change: (ExclusionName) -> ExclusionName) -> ExclusionSet {
        var changed = ExclusionSet()
        for demand in demands {
            changed.insert(Demand(name: change(demand.name), share: demand.share, limit: demand.limit))
        }
        changed.conflict = conflict ?? changed.conflict
        return changed
    }

    /// The number of names up to which a linear search suffices. Most operations have a handful of names; an operation
    /// that locks a name for each of its files may have thousands.
    private static let few = 16

    private func index(of name: ExclusionName) -> Int? {
        demands.count > Self.few ? indexByName[name] : demands.firstIndex { $0.name == name }
    }

    private mutating func noteIndices() {
        if demands.count <= Self.few { return }
        for index in indexByName.count..<demands.count { indexByName[demands[index].name] = index }
    }

    /// The reason why this can never be granted; nil if it can. Two shares that can be granted may merge into one that
    /// cannot: one with the smaller limit and the greater weight.
    var problem: String? {
        for demand in demands {
            if let problem = demand.share.problem(for: demand.name) { return problem }
        }
        return nil
    }
}

extension ExclusionSet: RandomAccessCollection {
    var startIndex: Int { demands.startIndex }
    var endIndex: Int { demands.endIndex }
    var isEmpty: Bool { demands.isEmpty }
    subscript(index: Int) -> Demand { demands[index] }
}
