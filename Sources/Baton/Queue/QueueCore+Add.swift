/// Adding operations, in three steps: adopt, enter and link.
///
/// The queue adopts an operation, which freezes the dependencies of the operation: no other queue can take it any more.
/// The operation then enters the registry, before anything can finish it. Linking registers it with its sources; if it
/// is ready by then, it is listed together with the next batch.
extension QueueCore {
    /// The number of operations that are entered and listed under one lock.
    private static let batchSize = 64

    /// Adds the operation, and before it all of its inputs, direct or not, that nobody has added. The inputs come along
    /// because an operation that is added in between, such as a barrier, must not come between an input and its reader.
    ///
    /// - Returns: False if the queue has been shut down. The operation has ended in that case.
    @discardableResult
    func add(_ operation: AnyOperation, _ callSite: CallSite?) -> Bool {
        let inputs = operation.inputCount == 0 ? [] : unaddedInputs(before: operation)
        if let inputs, !inputs.isEmpty { add(inputs, nil) }
        var batch = Batch(origin: .outside, on: self)
        adopt(Retained(operation), callSite, &batch)
        var isTaken = true
        while !batch.isEmpty {
            if !enter(&batch) { isTaken = false }
        }
        if !batch.suspects.isEmpty { lookForCycles(closedBy: batch.suspects, links: batch.links) }
        if inputs == nil { addInputs(of: operation) }
        return isTaken
    }

    /// Adds operations in the order of the array. Operations that were added before are left alone, and are reported as
    /// misuse if there is a `callSite`.
    ///
    /// - Parameter withInputs: True to add the inputs of the operations too; see ``add(_:_:)``. Inputs that precede
    ///   their readers in the array are added in its order.
    func add(
        _ operations: [AnyOperation], from origin: SubmissionSource = .outside, run: UInt32 = 0,
        _ callSite: CallSite?, withInputs: Bool = false
    ) {
        if operations.count > Self.batchSize { state.withLock { $0.registry.reserve(operations.count) } }
        var batch = Batch(origin: origin, run: run, on: self)
        var pace = StartPace()
        // The caller's array retains its operations until the add ends. The inputs that the add finds need the same.
        var (inputs, undecided): ([AnyOperation], [AnyOperation]) = ([], [])
        for index in operations.indices {
            let retained = Retained(operations[index])
            if withInputs {
                retained.use { operation in
                    if operation.inputCount == 0 { return }
                    // Sources that precede the operation in the array have been adopted.
                    guard let found = unaddedInputs(before: operation) else { return undecided.append(operation) }
                    if found.isEmpty { return }
                    adopt(found, &batch, &pace)
                    inputs += found
                }
            }
            adopt(retained, callSite, &batch)
            if batch.count == Self.batchSize { enter(&batch, startsWorkers: pace.isDue()) }
        }
        // Enters once even if the batch is empty, because earlier batches may not have started a worker.
        repeat { enter(&batch) } while !batch.isEmpty
        withExtendedLifetime(inputs) {}
        if !batch.suspects.isEmpty { lookForCycles(closedBy: batch.suspects, links: batch.links) }
        for operation in undecided { addInputs(of: operation) }
    }

    /// Adds a barrier. The fences before and behind it are set up under the same lock under which the barrier enters.
    func add(barrier: AnyOperation, _ callSite: CallSite?) {
        var batch = Batch(origin: .outside, on: self)
        adopt(Retained(barrier), callSite, &batch)
        guard let adopted = batch.adopted.first else { return }
        let (decision, fenced) = change { state in
            let decision = state.admissionDecision(for: .outside, isAdmitted: batch.isAdmitted)
            if !decision.isClosed { state.setUpFences(around: barrier, on: self) }
            insert(adopted, &state)
            return (decision, decision.isClosed ? nil : state.barriers.newest)
        }
        endAdmission(&batch)
        if stalls.isWatched { stalls.adjust(on: self) }
        batch = Batch(origin: .outside, on: self)
        if let fenced { link(fenced.before, &batch) }
        // The barrier waits for the fence before it, and this fence waits for the earlier ones.
        apply(fenced.map { .behind($0.before) } ?? decision, to: barrier)
        link(adopted, &batch)
        if let fenced { link(fenced.behind, &batch) }
        while !batch.isEmpty { enter(&batch) }
        if !batch.suspects.isEmpty { lookForCycles(closedBy: batch.suspects, links: batch.links) }
    }

