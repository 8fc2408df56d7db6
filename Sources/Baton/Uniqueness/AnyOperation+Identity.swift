/// The decision of an add about a unique operation. The thread that links the operation calls these methods before it
/// links: an end that comes meanwhile is left to that thread, and the edges may still change.
extension AnyOperation {
    final func enterIdentities(on core: QueueCore) {
        let uniqueness = withLife { life in
            // An operation that has already ended is no duplicate and replaces nothing.
            life.optionalState?.endAfterLinking == nil ? life.optionalState?.uniqueness : nil
        }
        guard let uniqueness else { return }
        let scope = core.resolve(uniqueness.scope)
        let identity =
            scope == .process ? uniqueness.identity : ScopedIdentity(uniqueness.identity, within: scope)
        while true {
            switch Deduplication.enter(self, identity, replaces: uniqueness.policy == .replace) {
            case .entered(let place, let former):
                withLife { _ in uniqueness.place = place }
                if !former.isEmpty { replace(former) }
                return
            case .taken(let other):
                guard uniqueness.policy == .join else {
                    return endWithoutNeeds(with: .skipped(.duplicate(of: other.reference)))
                }
                // Otherwise the other operation has finished in between.
                if join(other, uniqueness) { return }
            }
        }
    }

    private final func endWithoutNeeds(with error: OperationError) {
        dropRequirements()
        _ = endBeforeRun(with: error)
    }

    /// Drops what the operation needs, because it will not run. It waits only for the `original`, if there is one.
    private final func dropRequirements(waitingFor original: AnyOperation? = nil) {
        // The former body, edges and preconditions are released after unlocking.
        let needs = withLife { life in
            let needs = (
                body.take(), edges.take(), (life.optionalState?.takePreconditions(), life.optionalState?.executor)
            )
            if let original { edges.append(original) }
            life.optionalState?.policies = []
            life.optionalState?.executor = nil
            return needs
        }
        Trampoline.run(.release(Remains(body: needs.0, edges: needs.1, optionalState: nil, outcome: ())))
        Trampoline.run(.drop(needs.2))
    }

    // MARK: Joining

    /// Joins the original. Returns false if it has finished.
    private final func join(_ original: AnyOperation, _ uniqueness: Uniqueness) -> Bool {
        guard outputType == original.outputType else {
            let misuse = Misuse(.joinedAnotherOutput(original.reference), operation: reference)
            endWithoutNeeds(with: .misuse(misuse))
            return true
        }
        // This count is in addition to that of the edge: the operation never becomes ready, and ends when the original
        // tells it.
        dependencyCounter.expectOneMore()
        guard let place = original.addJoiner(self) else {
            _ = dependencyCounter.countDown()
            return false
        }
        dropRequirements(waitingFor: original)
        withLife { _ in uniqueness.joined = Joined(original: original, place: place) }
        return true
    }

    // MARK: Replacing

    private final func replace(_ former: [AnyOperation]) {
        // Includes this operation, because on a cycle it is among the dependencies of the replaced operations.
        let own = Set((transitiveDependencies + [self]).map { ObjectIdentifier($0) })
        withLife { _ in for operation in former { edges.append(operation) } }
        let reason = CancellationReason.replaced(by: reference)
        let needs = former.flatMap(\.transitiveDependencies).filter { !own.contains(ObjectIdentifier($0)) }
        // Replaced operations that have not begun end here, whatever they wait for, so only those that have begun can
        // be on a cycle.
        for operation in former { operation.cancel(reason: reason) { $0.phase == .added } }
        if let path = cycle(behind: former) {
            _ = endBeforeRun(with: .dependencyCycle(path))
        } else {
            for operation in former { operation.cancel(reason: reason) { _ in true } }
        }
        // Only operations that an add has pulled in are cancelled, and not those that a caller has added explicitly.
        for need in needs where need.withLife({ $0.wasAddedAsUpstream }) { need.cancelIfUnneeded(reason: reason) }
    }

    /// The cycle that arises if a replaced operation waits for this one, perhaps through operations that are about to
    /// be added behind it.
    private final func cycle(behind former: [AnyOperation]) -> [OperationReference]? {
        CycleFinder.cycle(through: self) { operation in
            if operation === self { return former }
            return operation.withLife { $0.phase == .created ? operation.edges.all : nil } ?? operation.waitsFor
        }?.filter { !$0.isFence }.map(\.reference)
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
