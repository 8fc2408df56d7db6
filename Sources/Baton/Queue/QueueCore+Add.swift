/// Claim, enter, link: what an add does.
///
/// Claiming makes an operation this queue's and freezes its dependencies. Entering the registry comes before anything
/// can finish it. Linking registers it with its sources; one that is ready is listed together with the next batch.
extension QueueCore {
    /// Operations that are entered and listed under one lock.
    private static let batchSize = 64

    /// Adds in this order. Operations that were added before are left alone, and reported with `callSite` if there is
    /// one.
    func add(
        _ operations: [AnyOperation], from origin: SubmissionSource = .outside, run: UInt32 = 0, _ callSite: CallSite?
    ) {
        operations.withUnsafeBufferPointer { add($0, from: origin, run: run, callSite) }
    }

    /// - Parameter withInputs: Whether it adds what they take their inputs from, too; see ``addWithInputs(_:_:)``.
    ///   Those that stand in the list are added in its order.
    func add(
        _ operations: UnsafeBufferPointer<AnyOperation>, from origin: SubmissionSource = .outside, run: UInt32 = 0,
        _ callSite: CallSite?, withInputs: Bool = false
    ) {
        if operations.count > Self.batchSize { state.withLock { $0.registry.reserve(operations.count) } }
        var batch = Batch(origin: origin, run: run, on: self)
        var pace = StartPace()
        // The inputs have to be kept for as long as the list keeps the others.
        var (inputs, undecided): ([AnyOperation], [AnyOperation]) = ([], [])
        for index in operations.indices {
            let retained = Unmanaged.passRetained(operations[index])
            if withInputs {
                retained._withUnsafeGuaranteedRef { operation in
                    if operation.inputCount == 0 { return }
                    // Sources that stand before it in the list have been claimed.
                    guard let found = unaddedInputs(before: operation) else { return undecided.append(operation) }
                    if found.isEmpty { return }
                    claim(found, &batch, &pace)
                    inputs += found
                }
            }
            claim(retained, callSite, &batch)
            if batch.count == Self.batchSize { enter(&batch, startsWorkers: pace.isDue()) }
        }
        // Once at least, for what was listed without a worker.
        repeat { enter(&batch) } while !batch.isEmpty
        withExtendedLifetime(inputs) {}
        lookForCycles(closedBy: batch)
        for operation in undecided { addInputs(of: operation) }
    }

    /// False: the queue has been shut down, and the operation has ended.
    @discardableResult
    func add(_ operation: AnyOperation, _ callSite: CallSite?) -> Bool {
        var batch = Batch(origin: .outside, on: self)
        claim(.passRetained(operation), callSite, &batch)
        var isTaken = true
        while !batch.isEmpty {
            if !enter(&batch) { isTaken = false }
        }
        lookForCycles(closedBy: batch)
        return isTaken
    }

    /// Adds a barrier, and sets up the fences before and behind it in the same step in which it enters.
    func add(barrier: AnyOperation, _ callSite: CallSite?) {
        var batch = Batch(origin: .outside, on: self)
        claim(.passRetained(barrier), callSite, &batch)
        guard let claimed = batch.claimed.first else { return }
        let (door, fencing) = change { state in
            let door = state.door(for: .outside)
            if !door.isClosed { state.setUpFences(around: barrier, on: self) }
            enter(claimed, &state)
            return (door, door.isClosed ? nil : state.barriers.newest)
        }
        if stalls.isWatched { stalls.adjust(on: self) }
        batch = Batch(origin: .outside, on: self)
        if let fencing { link(fencing.before, &batch) }
        // The fence before it stands behind the earlier ones.
        pass(barrier, fencing.map { .behind($0.before) } ?? door)
        link(claimed, &batch)
        if let fencing { link(fencing.behind, &batch) }
        while !batch.isEmpty { enter(&batch) }
        lookForCycles(closedBy: batch)
    }

    /// After which batches a long add starts a worker, if there is none: the 1st, the 4th, and every 16th. Its thread
    /// may be woken on the core that adds, do in no time what is there, and end: after every batch that would take
    /// longer than adding and running.
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

