internal import Baton
internal import Foundation

/// An operation of ours as one of Foundation's: for an `OperationQueue`, and for what depends on it there.
///
/// It holds ours, and the queue until it has finished. Ours does not hold it.
final class BridgedOperation: Foundation.Operation, @unchecked Sendable {
    // @unchecked: what it adds to Foundation's operation is constant or locked.

    private let operation: AnyOperation
    private let table: Counterparts<BridgedOperation>
    private let machine = Locked(BridgeStateMachine())
    /// Nil when it has finished.
    private let queue: Locked<AsyncOperationQueue?>

    init(of operation: AnyOperation, on queue: AsyncOperationQueue, in table: Counterparts<BridgedOperation>) {
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

    /// To be called once, when it is the one that others find, too.
    func follow() {
        table.follow(operation) { $0.noteCancel() }
    }

    // MARK: What it waits for in Foundation

    /// What is known of the Foundation operations behind ours, since the graph has changed for the last time.
    private struct Known {
        let change: UInt64
        /// One that has not finished when it was found. Nil: there is none.
        let foundation: Foundation.Operation?
    }

    /// The first that is found of the Foundation operations behind ours: when that has ended, the next one is looked
    /// for.
    private struct Wait {
        var known: Known?
        /// What is watched, until it has ended.
        var watch: EndWatch?
        var foundation: Foundation.Operation?
        /// It waits for nothing any more.
        var isOver = false

        var isSatisfied: Bool { isOver || watch == nil }
    }

    private let wait = Locked(Wait())

    /// Started before the Foundation operations that ours waits for, it would keep a permit of its queue that those may
    /// need.
    ///
    /// It is looked for them whenever Foundation asks, because dependencies may be added in any order. Not by
    /// dependencies in Foundation: on Linux one that has not finished would keep the address of a bridge that is
    /// released.
    private func lookBehind() {
        guard let foundation = unfinishedBehind() else { return }
        let watch = EndWatch(of: foundation) { [weak self] in self?.noteEnd(of: foundation) }
        // Another thread may have found one, too.
        let isNeeded = wait.withLock { wait in
            if !wait.isSatisfied || wait.isOver { return false }
            (wait.watch, wait.foundation) = (watch, foundation)
            return true
        }
        if !isNeeded { return watch.stop() }
        // Its end may have come before it was known here.
        if foundation.isFinished { noteEnd(of: foundation) }
    }

    /// A Foundation operation that has not finished and for which ours waits: directly, through its dependencies, or as
    /// the children of a group. Nil: there is none, besides this one.
    ///
    /// - Complexity: O(*n*) in what ours waits for. Each bridge on the way remembers what was found, until a graph
    ///   changes somewhere or that operation finishes; so all bridges of a chain together take about as long as one of
    ///   them.
    private func unfinishedBehind() -> Foundation.Operation? {
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
                    bridge.remember(Known(change: change, foundation: foundation))
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
            walk.goOn(from: operation, place)
        }
        if !seesItself {
            remember(Known(change: change, foundation: nil))
            for bridge in walk.bridges { bridge.remember(Known(change: change, foundation: nil)) }
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
        // Started, everything that ours waits for has been added, and is waited for by ours.
        if machine.withLock({ $0.phase }) != .idle { return .isClear }
        guard let known, known.change == change else { return .unknown }
        guard let foundation = known.foundation else { return .isClear }
        return foundation.isFinished ? .unknown : .waits(foundation)
    }

    private func remember(_ known: Known) { wait.withLock { $0.known = known } }

    /// Through what an operation waits for, each once.
    private struct Walk {
        private var steps: [(operation: AnyOperation, from: Int)]
        private var left = [0]
        private var seen: Set<UInt64>
        private var bridged: [Int: BridgedOperation] = [:]

        init(from operation: AnyOperation) {
            steps = [(operation, -1)]
            seen = [operation.reference.id]
        }

        mutating func next() -> (AnyOperation, place: Int)? { left.popLast().map { (steps[$0].operation, $0) } }

        mutating func goOn(from operation: AnyOperation, _ place: Int) {
            for source in operation.dependencies + operation.plannedChildren
            where source.state != .finished && seen.insert(source.reference.id).inserted {
                left.append(steps.count)
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
        let former = wait.withLock { wait -> EndWatch? in
            if wait.foundation !== foundation { return nil }
            wait.foundation = nil
            return wait.watch.take()
        }
        guard let former else { return }
        former.stop()
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
        let watch = wait.withLock { wait in
            wait.isOver = true
            wait.foundation = nil
            return wait.watch.take()
        }
        watch?.stop()
    }

    // MARK: What Foundation asks

    override var isReady: Bool {
        if !super.isReady { return false }
        // On Linux a queue asks all that wait whenever one has finished. What is to come is looked for when what was
        // found has ended.
        if isCancelled || !wait.withLock(\.isSatisfied) { return isCancelled }
        if !FoundationStandIn.areThere { return true }
        lookBehind()
        return wait.withLock(\.isSatisfied)
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
        // First: what is added by nobody else would not finish without it. One that was cancelled has finished, or is
        // about to.
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

    /// On Linux, a dependency keeps the address of what was cancelled meanwhile, and would look there: also one that
    /// says that it has finished, because it looks after that.
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
