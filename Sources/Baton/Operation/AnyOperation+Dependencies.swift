internal import Synchronization

extension AnyOperation {
    /// Makes this start only after `operation` has finished, whatever its outcome.
    ///
    /// The two may be on different queues. Somebody must add `operation`, too, or this waits for ever; ``explain()``
    /// says so. A cycle of dependencies is found when its last member is added, in large graphs soon after: each of
    /// them then fails with ``OperationError/dependencyCycle(_:)``, and so does each of other cycles that share
    /// operations with it. After the add this is ``Misuse`` and changes nothing.
    @discardableResult
    @inlinable
    public final func addDependency(
        _ operation: consuming AnyOperation, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        connect(to: operation, on: .always, file, line)
        return self
    }

    /// Makes this start only after `operation` has finished, and run only if its outcome is of this kind.
    ///
    /// Otherwise it ends with ``OperationError/skipped(_:)``, naming the dependency, when all its dependencies have
    /// finished; of several the first in the order added. Preconditions are looked at before inputs. `.failure` makes a
    /// fallback, `.always` is what ``addDependency(_:file:line:)`` does. After the add this is ``Misuse`` and changes
    /// nothing.
    @discardableResult
    public final func addDependency(
        _ operation: consuming AnyOperation, on policy: DependencyPolicy, file: StaticString = #fileID,
        line: UInt = #line
    ) -> Self {
        connect(to: operation, on: policy, file, line)
        return self
    }

    /// Apart, so that returning `self` costs nothing where nobody wants it.
    @usableFromInline
    final func connect(
        to operation: consuming AnyOperation, on policy: DependencyPolicy, _ file: StaticString, _ line: UInt
    ) {
        if connect(to: operation, on: policy) != .created { reportTooLate("a dependency", file, line) }
    }

