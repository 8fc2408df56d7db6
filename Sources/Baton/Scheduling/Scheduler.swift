/// Decides what a queue starts next: permits, priorities, suspension. Pure; the queue locks it, asks, unlocks, and
/// obeys.
///
/// A *permit* is the right to run a body, one of `width`. A worker holds one while it runs operations; a body that
/// waits gives it back, and takes one again before it goes on. At most one worker is starting at a time: it starts the
/// next one itself.
struct Scheduler {
    /// A body whose last wait has ended, and which needs a permit to go on. An object, because it is rare, and what may
    /// hold one is copied at every turn.
    final class Resumption {
        /// Guarded by the queue's lock. When the body's priority changes it is listed once more, and counts the first
        /// time.
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

        /// A permit is booked for the body, which goes on. False: it did not take the permit. The body is let go first:
        /// it may end, and its queue be idle, before this returns.
        func resume() -> Bool {
            let tookPermit = body?.endWait(in: run) ?? false
            if let body { TSanAnnotations.willResume(body) }
            body = nil
            continuation.resume(returning: error)
            return tookPermit
        }
    }

    /// What to do after unlocking. The permit that it needs is booked. A body to be resumed is retained for the one who
    /// does it: as a reference it would be copied at every turn, though there hardly ever is one.
    enum Action {
        case none
        case startWorker
        case resume(Unmanaged<Resumption>)
        /// Somebody who waits to submit an operation may do so.
        case admit(Submission)
    }

    /// What a worker does next. As above.
    enum WorkerAction {
        case run(Unmanaged<AnyOperation>)
        /// Its permit goes to this body, and the worker ends.
        case handOver(Unmanaged<Resumption>)
        /// Its permit is returned, and the worker ends.
        case end
    }

    var width: Int
    var isSuspended: Bool
    private(set) var running = 0
    /// Bodies that have released their permits.
    private(set) var parked = 0
    private(set) var isStarting = false
    /// Operations that were taken up, again or for the first time. Where a worker goes on inline another one has
    /// finished.
    private(set) var taken = 0
    var order = SchedulingOrder.depthFirst
    /// Whether an operation that has failed waits until the queue is resumed before it tries again.
    var suspendsFurtherAttempts = false
    private var ready = ReadyLines()
    /// Operations that a running body waits for, and further attempts. They go before others: otherwise everything
    /// would start and nothing would end.
    private var children = ReadyLines()
    /// Children and operations with dependencies whose conditions are satisfied, or that have got the names they had
    /// asked for, and so have been taken up before. While the queue is suspended, children alone. Others like them are
    /// in ``ready``.
    private var returning = PriorityRunQueue<IntrusiveList>()
    private var resumptions = PriorityRunQueue<FIFOQueue<Resumption>>()
    /// Operations in a row that went before ready ones of their priority; see ``ReadyLines/budget``.
    private var urgentInARow = 0
    /// As above, of those that return, before children.
    private var returningInARow = 0
    /// As above, of bodies that go on, before operations of their priority that start.
    private var resumedInARow = 0
    /// Operations that had left the queue when somebody was about to list them. Nobody else lets go of them.
    private var ended = IntrusiveList()
    /// The priority of those that workers have in their local queues, if there are any. They wait, too.
    private var handed = PriorityMask()

    init(width: Int, isSuspended: Bool) {
        self.width = width
        self.isSuspended = isSuspended
    }

    // MARK: What may run

    private var startable: PriorityMask { isSuspended ? urgent : urgent.union(ready.filled) }

    private var urgent: PriorityMask { returning.filled.union(children.filled) }

    /// Nothing waits (0), a worker must ask before it goes on (255), or the highest priority that waits, plus one. Only
    /// depth first a worker may go on with what it has made ready while others wait.
    var hint: UInt8 {
        if isSuspended || running > width { return Self.mustAsk }
        guard let highest = startable.union(resumptions.filled).union(handed).highest else { return 0 }
        return order == .depthFirst ? highest.rawValue + 1 : Self.mustAsk
    }

    static let mustAsk: UInt8 = 255

    /// With how many operations in a row a worker may go on inline while others wait.
    var inlineBudget: Int { min(ready.inlineBudget, children.inlineBudget) }

    // MARK: Lists

