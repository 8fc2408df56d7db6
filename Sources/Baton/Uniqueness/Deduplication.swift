/// The identities of the unfinished unique operations in the process: the driver of ``DeduplicationTable``, which it
/// guards with a lock.
enum Deduplication {
    typealias EntryNumber = DeduplicationTable<AnyOperation>.EntryNumber

    private static let table = Locked(DeduplicationTable<AnyOperation>())

    enum EntryResult {
        /// The operation now owns the identity. It replaces the given unfinished owners, and must start after them.
        case entered(at: EntryNumber, behind: [AnyOperation])
        case taken(by: AnyOperation)
    }

    /// Makes the operation an owner of the identity, if nobody else owns it or `replaces` is true.
    ///
    /// The call is atomic for its callers, although identities are compared outside the lock: if another identity is
    /// inserted during the comparison, ``DeduplicationTable/insert(_:for:ifNoneAfter:)`` fails, and the loop compares
    /// that identity next.
    static func enter(_ operation: AnyOperation, _ identity: any Identity, replaces: Bool) -> EntryResult {
        var compared: EntryNumber = 0
        while true {
            let candidates = table.withLock { $0.candidates(for: identity.hash, after: compared) }
            guard let found = candidates.first(where: { $0.identity.equals(identity) }) else {
                compared = candidates.last?.place ?? compared
                let place = table.withLock { $0.insert(identity, for: operation, ifNoneAfter: compared) }
                if let place { return .entered(at: place, behind: []) }
                continue
            }
            // An operation publishes its outcome before it leaves the table, so an owner may have finished.
            let finished = table.withLock { $0.owners(at: found.place) }.filter(\.hasFinished)
            let entrance = table.withLock {
                $0.enter(operation, at: found.place, ignoring: finished, replaces: replaces)
            }
            switch entrance {
            case .entered(let former): return .entered(at: found.place, behind: former)
            case .taken(let other): return .taken(by: other)
            case .gone: break
            }
        }
    }

    /// Removes the operation from the owners of the identity when it finishes.
    static func remove(_ operation: AnyOperation, at place: EntryNumber) {
        // The identity is released after unlocking.
        let identity = table.withLock { $0.remove(operation, at: place) }
        withExtendedLifetime(identity) {}
    }
}

/// The identity of a unique operation: a key of any type, in a namespace.
///
/// Hashing and comparing keys runs the user's code, so neither is done under a lock. The hash is computed once, when
/// the identity is made.
protocol Identity: AnyObject, Sendable {
    var hash: Int { get }

    func equals(_ other: any Identity) -> Bool
}

/// A namespace of keys. A type and a text are different namespaces, even if the text is the name of the type.
enum Namespace: Hashable {
    case type(ObjectIdentifier)
    case text(String)
}

final class KeyIdentity<Key: Hashable & Sendable>: Identity {
    private let key: Key
    private let namespace: Namespace
    let hash: Int

    init(_ key: Key, in namespace: Namespace) {
        self.key = key
        self.namespace = namespace
        var hasher = Hasher()
        hasher.combine(namespace)
        hasher.combine(ObjectIdentifier(Key.self))
        hasher.combine(key)
        hash = hasher.finalize()
    }

    func equals(_ other: any Identity) -> Bool {
        guard hash == other.hash, let other = other as? KeyIdentity<Key> else { return false }
        return namespace == other.namespace && key == other.key
    }
}

/// An identity that is unique only within one scope.
final class ScopedIdentity: Identity {
    private let base: any Identity
    private let scope: OperationScope
    let hash: Int

    init(_ base: any Identity, within scope: OperationScope) {
        self.base = base
        self.scope = scope
        hash = base.hash ^ scope.hashValue
    }

    func equals(_ other: any Identity) -> Bool {
        guard let other = other as? ScopedIdentity else { return false }
        return scope == other.scope && base.equals(other.base)
    }
}

// MARK: - Table