    /// Decides after which batches a long add starts a worker if none is starting: the 1st, the 4th, the 16th, and
    /// every 16th from there on. The system may wake the worker's thread on the core of the thread that adds; the
    /// worker then runs the few operations that are ready and ends. If this happened after every batch, it would take
    /// longer than adding and running the operations.
    private struct StartPace {
        private var batches = 0
        private var next = 1

        mutating func isDue() -> Bool {
            batches += 1
            if batches < next { return false }
            next = min(4 * next, next + 16)
            return true
        }
    }

    /// The operations that an add enters or lists under its next lock, and what the add has to do at its end.
    private struct Batch {
        let origin: SubmissionSource
        let isChild: Bool
        /// The number of the ``RunScope`` that adds, or 0.
        let run: UInt32
        /// The values of the task-locals that the queue carries, or nil if it carries none.
        let taskLocals: TaskLocalValues?
        var isObserved: Bool
        /// True if the queue has admitted the adopted operations before they enter, because one of them may replace
        /// others. The queue is held until they have entered.
        var isAdmitted = false
        var count = 0
        /// Operations that are adopted and have not entered.
        var adopted = IntrusiveList()
        /// Operations that have entered, are linked and ready, and have not been listed.
        var ready = IntrusiveList()
        /// Operations that somebody already awaited when they were linked and that wait for others. Each may have
        /// closed a cycle.
        var suspects: [AnyOperation] = []
        /// The number of links that the whole add has made.
        var links = 0

        var isEmpty: Bool { count == 0 && ready.isEmpty }

        init(origin: SubmissionSource, run: UInt32 = 0, on core: QueueCore) {
            self.origin = origin
            self.run = run
            isChild = origin.isChild
            isObserved = core.broadcaster.isObserved
            taskLocals = core.taskLocalValues
        }
    }

    /// Adopts the inputs of an operation. The caller retains them until the end of the add.
    @inline(never)
    private func adopt(_ inputs: [AnyOperation], _ batch: inout Batch, _ pace: inout StartPace) {
        for input in inputs {
            adopt(Retained(input), nil, &batch)
            if batch.count == Self.batchSize { enter(&batch, startsWorkers: pace.isDue()) }
        }
    }

    /// Adopts one operation. Consumes the reference, which the queue holds until the operation has finished.
    @inline(__always)
    private func adopt(
        _ operation: consuming Retained<AnyOperation>, _ callSite: CallSite?, _ batch: inout Batch
    ) {
        let adoption = operation.use { operation in
            operation.withLifecycle { life in
                let adoption = life.adopt()
                if case .adopted(let isAwaited, _) = adoption {
                    operation.unretainedCore = Unretained(self)
                    operation.queueNumber = number
                    if batch.run != 0 { life.runNumber = batch.run }
                    if operation.kinship == .childOfPlannedGroup { operation.countPlannedGroup(&life) }
                    if batch.isChild { operation.markAsChild(of: batch.origin, &life) }
                    if let values = batch.taskLocals { life.ensureOptionalState().taskLocals = values }
                    if isAwaited { operation.dependencyCounter.noteAwaited() }
                    if batch.isObserved || operation.isObserved {
                        operation.holdEvents(for: broadcaster, isQueueObserved: batch.isObserved, &life)
                    }
                }
                return adoption
            }
        }
        if case .adopted(_, let isPrepared) = adoption {
            if isPrepared { operation.use { prepare($0, &batch) } }
            batch.adopted.append(operation.handOver())
            batch.count += 1
        } else {
            refuse(operation.take(), adoption, callSite)
        }
    }

