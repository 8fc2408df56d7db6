internal import Baton
internal import Foundation

/// An operation as a Foundation operation, for an `OperationQueue` and for Foundation operations that depend on it.
///
/// It retains the operation and, until it has finished, the queue of that operation. The operation does not retain it.
final class BridgedOperation: Foundation.Operation, @unchecked Sendable {
    // @unchecked: the properties that it adds to its superclass are constant or locked.

    private let operation: AnyOperation
    private let table: WeakObjectTable<BridgedOperation>
    private let machine = Locked(BridgeStateMachine())
    /// The queue to which the operation is added; nil when the bridge has finished.
    private let queue: Locked<AsyncOperationQueue?>

    init(of operation: AnyOperation, on queue: AsyncOperationQueue, in table: WeakObjectTable<BridgedOperation>) {
        self.operation = operation
        self.table = table
        self.queue = Locked(queue)
        super.init()
        name = operation.reference.name
        queuePriority = operation.priority.inFoundation
    }

    deinit {
        table.forget(self, of: operation)
        stopWaiting()
    }

    /// Forwards cancellation of the operation to this object. Must be called once, after the table has stored this
    /// object.
    func follow() {
        table.follow(operation) { $0.noteCancel() }
    }

    // MARK: Foundation operations that the operation waits for

    /// The result of a search for Foundation operations that the operation waits for. It holds until the graph changes.
    private struct SearchResult {
        let change: UInt64
        /// An operation that had not finished when it was found, or nil if there was none.
        let foundation: Foundation.Operation?
    }

    /// The wait for one Foundation operation. When that operation finishes, the bridge searches for the next one.
    private struct Wait {
        var known: SearchResult?
        /// The watch on that operation, until it finishes.
        var watch: CompletionWatch?
        var foundation: Foundation.Operation?
        /// A Boolean value that indicates whether the bridge has stopped waiting, because it was started or is being
        /// released.
        var hasStopped = false

        /// True if there is no known reason to wait.
        var mayBeReady: Bool { hasStopped || watch == nil }
    }

    private let wait = Locked(Wait())

    /// If the operation waits for an unfinished Foundation operation, watches that one, and keeps the bridge from
    /// becoming ready until it finishes.
    ///
    /// If the bridge started earlier, it would occupy a place in its `OperationQueue` that the other operation may
    /// need. The search runs whenever Foundation asks, because dependencies may be added in any order. The bridge does
    /// not use a Foundation dependency for this: on Linux, an operation that has not finished would keep the address of
    /// a bridge that has been released.
    private func waitForFoundationDependency() {
        guard let foundation = unfinishedFoundationDependency() else { return }
        let watch = CompletionWatch(of: foundation) { [weak self] in self?.noteEnd(of: foundation) }
        // Another thread may have stored a watch in the meantime.
        let isNeeded = wait.withLock { wait in
            if !wait.mayBeReady || wait.hasStopped { return false }
            (wait.watch, wait.foundation) = (watch, foundation)
            return true
        }
        if !isNeeded { return watch.stop() }
        // The operation may have finished before the watch was stored.
        if foundation.isFinished { noteEnd(of: foundation) }
    }

    /// Returns an unfinished Foundation operation, other than this one, that the operation waits for: directly, through
    /// its dependencies, or through the children of a group. Returns nil if there is none.
    ///
    /// - Complexity: O(*n*) for *n* operations that the operation waits for. Each bridge on the path stores the result,
    ///   until the graph changes or the found operation finishes. All bridges of a chain together therefore take about
    ///   as long as one of them.
    private func unfinishedFoundationDependency() -> Foundation.Operation? {
        let change = GraphChanges.count
        if case .isClear = answer(at: change) { return nil }
        var walk = Walk(from: operation)
        var seesItself = false
        while let (operation, place) = walk.next() {
            if let foundation = FoundationStandIn.unfinished(of: operation) {
                if foundation === self {
                    seesItself = true
                    continue
                }
                for bridge in walk.bridges(onTheWayTo: place) {
                    bridge.remember(SearchResult(change: change, foundation: foundation))
                }
                return foundation
            }
            if let other = table.existing(for: operation.reference.id), other !== self {
                switch other.answer(at: change) {
                case .waits(let foundation) where foundation !== self: return foundation
                case .isClear: continue
                case .waits, .unknown: walk.note(other, at: place)
                }
            }
            walk.visitDependencies(of: operation, at: place)
        }
        if !seesItself {
            remember(SearchResult(change: change, foundation: nil))
            for bridge in walk.bridges { bridge.remember(SearchResult(change: change, foundation: nil)) }
        }
        return nil
    }

    private enum Answer {
        case waits(Foundation.Operation)
        case isClear
        case unknown
    }