/// The identities of unfinished operations. A pure state machine; ``Deduplication`` is its driver.
///
/// The table never compares identities, because that runs the user's code. The caller compares those with the same hash
/// outside the lock. A new identity is inserted only if no other identity with its hash has been inserted meanwhile.
struct DeduplicationTable<Owner: AnyObject> {
    /// A number that identifies an entry of the table. Later entries have higher numbers.
    typealias EntryNumber = UInt64

    private struct Entry {
        let identity: any Identity
        /// The owners, oldest first. There are several if an owner has replaced others that have not finished.
        var owners: [Owner]
    }

    private var entries: [EntryNumber: Entry] = [:]
    /// The places of the identities with a hash, in ascending order.
    private var places: [Int: [EntryNumber]] = [:]
    private var lastPlace: EntryNumber = 0

    var count: Int { entries.count }

    /// An identity that may be equal to another one, because both have the same hash. The caller compares them.
    struct Candidate {
        let place: EntryNumber
        let identity: any Identity
    }

    /// The identities with this hash whose places are higher than `place`.
    func candidates(for hash: Int, after place: EntryNumber) -> [Candidate] {
        (places[hash] ?? []).filter { $0 > place }.map { Candidate(place: $0, identity: entries[$0]!.identity) }
    }

    /// The owners of the identity, or an empty array if the identity has become free.
    func owners(at place: EntryNumber) -> [Owner] { entries[place]?.owners ?? [] }

    /// Inserts an identity. Returns nil if identities with the same hash have places higher than `last`; the caller has
    /// to compare those first.
    mutating func insert(_ identity: any Identity, for owner: Owner, ifNoneAfter last: EntryNumber) -> EntryNumber? {
        if let newest = places[identity.hash]?.last, newest > last { return nil }
        lastPlace += 1
        entries[lastPlace] = Entry(identity: identity, owners: [owner])
        places[identity.hash, default: []].append(lastPlace)
        return lastPlace
    }

    enum EntryResult {
        /// The owner has the identity. The given owners have not finished, as far as is known.
        case entered(behind: [Owner])
        /// The newest owner of the identity has it.
        case taken(by: Owner)
        /// The identity has become free since the caller looked it up.
        case gone
    }

    /// Adds an owner to an identity, if it has no unfinished owner or these are to be replaced.
    ///
    /// - Parameter finished: Owners that the caller has found finished, and that are about to leave.
    mutating func enter(
        _ owner: Owner, at place: EntryNumber, ignoring finished: [Owner], replaces: Bool
    ) -> EntryResult {
        guard let owners = entries[place]?.owners else { return .gone }
        let unfinished = owners.filter { owner in !finished.contains { $0 === owner } }
        if !replaces, let newest = unfinished.last { return .taken(by: newest) }
        entries[place]!.owners = unfinished + [owner]
        return .entered(behind: unfinished)
    }

    /// Removes an owner. Returns the identity if it has become free, for the caller to release after unlocking.
    mutating func remove(_ owner: Owner, at place: EntryNumber) -> (any Identity)? {
        guard let entry = entries[place] else { return nil }
        let rest = entry.owners.filter { $0 !== owner }
        if !rest.isEmpty {
            entries[place]!.owners = rest
            return nil
        }
        entries[place] = nil
        let hash = entry.identity.hash
        places[hash]!.removeAll { $0 == place }
        if places[hash]!.isEmpty { places[hash] = nil }
        return entry.identity
    }
}

// MARK: - Decision of an add

/// Decides, while a unique operation is being added, whether its identity is free.
///
/// The thread that adds the operation calls these methods before it links the operation. The edges may therefore still
/// change, and if the operation ends early meanwhile, that thread completes the end.
extension AnyOperation {
    final func claimIdentity(on core: QueueCore) {
        let uniqueness = withLifecycle { life in
            // An operation that has already ended is not a duplicate and replaces nothing.
            life.optionalState?.endAfterLinking == nil ? life.optionalState?.uniqueness : nil
        }
        guard let uniqueness else { return }
        let scope = core.resolve(uniqueness.scope)
        let identity =
            scope == .process ? uniqueness.identity : ScopedIdentity(uniqueness.identity, within: scope)
        while true {
            switch Deduplication.enter(self, identity, replaces: uniqueness.policy == .replace) {
            case .entered(let place, let former):
                withLifecycle { _ in uniqueness.place = place }
                if !former.isEmpty { replace(former) }
                return
            case .taken(let other):
                guard uniqueness.policy == .join else {
                    return endWithoutRunning(with: .skipped(.duplicate(of: referenceOfOriginal(other))))
                }
                // If `join` fails, the other operation has just finished, and the identity may be free.
                if join(other, uniqueness) { return }
            }
        }
    }

