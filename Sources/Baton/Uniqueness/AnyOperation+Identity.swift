/// What an add decides about a unique operation. All of it is called by the thread that links the operation, before it
/// does so: an end that comes meanwhile is left to that thread, and the edges may still change.
extension AnyOperation {
    final func enterIdentities(on core: QueueCore) {
        let uniqueness = withLife { life in
            // One that has ended already is no duplicate, and replaces nothing.
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
                // False: it has finished in between.
                if join(other, uniqueness) { return }
            }
        }
    }

    private final func endWithoutNeeds(with error: OperationError) {
        dropNeeds()
        _ = endBeforeRun(with: error)
    }

    /// It will not run: it needs nothing, and waits for no more than the `original`, if there is one.
    private final func dropNeeds(waitingFor original: AnyOperation? = nil) {
        // Held for the release after unlocking.
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

    /// False: it has finished.
    private final func join(_ original: AnyOperation, _ uniqueness: Uniqueness) -> Bool {
        guard outputType == original.outputType else {
            let misuse = Misuse(.joinedAnotherOutput(original.reference), operation: reference)
            endWithoutNeeds(with: .misuse(misuse))
            return true
        }
        // Besides its edge: it never becomes ready, but ends when it is told.
        dependencyCounter.expectOneMore()
        guard let place = original.takeJoiner(self) else {
            _ = dependencyCounter.countDown()
            return false
        }
        dropNeeds(waitingFor: original)
        withLife { _ in uniqueness.joined = Joined(original: original, place: place) }
        return true
    }

    // MARK: Replacing

    private final func replace(_ former: [AnyOperation]) {
        // Of a cycle it is needed itself.
        let own = Set((needs + [self]).map { ObjectIdentifier($0) })
        withLife { _ in for operation in former { edges.append(operation) } }
        let reason = CancellationReason.replaced(by: reference)
        let needs = former.flatMap(\.needs).filter { !own.contains(ObjectIdentifier($0)) }
        // Those that have not begun end here, whatever they wait for.
        for operation in former { operation.cancel(reason: reason) { $0.phase == .added } }
        if let path = cycle(behind: former) {
            _ = endBeforeRun(with: .dependencyCycle(path))
        } else {
            for operation in former { operation.cancel(reason: reason) { _ in true } }
        }
        // What came along with them, and not with this.
        for need in needs where need.withLife({ $0.isPulledIn }) { need.cancelIfUnneeded(reason: reason) }
    }

    /// One of them waits for this, perhaps through what is about to be added behind it.
    private final func cycle(behind former: [AnyOperation]) -> [OperationReference]? {
        CycleFinder.cycle(through: self) { operation in
            if operation === self { return former }
            return operation.withLife { $0.phase == .created ? operation.edges.all : nil } ?? operation.waitsFor
        }?.filter { !$0.isFence }.map(\.reference)
    }
}

/// What can be joined only by the like.
private protocol HasOutput {
    static var outputType: ObjectIdentifier { get }
}

extension AsyncOperation: HasOutput {
    fileprivate static var outputType: ObjectIdentifier { ObjectIdentifier(Output.self) }
}

extension AnyOperation {
    private final var outputType: ObjectIdentifier? { (type(of: self) as? any HasOutput.Type)?.outputType }
}