    /// Performs the steps that few operations need: it ends an operation on a broken cycle, enters its identities, and
    /// starts its waiting limit. Other threads cannot reach the operation through the queue yet.
    @inline(never)
    private func prepare(_ operation: AnyOperation, _ batch: inout Batch) {
        // An operation that the queue refuses is not a duplicate and replaces no other operation.
        if !batch.isAdmitted {
            batch.isAdmitted = state.withLock { state in
                if state.admissionDecision(for: batch.origin).isClosed { return false }
                holds.begin()
                return true
            }
            if !batch.isAdmitted { return }
        }
        if operation.endIfOnBrokenCycle() { return }
        if operation.withLifecycle({ $0.optionalState?.uniqueness != nil }) { operation.claimIdentity(on: self) }
        limitWaiting(of: operation)
    }

    /// Releases the queue after the admitted operations have entered.
    private func endAdmission(_ batch: inout Batch) {
        if !batch.isAdmitted { return }
        batch.isAdmitted = false
        endHold()
    }

    @inline(never)
    private func refuse(_ operation: AnyOperation, _ adoption: Lifecycle.Adoption, _ callSite: CallSite?) {
        // An operation that was cancelled before its first add has finished too, but that add is not misuse.
        let wasAdded = if case .addedBefore = adoption { true } else { operation.unretainedCore != nil }
        guard wasAdded, let callSite else { return }
        let wasPulledIn = operation.withLifecycle { $0.takeWasAddedAsUpstream() }
        if wasPulledIn, operation.queueNumber == number { return }
        let kind: Misuse.Kind = wasPulledIn ? .addedWithReader(operation.reader) : .addedTwice
        let misuse = Misuse(
            kind, operation: operation.reference, queue: nameOfOtherQueue(of: operation), callSite: callSite)
        report(misuse, of: operation)
    }

    /// The name of the queue to which the operation was added; nil if that is this queue, or has no name.
    func nameOfOtherQueue(of operation: AnyOperation) -> String? {
        let other = operation.withLifecycle { _ in operation.queueNumber }
        return other == number ? nil : QueueDirectory.find(other)?.name
    }

    /// Enters the adopted operations under one lock. Under the same lock it lists the ready operations of the previous
    /// batch, and those adopted operations that have no dependencies.
    ///
    /// - Returns: False if the queue refuses the operations that were adopted.
    @discardableResult
    private func enter(_ batch: inout Batch, startsWorkers: Bool = true) -> Bool {
        let (adopted, count, ready) = (batch.adopted, batch.count, batch.ready)
        (batch.adopted, batch.count, batch.ready) = (IntrusiveList(), 0, IntrusiveList())
        // The operations to link: those with dependencies or observers, those behind a fence, and those that have ended
        // since the adoption.
        var rest = IntrusiveList()
        let decision = change(startsWorkers: startsWorkers) { state in
            let decision = state.admissionDecision(for: batch.origin, isAdmitted: batch.isAdmitted)
            if case .behind(let fence) = decision { state.addUsers(count, of: fence) }
            ready.forEach { state.scheduler.append($0) }
            adopted.forEach { operation in
                insert(operation, &state)
                let isListed = operation.use { operation in
                    guard decision.isOpen, operation.edges.isEmpty, !operation.isObserved else { return false }
                    return !operation.dependencyCounter.linked(to: 0).wasEnded
                }
                if isListed {
                    state.scheduler.append(operation)
                } else {
                    rest.append(operation)
                }
            }
            return decision
        }
        endAdmission(&batch)
        rest.forEach { operation in
            operation.use { apply(decision, to: $0) }
            link(operation, &batch)
        }
        if stalls.isWatched { stalls.adjust(on: self) }
        // The first observer came, or the last one left, after the batch had read `isObserved`. A new observer may have
        // looked for the queue's operations before these had entered.
        if broadcaster.isObserved != batch.isObserved {
            batch.isObserved.toggle()
            observeOperations()
        }
        return !decision.isClosed || adopted.isEmpty
    }