    @inline(__always)
    mutating func append(_ operation: Unmanaged<AnyOperation>) {
        let (level, goesFirst, listing) = operation._withUnsafeGuaranteedRef { ($0.level, $0.goesFirst, $0.listing) }
        if listing == .over { return ended.append(operation) }
        if goesFirst {
            children.append(operation, at: level, by: order)
            note(operation, .children)
        } else {
            ready.append(operation, at: level, by: order)
            note(operation, .ready)
        }
    }

    /// The operation has failed, and its next attempt is due. It comes before those that have not begun, and unless
    /// suspending the queue holds further attempts back, that also happens while the queue is suspended.
    mutating func append(furtherAttempt operation: Unmanaged<AnyOperation>) {
        let (level, goesFirst, listing) = operation._withUnsafeGuaranteedRef { ($0.level, $0.goesFirst, $0.listing) }
        if goesFirst || listing == .over { return append(operation) }
        ready.append(again: operation, at: level)
        note(operation, .again)
    }

    @inline(__always)
    private func note(_ operation: Unmanaged<AnyOperation>, _ listing: Listing) {
        operation._withUnsafeGuaranteedRef { $0.listing = listing }
    }

    /// The end of another operation has made this one ready, and those that are linked to it, in order. Depth first
    /// they come before those that were ready when they were added.
    ///
    /// - Parameter passes: Whether they come before those that were released earlier, too.
    mutating func append(released first: Unmanaged<AnyOperation>, passes: Bool = true) {
        if order != .depthFirst { return IntrusiveList.forEach(from: first) { append($0) } }
        if first._withUnsafeGuaranteedRef({ $0.link == nil && !$0.goesFirst && $0.listing != .over }) {
            // Most have one follower.
            ready.append(released: first, at: first._withUnsafeGuaranteedRef { $0.level }, passes: passes)
            return note(first, .released)
        }
        var batch = PriorityRunQueue<IntrusiveList>()
        var children = IntrusiveList()
        IntrusiveList.forEach(from: first) { operation in
            let (level, goesFirst, listing) = operation._withUnsafeGuaranteedRef {
                ($0.level, $0.goesFirst, $0.listing)
            }
            if listing == .over {
                ended.append(operation)
            } else if goesFirst {
                children.append(operation)
            } else {
                batch.append(operation, at: level)
                note(operation, .released)
            }
        }
        ready.append(released: batch, passes: passes)
        if !children.isEmpty { append(releasedChildren: children, passes) }
    }

    private mutating func append(releasedChildren list: IntrusiveList, _ passes: Bool) {
        var batch = PriorityRunQueue<IntrusiveList>()
        list.forEach { operation in
            batch.append(operation, at: operation._withUnsafeGuaranteedRef { $0.level })
            note(operation, .releasedChildren)
        }
        children.append(released: batch, passes: passes)
    }

    /// A worker has gone on inline with so many, one after another; this one is the last.
    @inline(__always)
    mutating func noteInlineStarts(_ count: Int, upTo operation: Unmanaged<AnyOperation>) {
        if count == 0 { return }
        if operation._withUnsafeGuaranteedRef({ $0.goesFirst }) {
            children.noteStarts(ofReleased: count)
        } else {
            ready.noteStarts(ofReleased: count)
        }
    }

    /// Ahead of those of its priority that were not taken up before. False: it may not start while the queue is
    /// suspended.
    ///
    /// - Parameter hasDependencies: What others have made ready ends more than what has none would begin.
    mutating func appendReturning(_ operation: Unmanaged<AnyOperation>, hasDependencies: Bool) -> Bool {
        let (level, goesFirst, listing) = operation._withUnsafeGuaranteedRef { ($0.level, $0.goesFirst, $0.listing) }
        if listing == .over {
            ended.append(operation)
            return true
        }
        if isSuspended, !goesFirst { return false }
        if goesFirst || hasDependencies {
            returning.append(operation, at: level)
            note(operation, .returning)
        } else {
            ready.append(again: operation, at: level)
            note(operation, .again)
        }
        return true
    }

    /// It has ended before its run, and leaves whatever list it is in. True: nobody else lets go of it.
    mutating func remove(_ operation: Unmanaged<AnyOperation>) -> Bool {
        let (level, listing) = operation._withUnsafeGuaranteedRef { ($0.level, $0.listing) }
        note(operation, .over)
        switch listing {
        case .ready, .released: ready.remove(operation, at: level, isReleased: listing == .released)
        case .children, .releasedChildren:
            children.remove(operation, at: level, isReleased: listing == .releasedChildren)
        case .returning: returning.remove(operation, at: level)
        case .again: ready.remove(again: operation, at: level)
        case .none, .localQueue, .releasedLocalQueue, .over: return false
        }
        return true
    }