    /// Two lists of operations, and what is to be done at the end of the add.
    private struct Batch {
        let origin: SubmissionSource
        let isChild: Bool
        /// The number of the ``RunScope`` that adds; 0: none.
        let run: UInt32
        /// Nil: the queue carries no task-locals.
        let taskLocals: TaskLocalValues?
        var isObserved: Bool
        var count = 0
        /// Claimed, and not yet entered.
        var claimed = IntrusiveList()
        /// Entered, linked, and not yet listed.
        var ready = IntrusiveList()
        /// Linked while somebody waits for them, and waiting for others: one of them may be the last of a cycle.
        var suspects: [AnyOperation] = []
        /// So many of all that have been linked.
        var links = 0

        var isEmpty: Bool { count == 0 && ready.isEmpty }

        init(origin: SubmissionSource, run: UInt32 = 0, on core: QueueCore) {
            self.origin = origin
            self.run = run
            isChild = origin.isChild
            isObserved = core.hub.isObserved
            taskLocals = TaskLocalValues(of: core.taskLocals)
        }

        @inline(__always)
        mutating func clear() {
            count = 0
            claimed = IntrusiveList()
            ready = IntrusiveList()
        }
    }

    /// Claims what others bring along, which the caller keeps until the end of the add.
    @inline(never)
    private func claim(_ inputs: [AnyOperation], _ batch: inout Batch, _ pace: inout StartPace) {
        for input in inputs {
            claim(.passRetained(input), nil, &batch)
            if batch.count == Self.batchSize { enter(&batch, startsWorkers: pace.isDue()) }
        }
    }

    /// Takes the reference that is the queue's from here to the finish.
    @inline(__always)
    private func claim(
        _ retained: Unmanaged<AnyOperation>, _ callSite: CallSite?, _ batch: inout Batch
    ) {
        let claim = retained._withUnsafeGuaranteedRef { operation in
            operation.withLife { life in
                let claim = life.claim()
                if case .claimed(let isAwaited, _) = claim {
                    operation.home = .passUnretained(self)
                    operation.queueNumber = number
                    if batch.run != 0 { life.runNumber = batch.run }
                    if batch.isChild { operation.becomesChild(of: batch.origin, &life) }
                    if let values = batch.taskLocals { life.madeOptionalState().taskLocals = values }
                    if isAwaited { operation.dependencyCounter.noteAwaited() }
                    if batch.isObserved || operation.isObserved {
                        operation.holdEvents(for: hub, isQueueObserved: batch.isObserved, &life)
                    }
                }
                return claim
            }
        }
        if case .claimed(_, let isPrepared) = claim {
            if isPrepared { retained._withUnsafeGuaranteedRef { prepare($0, batch.origin) } }
            batch.claimed.append(retained)
            batch.count += 1
        } else {
            refuse(retained.takeRetainedValue(), claim, callSite)
        }
    }

    /// What few operations want when they are added, before anybody else can reach them through the queue.
    @inline(never)
    private func prepare(_ operation: AnyOperation, _ origin: SubmissionSource) {
        // What the queue refuses is no duplicate, and replaces nothing.
        if case .closed = state.withLock({ $0.door(for: origin) }) { return }
        if operation.endsOnBrokenCycle() { return }
        if operation.withLife({ $0.optionalState?.uniqueness != nil }) { operation.enterIdentities(on: self) }
        limitWaiting(of: operation)
    }

    @inline(never)
    private func refuse(_ operation: AnyOperation, _ claim: Lifecycle.Claim, _ callSite: CallSite?) {
        // One that was cancelled before anybody added it has finished, and this is its first add.
        let wasAdded = if case .addedBefore = claim { true } else { operation.home != nil }
        guard wasAdded, let callSite else { return }
        let wasPulledIn = operation.withLife { $0.takePulledIn() }
        if wasPulledIn, operation.queueNumber == number { return }
        let kind: Misuse.Kind = wasPulledIn ? .addedWithReader(operation.reader) : .addedTwice
        report(Misuse(kind, operation: operation.reference, callSite: callSite), of: operation)
    }