    /// Links an operation to its sources. The caller of the add retains the operation: once it is linked, another
    /// thread may run and release it.
    @inline(__always)
    private func link(_ adopted: Unretained<AnyOperation>, _ batch: inout Batch) {
        adopted.use { operation in
            let linked: DependencyCounter.Linked
            var links = Links()
            var hasPublishedReady = false
            if operation.dependencyCounter.isLinked {
                // The operation has no dependencies. It was marked as linked when it entered, and had ended before.
                linked = .endedWithoutLinks
            } else {
                let level = operation.currentPriority
                operation.edges.enter(adopted) { links.register($0, with: $1, at: level) }
                if links.foundLower { operation.raiseSources() }
                // A source may have ended since the adoption because of a cycle with this operation.
                if links.foundFinished { operation.endIfSourceEndedOnCycle() }
                let isWaiting = links.registered > 0
                let added = operation.isObserved ? operation.makeAddedEvent(from: batch.origin) : nil
                if isWaiting, let added { operation.publish(added, isWaiting: true) }
                linked = operation.dependencyCounter.linked(to: links.registered)
                // The event of the add also says whether the operation is ready. Nobody else can begin the operation
                // before it is listed.
                if !isWaiting, let added { operation.publish(added, isReady: linked.isReady && !linked.wasEnded) }
                hasPublishedReady = !isWaiting && added != nil
            }
            if linked.wasEnded {
                operation.endAfterLinking()
                // Otherwise the thread that counts the operation down to zero releases it.
                if linked.isReady { Retained(handedOver: adopted).release() }
            } else if linked.isReady {
                if operation.isObserved, !hasPublishedReady { operation.publishReady() }
                batch.ready.append(adopted)
            } else if links.waitsForAdded, linked.wasAwaited {
                batch.suspects.append(operation)
            }
            batch.links += links.registered
        }
    }

    private func link(_ fence: Fence, _ batch: inout Batch) {
        var links = Links()
        let level = fence.currentPriority
        fence.edges.enter(Unretained(fence)) { links.register($0, with: $1, at: level) }
        if links.foundLower { fence.raiseSources() }
        if links.foundFinished { CycleBreak.foundFinished(by: fence) }
        let linked = fence.dependencyCounter.linked(to: links.registered)
        if linked.isReady {
            fence.open()
        } else if links.waitsForAdded, linked.wasAwaited {
            batch.suspects.append(fence)
        }
        batch.links += links.registered
    }

    private struct Links {
        var registered = 0
        var foundFinished = false
        var waitsForAdded = false
        /// True if a source has a lower priority.
        var foundLower = false

        @inline(__always)
        mutating func register(
            _ place: DependentList.Place, with source: Unretained<AnyOperation>, at level: OperationPriority
        ) {
            source.use { source in
                if source.currentPriority < level { foundLower = true }
                switch source.withLifecycle({ $0.register(place) }) {
                case .finishedBefore: foundFinished = true
                case .registered(let sourceWasAdded):
                    registered += 1
                    if sourceWasAdded {
                        source.dependencyCounter.noteAwaited()
                        waitsForAdded = true
                    }
                }
            }
        }
    }
}

extension AnyOperation {
    /// Counts the group that has not started and has this operation as a child, because the operation's kinship does
    /// not change any more. The caller holds the operation's lock.
    @inline(never)
    fileprivate final func countPlannedGroup(_ life: inout Lifecycle) {
        kinship = .none
        life.ensureOptionalState().otherPlannedGroups += 1
    }