    /// Its priority changes, and with it its list: it goes behind those of its kind that have that priority.
    mutating func move(_ operation: Unmanaged<AnyOperation>, to level: OperationPriority) {
        let (former, listing) = operation._withUnsafeGuaranteedRef { ($0.level, $0.listing) }
        operation._withUnsafeGuaranteedRef { $0.level = level }
        switch listing {
        case .ready, .released:
            ready.remove(operation, at: former, isReleased: listing == .released)
            ready.append(operation, at: level, isReleased: listing == .released)
        case .children, .releasedChildren:
            children.remove(operation, at: former, isReleased: listing == .releasedChildren)
            children.append(operation, at: level, isReleased: listing == .releasedChildren)
        case .returning:
            returning.remove(operation, at: former)
            returning.append(operation, at: level)
        case .again:
            ready.remove(again: operation, at: former)
            ready.append(again: operation, at: level)
        // It waits for something else, or has been taken up.
        case .none, .localQueue, .releasedLocalQueue, .over: break
        }
    }

    /// Linked, to be released after unlocking.
    @inline(__always)
    mutating func takeEnded() -> Unmanaged<AnyOperation>? {
        if ended.isEmpty { return nil }
        defer { ended = IntrusiveList() }
        return ended.first
    }

    /// Unlists, from those that return, what may not start while the queue is suspended. Linked.
    mutating func takeReturning() -> Unmanaged<AnyOperation>? {
        var taken = IntrusiveList()
        for level in OperationPriority.allCases {
            var kept = IntrusiveList()
            while let operation = returning.popFirst(at: level) {
                if operation._withUnsafeGuaranteedRef({ $0.goesFirst }) {
                    kept.append(operation)
                } else {
                    note(operation, .none)
                    taken.append(operation)
                }
            }
            kept.forEach { returning.append($0, at: level) }
            while let operation = ready.popFirst(againAt: level) {
                note(operation, .none)
                taken.append(operation)
            }
        }
        return taken.first
    }

    // MARK: Local queues

    /// Whether a worker may have several of this priority in its local queue: all may start, and nothing comes before
    /// them.
    @inline(__always)
    func allowsLocalQueues(at level: OperationPriority) -> Bool {
        width > 1 && running <= width && !isSuspended && urgent.isEmpty && resumptions.isEmpty
            && order != .lastInFirstOut && ready.filledAgain.isEmpty
            && level.rawValue >= ready.filled.highest?.rawValue ?? 0
    }

    /// Of what is in no local queue.
    var highestStartable: OperationPriority? { startable.highest }

    /// Of those that were not taken up before.
    @inline(__always)
    mutating func popReady(at level: OperationPriority) -> Unmanaged<AnyOperation>? {
        if !ready.filled.contains(level) { return nil }
        taken &+= 1
        guard let (operation, isReleased) = ready.popFirst(at: level) else { return nil }
        note(operation, isReleased ? .releasedLocalQueue : .localQueue)
        return operation
    }

    /// Ahead of the others, as it was.
    mutating func reclaim(_ operation: Unmanaged<AnyOperation>, at level: OperationPriority) {
        taken &-= 1
        let isReleased = operation._withUnsafeGuaranteedRef { $0.listing } == .releasedLocalQueue
        ready.prepend(operation, at: level, isReleased: isReleased)
        note(operation, isReleased ? .released : .ready)
    }

    /// What is in the workers' local queues has changed.
    mutating func note(_ localQueues: LocalQueues) {
        handed = PriorityMask()
        if localQueues.haveMore { handed.insert(localQueues.level) }
    }

    /// - Parameter level: That of the body.
    mutating func append(_ resumption: Resumption, at level: OperationPriority) {
        if !resumption.isTaken { resumptions.append(resumption, at: level) }
    }

    @inline(__always)
    private mutating func popOperation() -> Unmanaged<AnyOperation>? {
        guard let level = startable.highest, let operation = popOperation(at: level) else { return nil }
        note(operation, .none)
        resumedInARow = 0
        return operation
    }

    @inline(__always)
    private mutating func popOperation(at level: OperationPriority) -> Unmanaged<AnyOperation>? {
        taken &+= 1
        if urgent.contains(level), mayGoFirst(at: level) {
            return popUrgent(at: level)
        }
        urgentInARow = 0
        return ready.popFirst(at: level)?.operation
    }

