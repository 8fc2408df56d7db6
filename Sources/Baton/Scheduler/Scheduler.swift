/// Decides what a queue starts next, from permits, priorities and suspension. Pure; the queue locks it, asks it,
/// unlocks it, and performs its action.
///
/// A *permit* is the right to run a body; there are `width` of them. A worker holds a permit while it runs operations.
/// A body that waits releases the permit, and takes one again before it goes on. At most one worker is starting at a
/// time; once it has started, it starts the next one if one is needed.
struct Scheduler {
    /// A body whose last wait has ended, and which needs a permit to go on. It is an object because it is rare, while
    /// the types that may hold one are copied for every decision.
    final class Resumption {
        /// True if the body has received its permit. Guarded by the queue's lock. If the priority of the body changes,
        /// the resumption is listed a second time; whichever entry is reached first counts.
        fileprivate(set) var isTaken = false
        private(set) var body: AnyOperation?
        private let run: Int32
        private let continuation: UnsafeContinuation<OperationError?, Never>
        private let error: OperationError?

        init(
            body: AnyOperation, run: Int32 = 0, continuation: UnsafeContinuation<OperationError?, Never>,
            error: OperationError? = nil
        ) {
            self.body = body
            self.run = run
            self.continuation = continuation
            self.error = error
        }

        /// Resumes the body, for which a permit is booked. Releases the operation first, because the body may end, and
        /// its queue become idle, before this method returns.
        ///
        /// - Returns: False if the body did not take the permit.
        func resume() -> Bool {
            let tookPermit = body?.endWait(in: run) ?? false
            if let body { TSanAnnotations.willResume(body) }
            body = nil
            continuation.resume(returning: error)
            return tookPermit
        }
    }

    /// The action to perform after unlocking. The permit that it needs is booked.
    enum Action {
        case none
        case startWorker
        case resume(Resumption)
        /// A submission that waits is admitted.
        case admit(Submission)
    }

    /// The next step of a worker.
    enum WorkerAction {
        case run(Unretained<AnyOperation>)
        /// The worker's permit goes to this body, and the worker ends.
        case handOver(Resumption)
        /// The worker's permit is returned, and the worker ends.
        case end
    }

    var width: Int
    var isSuspended: Bool
    private(set) var running = 0
    /// The number of bodies that have released their permits. It is negative for a moment if another thread ends a wait
    /// before the thread that has begun the wait releases the permit.
    private(set) var parked = 0
    private(set) var isStarting = false
    /// The number of times that an operation was dequeued. An operation with which a worker continues inline is not
    /// counted, but then another one has finished.
    private(set) var dequeuedCount = 0
    var order = SchedulingOrder.depthFirst
    /// True if an operation that has failed waits until the queue is resumed before its next attempt.
    var suspendsFurtherAttempts = false
    private var ready = ReadyQueues()
    /// Children of running bodies, and further attempts. They go before other operations; otherwise every operation
    /// would start and none would end.
    private var children = ReadyQueues()
    /// Requeued children, and requeued operations with dependencies. An operation is requeued when it had been dequeued
    /// before: its conditions are satisfied now, or its exclusions granted. Other requeued operations are in ``ready``.
    /// While the queue is suspended, only children are in this list.
    private var requeuedFirst = PriorityRunQueue<IntrusiveList>()
    private var resumptions = PriorityRunQueue<FIFOQueue<Resumption>>()
    /// The number of operations that have gone before ready ones of their priority in a row; see
    /// ``ReadyQueues/budget``.
    private var goingFirstInARow = 0
    /// The number of operations in ``requeuedFirst`` that have gone before children of their priority in a row.
    private var requeuedFirstInARow = 0
    /// The number of bodies that have gone on before operations of their priority that start, in a row.
    private var resumedInARow = 0
    /// Operations that had ended when another thread was about to list them. The caller of ``takeEnded()`` releases
    /// them.
    private var ended = IntrusiveList()

    init(width: Int, isSuspended: Bool) {
        self.width = width
        self.isSuspended = isSuspended
    }

    // MARK: Operations that may start

    @inline(__always) private var startable: PriorityMask { isSuspended ? goingFirst : goingFirst.union(ready.filled) }

    @inline(__always) private var goingFirst: PriorityMask { requeuedFirst.filled.union(children.filled) }