    private func answer(at change: UInt64) -> Answer {
        let (known, foundation) = wait.withLock { ($0.known, $0.foundation) }
        if let foundation, !foundation.isFinished { return .waits(foundation) }
        // Once a bridge has been started, its operation and everything that it waits for have been added, so the search
        // need not go further.
        if machine.withLock({ $0.phase }) != .idle { return .isClear }
        guard let known, known.change == change else { return .unknown }
        guard let foundation = known.foundation else { return .isClear }
        return foundation.isFinished ? .unknown : .waits(foundation)
    }

    private func remember(_ known: SearchResult) { wait.withLock { $0.known = known } }

    /// A walk over everything that an operation waits for, which visits each operation once.
    private struct Walk {
        private var steps: [(operation: AnyOperation, from: Int)]
        /// The steps whose operations have not been visited.
        private var pending = [0]
        private var seen: Set<UInt64>
        private var bridged: [Int: BridgedOperation] = [:]

        init(from operation: AnyOperation) {
            steps = [(operation, -1)]
            seen = [operation.reference.id]
        }

        mutating func next() -> (AnyOperation, place: Int)? { pending.popLast().map { (steps[$0].operation, $0) } }

        mutating func visitDependencies(of operation: AnyOperation, at place: Int) {
            for source in operation.dependencies + operation.plannedChildren
            where source.state != .finished && seen.insert(source.reference.id).inserted {
                pending.append(steps.count)
                steps.append((source, place))
            }
        }

        mutating func note(_ bridge: BridgedOperation, at place: Int) { bridged[place] = bridge }

        var bridges: some Sequence<BridgedOperation> { bridged.values }

        func bridges(onTheWayTo place: Int) -> [BridgedOperation] {
            var found: [BridgedOperation] = []
            var place = place
            while place >= 0 {
                if let bridge = bridged[place] { found.append(bridge) }
                place = steps[place].from
            }
            return found
        }
    }

    private func noteEnd(of foundation: Foundation.Operation) {
        let former = wait.withLock { wait -> CompletionWatch? in
            if wait.foundation !== foundation { return nil }
            wait.foundation = nil
            return wait.watch.take()
        }
        guard let former else { return }
        former.stop()
        notifyReadiness()
        // On Linux, a queue that is adding the bridge at this moment has already found it not ready, and misses the
        // notification, so the bridge sends another one a little later.
        let later = AsyncOperation<Void>.delay(.milliseconds(50))
        later.didFinish { [weak self] _ in self?.notifyReadiness() }
        AsyncOperationQueue.foundation.add(later)
    }

    /// Makes Foundation ask again whether the bridge is ready.
    func notifyReadiness() {
        if machine.withLock({ $0.phase }) != .idle { return }
        willChangeValue(for: \.isReady)
        didChangeValue(for: \.isReady)
    }

    private func stopWaiting() {
        let watch = wait.withLock { wait in
            wait.hasStopped = true
            wait.foundation = nil
            return wait.watch.take()
        }
        watch?.stop()
    }

    // MARK: Properties that Foundation reads

    override var isReady: Bool {
        if !super.isReady { return false }
        // On Linux, a queue asks all waiting operations whenever one has finished, so this has to be cheap: while the
        // bridge waits for one Foundation operation, it does not search for others.
        if isCancelled || !wait.withLock(\.mayBeReady) { return isCancelled }
        if !FoundationStandIn.anyExists { return true }
        waitForFoundationDependency()
        return wait.withLock(\.mayBeReady)
    }

    override var isAsynchronous: Bool { true }

    override var isExecuting: Bool { machine.withLock { $0.isExecuting } }

    override var isFinished: Bool { machine.withLock { $0.isFinished } }

    override var isCancelled: Bool { super.isCancelled || operation.isCancelled }

    // MARK: Methods that Foundation calls

    /// Starts the operation. A queue or the user calls this; calls after the first one do nothing.
    override func start() {
        guard machine.withLock({ $0.claimStart() }) else { return }
        stopWaiting()
        willChangeValue(for: \.isExecuting)
        machine.withLock { $0.execute() }
        didChangeValue(for: \.isExecuting)
        let queue = queue.withLock { $0 }
        // Add the operation to its queue if nobody has done so; otherwise it would never finish. A cancelled operation
        // has finished, or is about to.
        if !operation.isCancelled { queue?.addUnlessAdded(operation) }
        if operation.state == .finished { return finish() }
        // A dependent operation waits for the end, because a `didFinish` handler would run after earlier handlers,
        // which may be slow or may wait for this bridge.
        AsyncOperationQueue.foundation.add(
            AsyncOperation("finish in Foundation") { self.finish() }.addDependency(operation))
    }

    override func cancel() {
        super.cancel()
        operation.cancel(reason: .because("its operation in Foundation was cancelled"))
    }

    /// Cancels the bridge, because its operation was cancelled. Its queue may then start it, whatever it waits for.
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

    /// Removes all dependencies. On Linux, a dependency keeps the address of a cancelled dependent, and accesses it
    /// later, even after `isFinished` of the dependency is true.
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