    private mutating func popUrgent(at level: OperationPriority) -> Unmanaged<AnyOperation>? {
        let childrenWait = children.filled.contains(level)
        returningInARow = childrenWait ? returningInARow + 1 : 0
        if !childrenWait || returningInARow <= ReadyLines.budget, let operation = returning.popFirst(at: level) {
            return operation
        }
        returningInARow = 0
        return children.popFirst(at: level)?.operation
    }

    /// Those that go first can bring about more of their kind without end: an operation that fails and tries again at
    /// once, a body that runs one child after another. So after a number of them one of those that wait behind them has
    /// its turn.
    private mutating func mayGoFirst(at level: OperationPriority) -> Bool {
        if isSuspended || !ready.filled.contains(level) { return true }
        urgentInARow += 1
        return urgentInARow <= ReadyLines.budget
    }

    /// A body that goes on comes before operations of its own or a lower priority that start, but for every seventeenth
    /// time: bodies that wait again and again would keep all others from starting.
    private mutating func popResumption() -> Resumption? {
        while let level = resumptions.filled.highest {
            let first = startable.highest
            if let first, level < first || level == first && resumedInARow >= ReadyLines.budget { return nil }
            guard let resumption = resumptions.popFirst(at: level), !resumption.isTaken else { continue }
            resumption.isTaken = true
            resumedInARow = level == first ? resumedInARow + 1 : 0
            parked -= 1
            return resumption
        }
        return nil
    }

    // MARK: Permits

    /// After every change: what the free permits allow. `more`: whether there is something in the workers' local
    /// queues.
    @inline(__always)
    mutating func settle(besides more: @autoclosure () -> Bool = false, startsWorkers: Bool = true) -> Action {
        if running >= width { return .none }
        if !resumptions.isEmpty, let resumption = popResumption() {
            running += 1
            return .resume(.passRetained(resumption))
        }
        if isStarting || !startsWorkers || startable.isEmpty && !more() { return .none }
        isStarting = true
        running += 1
        return .startWorker
    }

    /// A new worker has its thread.
    mutating func workerStarted() -> WorkerAction {
        isStarting = false
        return nextAction()
    }

    /// For a worker that has a permit and nothing to do.
    @inline(__always)
    mutating func nextAction() -> WorkerAction {
        if running <= width {
            if !resumptions.isEmpty, let resumption = popResumption() { return .handOver(.passRetained(resumption)) }
            if let operation = popOperation() { return .run(operation) }
        }
        running -= 1
        return .end
    }

    /// At the end of a worker's slice. True: it returns its permit and ends, because a worker waits for its thread.
    mutating func endSlice() -> Bool {
        if isStarting { running -= 1 }
        return isStarting
    }

    mutating func returnPermit() { running -= 1 }

    /// A body waits, or has not taken the permit that was booked for it.
    mutating func releasePermit() {
        running -= 1
        parked += 1
    }

    /// What the worker has taken up waits, and the worker goes on.
    mutating func park() -> WorkerAction {
        parked += 1
        return nextAction()
    }

    /// A worker that has released its permit and has work to do again: it takes one, if there is one free.
    mutating func reacquirePermit() -> WorkerAction {
        parked -= 1
        if running >= width { return .end }
        running += 1
        return nextAction()
    }

    /// As above, for a worker that goes on with an operation of this priority. False: others come before it, or may.
    mutating func reacquirePermit(for level: OperationPriority) -> Bool {
        if isSuspended || running >= width { return false }
        let before = urgent.union(resumptions.filled).union(ready.filledAgain)
        if let first = before.highest, first >= level { return false }
        if let first = ready.filled.union(handed).highest, first > level { return false }
        parked -= 1
        running += 1
        taken &+= 1
        return true
    }

    /// A body has ended while its permit was released.
    mutating func endedWithoutPermit() { parked -= 1 }

    /// Bodies that have started and not ended.
    var begun: Int { running - (isStarting ? 1 : 0) + parked }
}

/// In which list of its queue an operation is.
enum Listing: UInt8 {
    case none
    case ready
    case released
    case children
    case releasedChildren
    case returning
    case again
    /// In the local queue of a worker, or taken up from there.
    case localQueue
    /// As above; it came from those that were released.
    case releasedLocalQueue
    /// It ended before its run, and comes into no list any more.
    case over
}
