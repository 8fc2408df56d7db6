internal import Baton
internal import Foundation

/// An operation of ours as one of Foundation's: for an `OperationQueue`, and for what depends on it there.
///
/// It holds ours, and the queue until it has finished. Ours does not hold it.
final class BridgedOperation: Foundation.Operation, @unchecked Sendable {
    // @unchecked: what it adds to Foundation's operation is constant or locked.

    private let operation: AnyOperation
    private let table: Counterparts<BridgedOperation>
    private let machine = LockedState(BridgeMachine())
    /// Nil when it has finished.
    private let queue: LockedState<AsyncOperationQueue?>

    init(of operation: AnyOperation, on queue: AsyncOperationQueue, in table: Counterparts<BridgedOperation>) {
        self.operation = operation
        self.table = table
        self.queue = LockedState(queue)
        super.init()
        name = operation.reference.name
        queuePriority = operation.priority.inFoundation
    }

    deinit {
        table.forget(self, of: operation)
        stopWaiting()
    }

    /// To be called once, when it is the one that others find, too.
    func follow() {
        operation.didCancel { [weak self] _ in self?.noteCancel() }
    }

    // MARK: What it waits for in Foundation

    /// The Foundation operations behind ours, by their identities, and how many of them have not finished.
    private struct Waits {
        var watches: [ObjectIdentifier: EndWatch] = [:]
        var unfinished = 0
        /// It waits for nothing any more.
        var isOver = false

        var isSatisfied: Bool { isOver || unfinished == 0 }
    }

    private let waits = LockedState(Waits())

    /// Started before the Foundation operations that ours waits for, it would keep a slot of its queue that those may need.
    ///
    /// It is looked for them whenever Foundation asks, because dependencies may be added in any order. Not by dependencies in
    /// Foundation: on Linux one that has not finished would keep the address of a bridge that is released.
    private func lookBehind() {
        for foundation in FoundationStandIn.unfinished(behind: operation) where foundation !== self {
            let id = ObjectIdentifier(foundation)
            let isNew = waits.withLock { waits in
                if waits.isOver || waits.watches[id] != nil { return false }
                waits.unfinished += 1
                return true
            }
            if !isNew { continue }
            let watch = EndWatch(of: foundation) { [weak self] in self?.noteEnd() }
            // Two may have found the same one: both watch it, and both have counted it.
            let isOver = waits.withLock { waits in
                if !waits.isOver { waits.watches[id] = watch }
                return waits.isOver
            }
            if isOver { watch.stop() }
        }
    }

    private func noteEnd() {
        let isLast = waits.withLock { waits in
            waits.unfinished -= 1
            return waits.unfinished == 0
        }
        if !isLast { return }
        lookAgain()
        // On Linux, a queue that is adding it at this moment has seen it wait, and does not hear of this.
        let later = AsyncOperation<Void>.delay(.milliseconds(50))
        later.didFinish { [weak self] _ in self?.lookAgain() }
        AsyncOperationQueue.foundation.add(later)
    }

    /// Has Foundation ask anew whether it is ready.
    func lookAgain() {
        if machine.withLock({ $0.phase }) != .idle { return }
        willChangeValue(for: \.isReady)
        didChangeValue(for: \.isReady)
    }

    private func stopWaiting() {
        let watches = waits.withLock { waits in
            waits.isOver = true
            defer { waits.watches = [:] }
            return waits.watches
        }
        for watch in watches.values { watch.stop() }
    }

    // MARK: What Foundation asks

    override var isReady: Bool {
        if !super.isReady { return false }
        // On Linux a queue asks all that wait whenever one has finished. What is to come is looked for when what was found has ended.
        if isCancelled || !waits.withLock(\.isSatisfied) { return isCancelled }
        lookBehind()
        return waits.withLock(\.isSatisfied)
    }

    override var isAsynchronous: Bool { true }

    override var isExecuting: Bool { machine.withLock { $0.isExecuting } }

    override var isFinished: Bool { machine.withLock { $0.isFinished } }

    override var isCancelled: Bool { super.isCancelled || operation.isCancelled }

    // MARK: What Foundation does

    /// Called by its queue, or by hand; after the first time it does nothing.
    override func start() {
        guard machine.withLock({ $0.claimStart() }) else { return }
        stopWaiting()
        willChangeValue(for: \.isExecuting)
        machine.withLock { $0.execute() }
        didChangeValue(for: \.isExecuting)
        let queue = queue.withLock { $0 }
        // First: what is added by nobody else would not finish without it. One that was cancelled has finished, or is about to.
        if !operation.isCancelled { queue?.addUnlessAdded(operation) }
        if operation.state == .finished { return finish() }
        // Not a handler: those that came before could be slow, or wait for this.
        AsyncOperationQueue.foundation.add(
            AsyncOperation("finish in Foundation") { self.finish() }.addDependency(operation))
    }

    override func cancel() {
        super.cancel()
        operation.cancel(reason: .because("its operation in Foundation was cancelled"))
    }

    /// Ours was cancelled: so is this, and its queue may start it, whatever it waits for.
    private func noteCancel() { super.cancel() }

    private func finish() {
        guard machine.withLock({ $0.claimFinish() }) else { return }
        dropDependencies()
        let queue = queue.withLock { $0.take() }
        willChangeValue(for: \.isExecuting)
        willChangeValue(for: \.isFinished)
        machine.withLock { $0.finish() }
        didChangeValue(for: \.isExecuting)
        didChangeValue(for: \.isFinished)
        withExtendedLifetime(queue) {}
    }

    /// On Linux, a dependency keeps the address of what was cancelled meanwhile, and would look there: also one that says that it
    /// has finished, because it looks after that.
    private func dropDependencies() {
        #if !canImport(ObjectiveC)
            for dependency in dependencies { removeDependency(dependency) }
        #endif
    }
}

extension OperationPriority {
    fileprivate var inFoundation: Foundation.Operation.QueuePriority {
        switch self {
        case .veryLow: .veryLow
        case .low: .low
        case .normal: .normal
        case .high: .high
        case .veryHigh: .veryHigh
        }
    }
}