    /// Tells workers what they may do without the lock: 0 if nothing waits, ``mustAsk`` if the worker must take the
    /// lock before it goes on, otherwise the highest priority that waits, plus one. Only in depth-first order may a
    /// worker continue with an operation that it has made ready while others wait.
    ///
    /// Inlined, because the compiler copies the whole scheduler, about 700 bytes, for a call.
    @inline(__always)
    var hint: UInt8 {
        if isSuspended || running > width { return Self.mustAsk }
        guard let highest = startable.union(resumptions.filled).highest else { return 0 }
        return order == .depthFirst ? highest.rawValue + 1 : Self.mustAsk
    }

    static let mustAsk: UInt8 = 255

    /// The number of operations in a row with which a worker may continue inline while others wait.
    var inlineBudget: Int { min(ready.inlineBudget, children.inlineBudget) }

    // MARK: Lists

    @inline(__always)
    mutating func append(_ operation: Unretained<AnyOperation>) {
        let (level, goesFirst, membership) = operation.use {
            ($0.currentPriority, $0.goesFirst, $0.membership)
        }
        if membership == .ended { return ended.append(operation) }
        if goesFirst {
            children.append(operation, at: level, by: order)
            operation.use { $0.membership = .children }
        } else {
            ready.append(operation, at: level, by: order)
            operation.use { $0.membership = .ready }
        }
    }

    /// Lists an operation that has failed and whose next attempt is due. The attempt comes before operations that have
    /// not begun. It also starts while the queue is suspended, unless ``suspendsFurtherAttempts`` is set.
    mutating func append(furtherAttempt operation: Unretained<AnyOperation>) {
        let (level, goesFirst, membership) = operation.use {
            ($0.currentPriority, $0.goesFirst, $0.membership)
        }
        if goesFirst || membership == .ended { return append(operation) }
        ready.append(requeued: operation, at: level)
        operation.use { $0.membership = .requeued }
    }

    /// Lists an operation that the end of another one has made ready, and those that are linked to it, in order. In
    /// depth-first order they come before operations that were ready when they were added.
    ///
    /// - Parameter passes: True if they also come before those that were released earlier.
    mutating func append(released first: Unretained<AnyOperation>, passes: Bool = true) {
        if order != .depthFirst { return IntrusiveList.forEach(from: first) { append($0) } }
        if first.use({ $0.next == nil && !$0.goesFirst && $0.membership != .ended }) {
            // Most operations make one other operation ready.
            ready.append(released: first, at: first.use { $0.currentPriority }, passes: passes)
            return first.use { $0.membership = .released }
        }
        var batch = PriorityRunQueue<IntrusiveList>()
        var children = IntrusiveList()
        IntrusiveList.forEach(from: first) { operation in
            let (level, goesFirst, membership) = operation.use {
                ($0.currentPriority, $0.goesFirst, $0.membership)
            }
            if membership == .ended {
                ended.append(operation)
            } else if goesFirst {
                children.append(operation)
            } else {
                batch.append(operation, at: level)
                operation.use { $0.membership = .released }
            }
        }
        ready.append(released: batch, passes: passes)
        if !children.isEmpty { append(releasedChildren: children, passes) }
    }

    private mutating func append(releasedChildren list: IntrusiveList, _ passes: Bool) {
        var batch = PriorityRunQueue<IntrusiveList>()
        list.forEach { operation in
            batch.append(operation, at: operation.use { $0.currentPriority })
            operation.use { $0.membership = .releasedChildren }
        }
        children.append(released: batch, passes: passes)
    }

    /// Notes that a worker has continued inline with this number of operations, of which `operation` is the last.
    @inline(__always)
    mutating func noteInlineStarts(_ count: Int, upTo operation: Unretained<AnyOperation>) {
        if operation.use({ $0.goesFirst }) {
            children.noteStarts(ofReleased: count)
        } else {
            ready.noteStarts(ofReleased: count)
        }
    }

    /// Lists an operation that had been dequeued before, ahead of those of its priority that had not.
    ///
    /// - Parameter hasDependencies: True if the operation depends on others. It then goes on with work that others have
    ///   begun, and so comes before operations that begin new work.
    /// - Returns: False if the operation may not start while the queue is suspended. It is in no list then.
    mutating func append(requeued operation: Unretained<AnyOperation>, hasDependencies: Bool) -> Bool {
        let (level, goesFirst, membership) = operation.use {
            ($0.currentPriority, $0.goesFirst, $0.membership)
        }
        if membership == .ended {
            ended.append(operation)
            return true
        }
        if isSuspended, !goesFirst { return false }
        if goesFirst || hasDependencies {
            requeuedFirst.append(operation, at: level)
            operation.use { $0.membership = .requeuedFirst }
        } else {
            ready.append(requeued: operation, at: level)
            operation.use { $0.membership = .requeued }
        }
        return true
    }