    /// Returns the reference of the operation that has the identity of this one. It says whether one of the two depends
    /// directly on the other.
    private final func referenceOfOriginal(_ original: AnyOperation) -> OperationReference {
        var reference = original.reference
        reference.dependsOnDuplicate = dependsDirectly(on: original) || original.dependsDirectly(on: self)
        return reference
    }

    /// False if this operation has begun, because it then waits for none of its dependencies.
    private final func dependsDirectly(on source: AnyOperation) -> Bool {
        sourcesIfNotBegun.contains { $0 === source }
    }

    private final func endWithoutRunning(with error: OperationError) {
        releaseUnneededState()
        _ = endBeforeRun(with: error)
    }

    /// Releases the body, the edges and the preconditions, because the operation will not run. It waits only for the
    /// `original`, if there is one.
    private final func releaseUnneededState(waitingFor original: AnyOperation? = nil) {
        // The former body, edges and preconditions are released after unlocking.
        let needs = withLifecycle { life in
            let needs = (
                body: body.take(), edges: edges.take(), preconditions: life.optionalState?.takePreconditions(),
                executor: life.optionalState?.executor
            )
            if let original { edges.append(original) }
            life.optionalState?.policies = []
            life.optionalState?.executor = nil
            return needs
        }
        Trampoline.run(.release(Remains(body: needs.body, edges: needs.edges, optionalState: nil, outcome: ())))
        Trampoline.run(.drop((needs.preconditions, needs.executor)))
    }

    // MARK: Joining

    /// Joins the original. Returns false if it has finished.
    private final func join(_ original: AnyOperation, _ uniqueness: Uniqueness) -> Bool {
        guard outputType == original.outputType else {
            let misuse = Misuse(
                .joinedAnotherOutput(original.reference), operation: reference, callSite: uniqueness.callSite)
            endWithoutRunning(with: .misuse(misuse))
            return true
        }
        // The operation counts the original once more than for the edge, so it does not become ready when the original
        // finishes. Instead, the original ends it with its own outcome.
        dependencyCounter.expectOneMore()
        guard let place = original.addJoiner(self) else {
            _ = dependencyCounter.countDown()
            return false
        }
        releaseUnneededState(waitingFor: original)
        withLifecycle { _ in uniqueness.joined = Joined(original: original, place: place) }
        return true
    }

    // MARK: Replacing

    private final func replace(_ former: [AnyOperation]) {
        // Collected first, because a cancellation drops the dependencies of an operation.
        let needs = Self.needsToCancel(of: former)
        let kept = needs.isEmpty ? [] : unlinkedUpstream(through: former)
        let reasons = reasonsToReplace(former)
        withLifecycle { _ in for operation in former { edges.append(operation) } }
        // A replaced operation that has not begun ends here, whatever it waits for, so it cannot be on a cycle. It is
        // cancelled after the search, because this operation fails if it is on a cycle, and then replaces nothing.
        let pending = zip(former, reasons).filter { $0.0.withLifecycle { $0.phase == .added } }
        if failIfOnCycle(behind: former, assumingEnded: pending.map(\.0)) { return }
        for (operation, reason) in pending { operation.cancel(reason: reason) { $0.phase == .added } }
        // A pending operation may have begun since the search.
        if pending.contains(where: \.0.mayStillRun), failIfOnCycle(behind: former) { return }
        for (operation, reason) in zip(former, reasons) { operation.cancel(reason: reason) { _ in true } }
        Self.cancelUnneeded(needs, except: kept, reason: .replaced(by: reference))
    }