    /// As above, but it is no misuse if its end came before.
    final func connectUnlessDecided(to operation: AnyOperation, on policy: DependencyPolicy) {
        switch connect(to: operation, on: policy) {
        case .created, .finishing, .finished: break
        case .added, .evaluating, .executing: reportTooLate("a dependency", #fileID, #line)
        }
    }

    /// Returns the phase in which it finds the operation. It is too late in any but `created`.
    @inline(__always)
    private final func connect(to operation: consuming AnyOperation, on policy: DependencyPolicy) -> Lifecycle.Phase {
        // The reference is moved into the edge, which saves taking another one and giving it back.
        let source = Unmanaged.passRetained(consume operation)
        let (phase, hasOptionalState) = withLife { life in
            if life.phase == .created {
                edges.append(retained: source)
                if policy != .always { life.add(EdgePolicy(source: source, policy: policy)) }
            }
            return (life.phase, life.borrowedOptionalState != nil)
        }
        if phase != .created { source.release() } else if hasOptionalState { chainGrows() }
        GraphChanges.note()
        return phase
    }

    @inline(never)
    private final func chainGrows() { withLife { $0.optionalState?.chainStart }?.dependencyWasAdded() }

    /// Takes back ``addDependency(_:file:line:)``, with its policy if it had one. Nothing happens if there is no such
    /// dependency.
    ///
    /// A dependency that hands over its output as an input cannot be removed. That, and a removal after the add, is
    /// ``Misuse`` and changes nothing.
    public final func removeDependency(
        _ operation: AnyOperation, file: StaticString = #fileID, line: UInt = #line
    ) {
        enum Answer {
            case done, tooLate, isInput
        }
        var chain: ChainStart?
        let answer = withLife { life -> Answer in
            if life.phase != .created { return .tooLate }
            if edges.isEmpty { return .done }
            chain = life.optionalState?.chainStart
            return remove(operation, life.madeOptionalState(), inputCount: life.inputCount) ? .done : .isInput
        }
        chain?.dependencyWasRemoved()
        GraphChanges.note()
        switch answer {
        case .done: break
        case .tooLate: reportTooLate("a dependency", file, line)
        case .isInput:
            let place = CallSite(file: file, line: line)
            report(Misuse(.removedInput(operation.reference), operation: reference, callSite: place))
        }
    }

    /// False: it hands over an input. Nothing is released by this: the caller has `operation`.
    private final func remove(_ operation: AnyOperation, _ optionalState: OptionalState, inputCount: Int) -> Bool {
        // Taken out, so that it is changed in its place.
        var removals = optionalState.removals.take() ?? Removals()
        defer { optionalState.removals = removals }
        let places = removals.edges.places(of: ObjectIdentifier(operation), in: edges.placeCount) { place in
            edges.source(at: place).map { ObjectIdentifier($0.takeUnretainedValue()) }
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
        let key = Unmanaged.passUnretained(operation).toOpaque()
        let places = removals.policies.places(of: key, in: optionalState.policies.count) { place in
            let edge = optionalState.policies[place]
            return edge.policy == .always ? nil : edge.source.toOpaque()
        }
        places.forEach { optionalState.policies[$0].policy = .always }
        if removals.policies.remove(key) { optionalState.policies.removeAll { $0.policy == .always } }
    }

    /// What this waits for, each once, in the order added; inputs come first. Empty when it has finished.
    public final var dependencies: [AnyOperation] {
        var seen: Set<ObjectIdentifier> = []
        let all = withLife { $0.phase == .finished ? [] : edges.all }
        return all.withoutFences.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    private final func reportTooLate(_ what: String, _ file: StaticString, _ line: UInt) {
        change(what, CallSite(file: file, line: line)) { _ in }
    }
}

extension Lifecycle {
    /// Apart from where the edge is made, because few edges have one.
    @inline(never)
    fileprivate mutating func add(_ policy: EdgePolicy) { madeOptionalState().policies.append(policy) }
}

/// How often dependencies and children of groups have changed in the process, for those who remember what they have
/// found in a graph. Counted from the first time that somebody asks.
package enum GraphChanges {
    private static let isAsked = Atomic<Bool>(false)
    private static let number = Atomic<UInt64>(0)

    /// To be asked before looking at the graph.
    package static var count: UInt64 {
        isAsked.store(true, ordering: .relaxed)
        return number.load(ordering: .acquiring)
    }

    /// After the change. Whoever asked before it and did not see it finds another number; the operation's lock, which
    /// both take, orders the question and this look.
    @inline(__always)
    static func note() { if isAsked.load(ordering: .relaxed) { number.add(1, ordering: .releasing) } }
}

/// Finds the places of a list by what stands there, so that elements can be removed one by one from a long list in any
/// order. Pure.
///
/// Made when the first element is removed. Elements that were appended since then are noted by the next removal, so an
/// append costs nothing. A removed element leaves a hole in the list, until the holes are more than half of it.
struct RemovalIndex<Key: Hashable> {
    private var places: [Key: TinyArray<Int>] = [:]
    private var known = 0
    private var holes = 0

    /// Where the key stands in a list of `count` places, of which `key` tells what stands there; nil: a hole.
    mutating func places(of wanted: Key, in count: Int, _ key: (Int) -> Key?) -> TinyArray<Int> {
        for place in known..<max(known, count) {
            if let key = key(place) { places[key, default: .none].append(place) }
        }
        known = max(known, count)
        return places[wanted] ?? .none
    }

    /// True: the list is to be made again without its holes, and this forgets all places.
    mutating func remove(_ key: Key) -> Bool {
        holes += places.removeValue(forKey: key)?.count ?? 0
        if 2 * holes < known { return false }
        self = Self()
        return true
    }
}

/// What an operation needs to remove its dependencies.
struct Removals {
    var edges = RemovalIndex<ObjectIdentifier>()
    var policies = RemovalIndex<UnsafeMutableRawPointer>()
}