    /// Removes an operation that has ended before its run from its list.
    ///
    /// - Returns: True if it was in a list. The caller then releases it, because nobody else will.
    mutating func remove(_ operation: Unretained<AnyOperation>) -> Bool {
        let (level, membership) = operation.use { ($0.currentPriority, $0.membership) }
        operation.use { $0.membership = .ended }
        switch membership {
        case .ready, .released: ready.remove(operation, at: level, isReleased: membership == .released)
        case .children, .releasedChildren:
            children.remove(operation, at: level, isReleased: membership == .releasedChildren)
        case .requeuedFirst: requeuedFirst.remove(operation, at: level)
        case .requeued: ready.remove(requeued: operation, at: level)
        case .none, .ended: return false
        }
        return true
    }

    /// Changes the priority of an operation and moves it to the end of the list for that priority.
    mutating func move(_ operation: Unretained<AnyOperation>, to level: OperationPriority) {
        let (former, membership) = operation.use { ($0.currentPriority, $0.membership) }
        operation.use { $0.currentPriority = level }
        switch membership {
        case .ready, .released:
            ready.remove(operation, at: former, isReleased: membership == .released)
            ready.append(operation, at: level, isReleased: membership == .released)
        case .children, .releasedChildren:
            children.remove(operation, at: former, isReleased: membership == .releasedChildren)
            children.append(operation, at: level, isReleased: membership == .releasedChildren)
        case .requeuedFirst:
            requeuedFirst.remove(operation, at: former)
            requeuedFirst.append(operation, at: level)
        case .requeued:
            ready.remove(requeued: operation, at: former)
            ready.append(requeued: operation, at: level)
        // The operation waits for something else, or a worker has dequeued it.
        case .none, .ended: break
        }
    }

    /// Takes the operations that had ended before they were listed, linked. The caller releases them after unlocking.
    @inline(__always)
    mutating func takeEnded() -> Unretained<AnyOperation>? {
        if ended.isEmpty { return nil }
        defer { ended = IntrusiveList() }
        return ended.first
    }

    /// Removes the operations that had been dequeued before and may not start while the queue is suspended. Returns
    /// them linked.
    mutating func takeRequeued() -> Unretained<AnyOperation>? {
        var taken = IntrusiveList()
        for level in OperationPriority.allCases {
            var kept = IntrusiveList()
            while let operation = requeuedFirst.popFirst(at: level) {
                if operation.use({ $0.goesFirst }) {
                    kept.append(operation)
                } else {
                    operation.use { $0.membership = .none }
                    taken.append(operation)
                }
            }
            kept.forEach { requeuedFirst.append($0, at: level) }
            while let operation = ready.popFirst(requeuedAt: level) {
                operation.use { $0.membership = .none }
                taken.append(operation)
            }
        }
        return taken.first
    }

    // MARK: The next operation or resumption

    /// Lists a body that needs a permit to go on.
    ///
    /// - Parameter level: The priority of the body.
    mutating func append(_ resumption: Resumption, at level: OperationPriority) {
        if !resumption.isTaken { resumptions.append(resumption, at: level) }
    }

    @inline(__always)
    private mutating func popOperation() -> Unretained<AnyOperation>? {
        guard let level = startable.highest else { return nil }
        dequeuedCount &+= 1
        let first: Unretained<AnyOperation>?
        if goingFirst.contains(level), mayGoFirst(at: level) {
            first = popGoingFirst(at: level)
        } else {
            goingFirstInARow = 0
            first = ready.popFirst(at: level)
        }
        guard let operation = first else { return nil }
        operation.use { $0.membership = .none }
        resumedInARow = 0
        return operation
    }

    private mutating func popGoingFirst(at level: OperationPriority) -> Unretained<AnyOperation>? {
        let childrenWait = children.filled.contains(level)
        requeuedFirstInARow = childrenWait ? requeuedFirstInARow + 1 : 0
        if !childrenWait || requeuedFirstInARow <= ReadyQueues.budget,
            let operation = requeuedFirst.popFirst(at: level)
        {
            return operation
        }
        requeuedFirstInARow = 0
        return children.popFirst(at: level)
    }

