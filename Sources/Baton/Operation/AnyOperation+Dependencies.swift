extension AnyOperation {
    /// Makes this operation start only after `operation` has finished, whatever the outcome of that is.
    ///
    /// ```swift
    /// upload.addDependency(login)
    /// ```
    ///
    /// The two operations may be on different queues. Somebody must add `operation`, too; otherwise this operation
    /// waits forever, and ``explain()`` says so. A cycle of dependencies is found when its last member is added, and in
    /// large graphs soon afterwards. Each member then fails with ``OperationError/dependencyCycle(_:)``, and so does
    /// each member of other cycles that share operations with it. A call after the add is ``Misuse`` and changes
    /// nothing.
    ///
    /// - Parameter operation: The operation that has to finish first.
    /// - Returns: This operation.
    @discardableResult
    @inlinable
    public final func addDependency(
        _ operation: consuming AnyOperation, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        connect(to: operation, on: .always, file, line)
        return self
    }

    /// Makes this operation start only after `operation` has finished, and run only if its outcome meets `policy`.
    ///
    /// ```swift
    /// cachedImage.addDependency(download, on: .failure)     // a fallback
    /// ```
    ///
    /// If the policy is not met, this operation ends with ``OperationError/skipped(_:)``, which names the dependency,
    /// when all its dependencies have finished. If several policies are not met, the error names the first of these
    /// dependencies in the order added. Policies are checked before inputs. If the same operation is added several
    /// times, all of its policies count, so an operation that asks for a success and for a failure never runs; nor does
    /// one that asks for the failure of an input. The policy `.always` does the same as
    /// ``addDependency(_:file:line:)``. A call after the add is ``Misuse`` and changes nothing.
    ///
    /// - Parameters:
    ///   - operation: The operation that has to finish first.
    ///   - policy: The outcomes of `operation` that let this operation run.
    /// - Returns: This operation.
    @discardableResult
    public final func addDependency(
        _ operation: consuming AnyOperation, on policy: DependencyPolicy, file: StaticString = #fileID,
        line: UInt = #line
    ) -> Self {
        connect(to: operation, on: policy, file, line)
        return self
    }

    /// Separate from the public methods, so that their result costs nothing where the caller discards it.
    @usableFromInline
    final func connect(
        to operation: consuming AnyOperation, on policy: DependencyPolicy, _ file: StaticString, _ line: UInt
    ) {
        appendEdge(to: operation, on: policy) { source, _ in
            reportTooLate("the dependency on \(source.reference)", CallSite(file: file, line: line))
        }
    }

    /// Adds a dependency on the child before this one in an ordered group. It is not misuse if this operation has ended
    /// without having run.
    final func addDependencyUnlessEnded(
        _ operation: AnyOperation, on policy: DependencyPolicy, inOrderOf group: AnyOperation
    ) {
        appendEdge(to: operation, on: policy, isOrder: true) { source, phase in
            let isTooLate =
                switch phase {
                case .created: false
                case .added, .evaluating, .executing: true
                case .finishing, .finished: withLifecycle { $0.hasBegun }
                }
            if isTooLate {
                report(
                    Misuse(
                        .addedBeforeOrderedGroup(group.reference, before: source.reference), operation: reference))
            }
        }
    }

    /// Adds the dependency, if the phase is `created`. Otherwise calls `isTooLate` with the operation and the phase.
    @inline(__always)
    private final func appendEdge(
        to operation: consuming AnyOperation, on policy: DependencyPolicy, isOrder: Bool = false,
        _ isTooLate: (AnyOperation, Lifecycle.Phase) -> Void
    ) {
        // The reference is moved into the edge, which saves a retain and a release. If it is too late for an edge, it
        // is released at the end of this call.
        var source: Retained<AnyOperation>? = Retained(consume operation)
        let (phase, hasOptionalState) = withLifecycle { life in
            if life.phase == .created, let source = source.take() {
                if policy != .always {
                    life.add(EdgePolicy(source: source.unretained, policy: policy, isOrder: isOrder))
                }
                edges.append(source)
            }
            return (life.phase, life.borrowedOptionalState != nil)
        }
        if phase == .created, hasOptionalState { chainGrows() }
        GraphChanges.note()
        if let source = source.take() { isTooLate(source.take(), phase) }
    }

    @inline(never)
    private final func chainGrows() { withLifecycle { $0.optionalState?.chainStart }?.dependencyWasAdded() }

    /// Removes a dependency that ``addDependency(_:file:line:)`` or ``addDependency(_:on:file:line:)`` has added.
    ///
    /// The policy of the dependency is removed with it. Nothing happens if there is no such dependency. A dependency
    /// that hands over its output as an input cannot be removed: trying to do so is ``Misuse`` and changes nothing, and
    /// so is a call after the add.
    ///
    /// - Parameter operation: The operation that this one no longer waits for.
    /// - Complexity: O(n) for n dependencies of this operation; removing all of them one by one takes O(n) as well.
    public final func removeDependency(
        _ operation: AnyOperation, file: StaticString = #fileID, line: UInt = #line
    ) {
        enum Removal {
            case removed, tooLate, isInput
        }
        var chain: ChainStart?
        let removal = withLifecycle { life -> Removal in
            if life.phase != .created { return .tooLate }
            if edges.isEmpty { return .removed }
            chain = life.optionalState?.chainStart
            return remove(operation, life.ensureOptionalState(), inputCount: life.inputCount) ? .removed : .isInput
        }
        chain?.dependencyWasRemoved()
        GraphChanges.note()
        switch removal {
        case .removed: break
        case .tooLate:
            reportTooLate("the dependency on \(operation.reference)", CallSite(file: file, line: line))
        case .isInput:
            let place = CallSite(file: file, line: line)
            report(Misuse(.removedInput(operation.reference), operation: reference, callSite: place))
        }
    }

    /// Returns false if the operation hands over an input. This releases no operation under the lock, because the
    /// caller holds `operation`.
    private final func remove(_ operation: AnyOperation, _ optionalState: OptionalState, inputCount: Int) -> Bool {
        // Takes the index out of the optional state, so that it is changed in place and not copied.
        var removals = optionalState.removals.take() ?? Removals()
        defer { optionalState.removals = removals }
        let places = removals.edges.places(of: ObjectIdentifier(operation), in: edges.placeCount) { place in
            edges.source(at: place).map { ObjectIdentifier($0.object) }
        }
        if places.isEmpty { return true }
        if places[0] < inputCount { return false }
        places.forEach { _ = edges.removeSource(at: $0) }
        if removals.edges.remove(ObjectIdentifier(operation)) { edges.removeHoles() }
        removePolicies(of: operation, optionalState, &removals)
        return true
    }

    private final func removePolicies(
        of operation: AnyOperation, _ optionalState: OptionalState, _ removals: inout Removals
    ) {
        if optionalState.policies.isEmpty { return }
        let key = Unretained(operation)
        let places = removals.policies.places(of: key, in: optionalState.policies.count) { place in
            let edge = optionalState.policies[place]
            return edge.policy == .always ? nil : edge.source
        }
        places.forEach { optionalState.policies[$0].policy = .always }
        if removals.policies.remove(key) { optionalState.policies.removeAll { $0.policy == .always } }
    }

    /// The operations that this one waits for, each once, in the order added; inputs come first.
    ///
    /// The array is empty when this operation has finished.
    ///
    /// - Complexity: O(n) for n dependencies.
    public final var dependencies: [AnyOperation] {
        var seen: Set<ObjectIdentifier> = []
        let all = withLifecycle { $0.phase == .finished ? [] : edges.all }
        return all.withoutFences.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    @inline(never)
    private final func reportTooLate(_ what: String, _ callSite: CallSite?) {
        change(what, callSite) { _ in }
    }
}

extension Lifecycle {
    /// Separate from the code that makes the edge, because few edges have a policy.
    @inline(never)
    fileprivate mutating func add(_ policy: EdgePolicy) { ensureOptionalState().policies.append(policy) }
}

// MARK: - Policies

/// The outcomes of a dependency that let the dependent run. See ``AnyOperation/addDependency(_:on:file:line:)``.
@nonexhaustive
public enum DependencyPolicy: Sendable, Hashable, CaseIterable {
    /// The dependency has an output.
    case success
    /// The dependency has an output, or was skipped because it had nothing to do, which `make` calls up to date.
    ///
    /// If the dependency was skipped because an operation before it had failed or was cancelled, the policy is not met,
    /// and the error of the dependent names that first operation.
    case noFailure
    /// The dependency has an error, and was neither cancelled nor skipped. Use it for a fallback.
    case failure
    /// The dependency has any outcome. A dependency without a policy has this one. Use it for cleaning up.
    case always

    /// Returns whether such an outcome lets the dependent run.
    ///
    /// For ``noFailure`` the outcome alone does not decide: a dependency that was skipped because of an earlier failure
    /// or cancel does not meet it.
    ///
    /// - Parameter outcome: The outcome of the dependency.
    public func isMet(by outcome: OperationOutcome) -> Bool {
        switch (self, outcome) {
        case (.always, _), (.success, .success), (.failure, .failure), (.noFailure, .success), (.noFailure, .skipped):
            true
        case (.noFailure, .failure), (.noFailure, .cancelled): false
        case (.success, .failure), (.success, .cancelled), (.success, .skipped): false
        case (.failure, .success), (.failure, .cancelled), (.failure, .skipped): false
        }
    }
}

/// The policy of one dependency. The edge retains the source.
struct EdgePolicy {
    let source: Unretained<AnyOperation>
    /// Never `.always` unless the dependency was removed; the source may then have been released.
    var policy: DependencyPolicy
    /// True if the policy is that of an ordered group.
    var isOrder = false

    /// True if the source keeps the dependent from running. Read it only after the source has finished.
    var isUnmet: Bool {
        policy != .always
            && source.use { source in
                !policy.isMet(by: source.outcomeKind) || policy == .noFailure && source.failure?.earlierFailure != nil
            }
    }

    /// The reason to skip the dependent; nil if the policy is met. Read it only after the source has finished.
    var skipReason: SkipReason? {
        if !isUnmet { return nil }
        return source.use { source in
            if policy == .noFailure, let (first, outcome) = source.failure?.earlierFailure {
                return reason(first, outcome, .laterDependency)
            }
            return reason(source.reference, source.outcomeKind, isOrder ? .order : .dependency)
        }
    }

    private func reason(
        _ source: OperationReference, _ outcome: OperationOutcome, _ demandSource: UnmetDemand.Source
    ) -> SkipReason {
        var source = source
        source.unmetDemand = UnmetDemand(source: demandSource, policy: policy)
        return .edge(source: source, outcome: outcome)
    }
}

extension OperationError {
    /// The first operation that had failed or was cancelled, so that the operation with this error did not run; nil if
    /// there was none.
    fileprivate var earlierFailure: (source: OperationReference, outcome: OperationOutcome)? {
        switch self {
        case .skipped(.edge(let source, let outcome)) where outcome == .failure || outcome == .cancelled:
            (source, outcome)
        case .dependencyFailed(let source, _, let cause): (source, cause.outcome)
        default: nil
        }
    }
}

// MARK: - Removal

/// Finds the places of an element in a list, so that elements can be removed one by one from a long list in any order.
/// A pure value.
///
/// The index is made when the first element is removed. Each removal indexes the elements that were appended since the
/// previous removal, so an append costs nothing. A removed element leaves a hole in the list, until at least half
/// of the list consists of holes.
struct RemovalIndex<Key: Hashable> {
    private var places: [Key: TinyArray<Int>] = [:]
    private var known = 0
    private var holes = 0

    /// Returns the places of `wanted` in a list of `count` places. The closure returns the key of the element at a
    /// place, or nil for a hole.
    mutating func places(of wanted: Key, in count: Int, _ key: (Int) -> Key?) -> TinyArray<Int> {
        assert(count >= known, "The list becomes shorter only when `remove(_:)` says so.")
        for place in known..<count {
            if let key = key(place) { places[key, default: .none].append(place) }
        }
        known = count
        return places[wanted] ?? .none
    }

    /// Forgets the places of `key`. Returns true if the caller must now rebuild the list without its holes; the index
    /// then forgets all places.
    mutating func remove(_ key: Key) -> Bool {
        holes += places.removeValue(forKey: key)?.count ?? 0
        if 2 * holes < known { return false }
        self = Self()
        return true
    }
}

/// The indices that an operation needs to remove its dependencies.
struct Removals {
    var edges = RemovalIndex<ObjectIdentifier>()
    var policies = RemovalIndex<Unretained<AnyOperation>>()
}

// MARK: - Changes of the graph

/// Counts the changes of dependencies and of children of groups in the process, so that a reader can cache what it has
/// found in a graph. Counting begins with the first read.
package enum GraphChanges {
    private static let hasReader = AtomicFlag()
    private static let version = VersionCounter()

    /// The number of changes so far. Read it before looking at the graph.
    package static var count: UInt64 {
        hasReader.isSet = true
        return version.current
    }

    /// Counts a change; call this after the change. A reader sets `hasReader` and then reads the graph under the
    /// operation's lock. If the reader misses the change, it took that lock before the thread that made the change did,
    /// so it finds `hasReader` set, and the reader later finds another count.
    @inline(__always)
    static func note() { if hasReader.isSet { version.advance() } }
}