    /// One lock: enters what was claimed, and lists what is ready, from the batch before or because it has no
    /// dependencies. False: the door is closed for those that were claimed.
    @discardableResult
    private func enter(_ batch: inout Batch, startsWorkers: Bool = true) -> Bool {
        let (claimed, count, ready) = (batch.claimed, batch.count, batch.ready)
        batch.clear()
        // Those with dependencies, and those whose end has come in between.
        var rest = IntrusiveList()
        let door = change(startsWorkers: startsWorkers) { state in
            let door = state.door(for: batch.origin)
            if case .behind(let fence) = door { state.addUsers(count, of: fence) }
            ready.forEach { state.scheduler.append($0) }
            claimed.forEach { operation in
                enter(operation, &state)
                let isListed = operation._withUnsafeGuaranteedRef { operation in
                    guard door.isOpen, operation.edges.isEmpty, !operation.isObserved else { return false }
                    return !operation.dependencyCounter.linked(to: 0).wasEnded
                }
                if isListed {
                    state.scheduler.append(operation)
                } else {
                    rest.append(operation)
                }
            }
            return door
        }
        rest.forEach { operation in
            operation._withUnsafeGuaranteedRef { pass($0, door) }
            link(operation, &batch)
        }
        if stalls.isWatched { stalls.adjust(on: self) }
        // Somebody has come in between, who may have looked for the queue's operations before these were there.
        if hub.isObserved != batch.isObserved {
            batch.isObserved.toggle()
            observeOperations()
        }
        if case .closed = door { return claimed.isEmpty }
        return true
    }

    /// The caller of the add keeps the operation alive: once linked, another thread may run and release it.
    @inline(__always)
    private func link(_ claimed: Unmanaged<AnyOperation>, _ batch: inout Batch) {
        claimed._withUnsafeGuaranteedRef { operation in
            let linked: DependencyCounter.Linked
            var links = Links()
            var isToldReady = false
            if operation.dependencyCounter.isLinked {
                // It has no dependencies, and was linked when it was entered.
                linked = .endedWithoutLinks
            } else {
                let level = operation.level
                operation.edges.enter(claimed) { links.register($0, with: $1, at: level) }
                if links.foundLower { operation.raiseSources() }
                // One of them may have ended on a cycle with this since the claim.
                if links.foundFinished { operation.foundFinishedSource() }
                let isWaiting = links.registered > 0
                let addition = operation.isObserved ? operation.additionToTell(from: batch.origin) : nil
                if isWaiting, let addition { operation.tell(addition, isWaiting: true) }
                linked = operation.dependencyCounter.linked(to: links.registered)
                // With it, that it is ready: nobody else can begin it.
                if !isWaiting, let addition { operation.tell(addition, isReady: linked.isReady && !linked.wasEnded) }
                isToldReady = !isWaiting && addition != nil
            }
            if linked.wasEnded {
                operation.endAfterLinking()
                // Else whoever counts it down to zero lets go of it.
                if linked.isReady { claimed.release() }
            } else if linked.isReady {
                if operation.isObserved, !isToldReady { operation.tellReady() }
                batch.ready.append(claimed)
            } else if links.waitsForAdded, linked.wasAwaited {
                batch.suspects.append(operation)
            }
            batch.links += links.registered
        }
    }

    private func link(_ fence: Fence, _ batch: inout Batch) {
        var links = Links()
        let level = fence.level
        fence.edges.enter(.passUnretained(fence)) { links.register($0, with: $1, at: level) }
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

    /// Once for a whole add: a search for each operation would walk the same graph again and again.
    @inline(__always)
    private func lookForCycles(closedBy batch: borrowing Batch) {
        if !batch.suspects.isEmpty { lookForCycles(closedBy: batch.suspects, links: batch.links) }
    }

    private struct Links {
        var registered = 0
        var foundFinished = false
        var waitsForAdded = false
        /// A source has a lower priority.
        var foundLower = false

        @inline(__always)
        mutating func register(
            _ place: DependentList.Place, with source: Unmanaged<AnyOperation>, at level: OperationPriority
        ) {
            source._withUnsafeGuaranteedRef { source in
                if source.level < level { foundLower = true }
                switch source.withLife({ $0.register(place) }) {
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
    /// Locked by the caller.
    fileprivate final func becomesChild(of origin: SubmissionSource, _ life: inout Lifecycle) {
        goesFirst = true
        isChild = true
        if let holder = origin.nameHolder { life.madeOptionalState().nameHolder = holder }
    }
}