    /// True if an operation that goes first may start before ready ones of its priority. Such operations can cause more
    /// of their kind without end: an operation fails and tries again immediately, or a body runs one child after
    /// another. So after ``ReadyQueues/budget`` of them in a row, a ready operation starts.
    private mutating func mayGoFirst(at level: OperationPriority) -> Bool {
        if isSuspended || !ready.filled.contains(level) { return true }
        goingFirstInARow += 1
        return goingFirstInARow <= ReadyQueues.budget
    }

    /// Takes the next body that goes on. It comes before operations of its own or a lower priority that start, except
    /// every seventeenth time: bodies that wait repeatedly would keep all others from starting.
    private mutating func popResumption() -> Resumption? {
        while let level = resumptions.filled.highest {
            let first = startable.highest
            if let first, level < first || level == first && resumedInARow >= ReadyQueues.budget { return nil }
            guard let resumption = resumptions.popFirst(at: level), !resumption.isTaken else { continue }
            resumption.isTaken = true
            resumedInARow = level == first ? resumedInARow + 1 : 0
            parked -= 1
            return resumption
        }
        return nil
    }

    // MARK: Permits

    /// Decides what the free permits allow. Called after every change.
    ///
    /// - Parameter startsWorkers: False if no worker is to be started yet.
    @inline(__always)
    mutating func assignPermit(startsWorkers: Bool = true) -> Action {
        if running >= width { return .none }
        if !resumptions.isEmpty, let resumption = popResumption() {
            running += 1
            return .resume(resumption)
        }
        if isStarting || !startsWorkers || startable.isEmpty { return .none }
        isStarting = true
        running += 1
        return .startWorker
    }

    /// Notes that a new worker has started, and returns what it does first.
    mutating func workerStarted() -> WorkerAction {
        isStarting = false
        return nextAction()
    }

    /// Returns what a worker does that has a permit and nothing to run.
    @inline(__always)
    mutating func nextAction() -> WorkerAction {
        if running <= width {
            if !resumptions.isEmpty, let resumption = popResumption() { return .handOver(resumption) }
            if let operation = popOperation() { return .run(operation) }
        }
        running -= 1
        return .end
    }

    /// Decides whether a worker whose time slice is over ends.
    ///
    /// - Returns: True if the worker ends, because a new worker waits for its thread. Its permit has been returned.
    mutating func endSlice() -> Bool {
        // The worker and the one that is starting hold a permit each.
        assert(!isStarting || running > 1)
        if isStarting { running -= 1 }
        return isStarting
    }

    mutating func returnPermit() {
        assert(running > 0)
        running -= 1
    }

    /// Releases the permit of a body that begins to wait, or one that was booked for a body that did not take it.
    mutating func releasePermit() {
        assert(running > 0)
        running -= 1
        parked += 1
    }

    /// Parks the operation that a worker has dequeued, such as a group that waits for its children. The worker keeps
    /// its permit and goes on.
    mutating func park() -> WorkerAction {
        parked += 1
        return nextAction()
    }

    /// Takes a permit for a worker that had released its own, if one is free. Returns what the worker does next.
    mutating func reacquirePermit() -> WorkerAction {
        parked -= 1
        if running >= width { return .end }
        running += 1
        return nextAction()
    }

    /// Takes a permit for a worker that had released its own and goes on with an operation of this priority.
    ///
    /// - Returns: False if there is no free permit, or if other operations come first.
    mutating func reacquirePermit(for level: OperationPriority) -> Bool {
        if isSuspended || running >= width { return false }
        let before = goingFirst.union(resumptions.filled).union(ready.filledRequeued)
        if let first = before.highest, first >= level { return false }
        if let first = ready.filled.highest, first > level { return false }
        parked -= 1
        running += 1
        dequeuedCount &+= 1
        return true
    }

    /// Notes that a body has ended while its permit was released.
    mutating func endedWithoutPermit() { parked -= 1 }

    /// The number of operations that have begun and not finished.
    var begun: Int { running - (isStarting ? 1 : 0) + parked }
}

/// The list of the queue that an operation is in.
enum ListMembership: UInt8 {
    case none
    case ready
    case released
    case children
    case releasedChildren
    case requeuedFirst
    case requeued
    /// The operation ended before its run, and is never listed again.
    case ended
}