    /// Marks the operation as a child. The caller holds the operation's lock.
    fileprivate final func markAsChild(of origin: SubmissionSource, _ life: inout Lifecycle) {
        goesFirst = true
        kinship = .child
        if let holder = origin.exclusionHolder { life.ensureOptionalState().exclusionHolder = holder }
    }
}

// MARK: - Admission

/// The origin of an add. It decides whether barriers and a shutdown apply to the operation.
enum SubmissionSource {
    case outside
    /// A body adds the operation with `context.produce`.
    case produced
    /// A body awaits the operation.
    case awaited
    /// A body awaits the operation as its child. `inside` is the nearest ancestor that holds exclusions.
    case child(of: AnyOperation, inside: AnyOperation?)

    var isChild: Bool {
        switch self {
        case .child: true
        case .outside, .produced, .awaited: false
        }
    }

    var exclusionHolder: AnyOperation? {
        switch self {
        case .child(_, let holder): holder
        case .outside, .produced, .awaited: nil
        }
    }

    var parent: AnyOperation? {
        switch self {
        case .child(let parent, _): parent
        case .outside, .produced, .awaited: nil
        }
    }
}

/// The decision of a queue about an operation that is added.
enum AdmissionDecision {
    case open
    /// The operation starts after this fence has opened.
    case behind(Fence)
    /// The operation does not run, and ends with an error.
    case closed(Refusal)
    /// The queue admitted the operation before it was cut off: the operation is cancelled with everything in the queue.
    case cutOff

    enum Refusal {
        case shutDown
        case released
    }

    var isOpen: Bool {
        switch self {
        case .open: true
        case .behind, .closed, .cutOff: false
        }
    }

    var isClosed: Bool {
        switch self {
        case .closed, .cutOff: true
        case .open, .behind: false
        }
    }
}

extension QueueCore.State {
    /// Decides how an operation is added. An operation that a body awaits passes the barriers, because a barrier may
    /// wait for that body: it is a body of this queue, or of another queue for which a body of this queue waits.
    ///
    /// - Parameter isAdmitted: True if the queue was not closed to the operation a moment ago, and has been held since.
    func admissionDecision(for origin: SubmissionSource, isAdmitted: Bool = false) -> AdmissionDecision {
        switch (origin, shutdownState) {
        case (_, .closed) where isAdmitted: return .cutOff
        case (_, .closed): return .closed(.shutDown)
        case (.outside, .draining) where !isAdmitted: return .closed(.shutDown)
        // Nobody can resume a released queue.
        case (.produced, _) where isReleased && scheduler.isSuspended: return .closed(.released)
        case (.outside, _), (.produced, _): return barriers.newest.map { .behind($0.behind) } ?? .open
        case (.awaited, _), (.child, _): return .open
        }
    }
}

extension QueueCore {
    /// Applies the decision to an operation. Called by the thread that links the operation, before it does so.
    @inline(__always)
    func apply(_ decision: AdmissionDecision, to operation: AnyOperation) {
        switch decision {
        case .open: break
        case .behind(let fence): addDependency(on: fence, to: operation)
        // The thread that links the operation finds this end and completes it.
        case .closed(.shutDown): _ = operation.endBeforeRun(with: shutDownError(refusing: operation))
        case .closed(.released): _ = operation.endBeforeRun(with: .queueReleased)
        case .cutOff: operation.cancel(reason: .queue) { _ in true }
        }
    }

    /// The error of an operation that this queue refuses, because it was shut down.
    func shutDownError(refusing operation: AnyOperation) -> OperationError {
        .queueShutDown(refused: operation.reference, queue: name)
    }

    private func addDependency(on fence: Fence, to operation: AnyOperation) {
        let hasJoined = operation.withLifecycle { life in
            let hasJoined = life.optionalState?.uniqueness?.joined != nil
            if !hasJoined { operation.edges.append(fence) }
            return hasJoined
        }
        // An operation that has joined another one never starts.
        if hasJoined { fence.removeUser(operation) }
    }
}