    /// Returns the reasons for which the operations are cancelled. Each says whether the operation or this one depends
    /// directly on the other.
    private final func reasonsToReplace(_ former: [AnyOperation]) -> [CancellationReason] {
        let sources = Set(sourcesIfNotBegun.map { ObjectIdentifier($0) })
        return former.map { former in
            var newer = reference
            newer.dependsOnDuplicate = sources.contains(ObjectIdentifier(former)) || former.dependsDirectly(on: self)
            return .replaced(by: newer)
        }
    }

    /// Returns the dependencies of the replaced operations that are cancelled with them if nobody else needs them: only
    /// operations that were added because another operation depends on them, and none that a caller has added
    /// explicitly.
    private static func needsToCancel(of former: [AnyOperation]) -> [AnyOperation] {
        former.flatMap(\.needsIfNotBegun).filter { $0.withLifecycle { $0.wasAddedAsUpstream } }
    }

    /// Cancels the operations that nobody needs any more, and then those that only these have needed.
    ///
    /// The search does not go beyond an operation that stays, because that one needs its dependencies. So its time
    /// depends on the number of operations that it cancels, and not on the size of the graph behind them.
    private static func cancelUnneeded(
        _ needs: [AnyOperation], except kept: Set<ObjectIdentifier>, reason: CancellationReason
    ) {
        var needs = needs
        while let need = needs.popLast() {
            if kept.contains(ObjectIdentifier(need)) || !need.withLifecycle({ $0.wasAddedAsUpstream }) { continue }
            needs += need.cancelIfUnneeded(reason: reason)
        }
    }

    /// Returns this operation and those of its direct and indirect dependencies that do not know yet that it needs
    /// them. All others have an unfinished dependent.
    ///
    /// An operation is among the dependents of its sources when it has been linked, so the search goes on only through
    /// operations that are not linked, through those that have joined another one, and through the replaced operations,
    /// which are about to leave their sources. The result includes this operation, because on a cycle it is among the
    /// dependencies of the replaced operations.
    private final func unlinkedUpstream(through former: [AnyOperation]) -> Set<ObjectIdentifier> {
        let former = Set(former.map { ObjectIdentifier($0) })
        var seen: Set = [ObjectIdentifier(self)]
        var open: [AnyOperation] = [self]
        while let operation = open.popLast() {
            let keepsSources =
                operation.dependencyCounter.isLinked && !former.contains(ObjectIdentifier(operation))
                && operation.withLifecycle { $0.optionalState?.uniqueness?.joined == nil }
            if keepsSources { continue }
            for source in operation.sourcesIfNotBegun where seen.insert(ObjectIdentifier(source)).inserted {
                open.append(source)
            }
        }
        return seen
    }

    /// True unless the operation has ended.
    private final var mayStillRun: Bool {
        withLifecycle { life in
            switch life.phase {
            case .created, .added, .evaluating, .executing: true
            case .finishing, .finished: false
            }
        }
    }

    /// Fails this operation if a replaced operation waits for it, perhaps through operations that are about to be added
    /// behind it. Returns true if it has failed.
    private final func failIfOnCycle(behind former: [AnyOperation], assumingEnded ended: [AnyOperation] = []) -> Bool {
        let ended = Set(ended.map { ObjectIdentifier($0) })
        let cycle = CycleFinder.cycle(through: self) { operation in
            if operation === self { return former }
            if ended.contains(ObjectIdentifier(operation)) { return [] }
            return operation.withLifecycle { $0.phase == .created ? operation.edges.all : nil } ?? operation.waitsFor
        }
        guard let cycle else { return false }
        _ = endBeforeRun(with: .dependencyCycle(CycleMember.path(cycle.map { CycleMember($0) })))
        return true
    }
}

/// A type whose operations can be joined only by operations with the same output.
private protocol HasOutput {
    static var outputType: ObjectIdentifier { get }
}

extension AsyncOperation: HasOutput {
    fileprivate static var outputType: ObjectIdentifier { ObjectIdentifier(Output.self) }
}

extension AnyOperation {
    private final var outputType: ObjectIdentifier? { (type(of: self) as? any HasOutput.Type)?.outputType }
}
