/// A claim on a name that keeps others out while an operation holds it, on all queues of the process or of an
/// ``OperationScope``.
///
/// ```swift
/// image.addCondition(.mutuallyExclusive("gpu"))
/// page.addCondition(.limited("example.org", to: 4)).addCondition(.mutuallyExclusive("cache", mode: .shared))
/// ```
///
/// Exclusions of one name meet wherever their operations were added, unless a queue or an exclusion has another scope.
/// `exclusive` tolerates nobody beside it, `shared` everybody but an exclusive one, and a limited one as many as there
/// are permits. An operation gets all of its exclusions at once or none, when its dependencies have finished, its
/// conditions are satisfied and its turn in the queue has come; it gives them back when its outcome is published.
/// Meanwhile it holds no permit and no task. Those who wait are served in the order in which they came. Of two
/// exclusions of one name on one operation the greater counts.
///
/// What an operation's children ask for is taken from what it holds: they exclude one another, not their parent. Its
/// children are what it runs with ``OperationContext/run(_:)``, the children of a ``GroupOperation``, and what
/// conditions bring along, with all that these need; not what it produces, and not what it awaits otherwise. When
/// holders would wait for one another, or for one that waits for their names, one that waits ends with
/// ``OperationError/exclusionDeadlock(_:)``.
///
/// A weight or a limit below 1, or a weight above the limit, ends the operation with ``OperationError/misuse(_:)``. Two
/// limits for one name are ``Misuse``, which is reported, and the smaller counts; a child that its own parent leaves no
/// room for by that ends with it.
///
/// - Complexity: An operation inside n holders of names, one inside the other, takes O(n) to get a name that somebody
///   has. If children inside n holders wait for more of a name, O(n) of them are looked at whenever a holder of it
///   finishes, and O(n²) time is needed to find a deadlock among them.
public struct Exclusion: OperationCondition, Hashable {
    /// Whether others of the name may hold it at the same time.
    @nonexhaustive
    public enum Mode: Sendable, Hashable {
        /// Nobody else may: a writer.
        case exclusive
        /// All who share may: a reader.
        case shared
    }

    let key: ExclusionName
    let share: Share

    /// The name that is held, for errors and explanations.
    public var name: String { "\(key)" }

    /// Itself alone.
    public var exclusions: [Exclusion] { [self] }

    /// Satisfied: the operation waits for the name later, when its conditions have been evaluated.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }

    /// Why this can never be granted; nil if it can.
    var problem: String? { share.problem(for: key) }
}

// Here, so that `addCondition(.mutuallyExclusive("gpu"))` finds them.
extension OperationCondition where Self == Exclusion {
    /// Keeps apart all that give the same name, or lets in those who share it.
    ///
    /// - Parameters:
    ///   - name: What those who exclude one another agree on.
    ///   - mode: Whether it lets in others that share the name.
    ///   - scope: Where the name counts; if nil, as the queue of the operation says: ``AsyncOperationQueue/scope``.
    public static func mutuallyExclusive(
        _ name: String, mode: Exclusion.Mode = .exclusive, within scope: OperationScope? = nil
    ) -> Exclusion {
        Exclusion(key: ExclusionName.text(name).within(scope), share: Share(mode))
    }

    /// Keeps apart all that give the same type, or lets in those who share it.
    ///
    /// A type never meets a text that reads the same, so a library can be sure that nobody else uses its name by
    /// chance.
    ///
    /// - Parameters:
    ///   - type: What those who exclude one another agree on.
    ///   - mode: Whether it lets in others that share the type.
    ///   - scope: Where the type counts; if nil, as the queue of the operation says: ``AsyncOperationQueue/scope``.
    public static func mutuallyExclusive(
        _ type: Any.Type, mode: Exclusion.Mode = .exclusive, within scope: OperationScope? = nil
    ) -> Exclusion {
        Exclusion(key: ExclusionName.type(type).within(scope), share: Share(mode))
    }

    /// Lets in as many at once as their weights together stay within the limit.
    ///
    /// All that use the name give the same limit. The weight is at least 1 and at most the limit.
    ///
    /// - Parameters:
    ///   - name: What those who share the limit agree on.
    ///   - limit: How many units there are.
    ///   - weight: How many units the operation takes.
    ///   - scope: Where the name counts; if nil, as the queue of the operation says: ``AsyncOperationQueue/scope``.
    public static func limited(
        _ name: String, to limit: Int, weight: Int = 1, within scope: OperationScope? = nil
    ) -> Exclusion {
        Exclusion(key: ExclusionName.text(name).within(scope), share: .units(weight, of: limit))
    }
}

extension Exclusion: CustomStringConvertible {
    /// The name, and what is asked of it.
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
