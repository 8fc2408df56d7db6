/// The life of one operation as a state machine: created → added → executing → finishing → finished, or an early end.
/// One with conditions goes from added to evaluating and back.
///
/// Pure: no lock, clock or callback in it. `AnyOperation` locks, asks, unlocks, and then acts on the answer.
struct Lifecycle {
    enum Phase: UInt8 {
        case created
        case added
        /// Its conditions are looked at, on a worker that holds no permit for it.
        case evaluating
        case executing
        /// Its outcome is decided and not yet published: `willFinish` handlers run.
        case finishing
        case finished
    }

    private(set) var phase = Phase.created
    private(set) var isCancelled = false
    /// Everything that it needs is known to have been added.
    private(set) var isUpstreamAdded = false
    /// It was added because something needs it, and nobody has added it by name since.
    var isPulledIn = false
    /// A worker has taken it up. It stays true after the finish.
    private(set) var hasBegun = false
    private let inputs: UInt32
    /// The number of the ``RunScope`` that has added the operation; 0 if none has. It is written in the claim, and
    /// constant afterwards.
    var runNumber: UInt32 = 0
    /// The worker whose task runs the body. The worker outlives the phase in which this is set. A group that waits for
    /// its children has none.
    private(set) unowned(unsafe) var worker: Worker?
    private(set) var dependents = DependentList()
    /// Asked and changed through `Lifecycle+OptionalStateStorage`.
    var optionalStateStorage = OptionalStateStorage.none

    init(inputCount: Int = 0) { inputs = UInt32(inputCount) }

    /// So many of the first edges hand over their outputs.
    var inputCount: Int { Int(inputs) }

    // MARK: Adding

    enum Claim {
        /// It is the caller's to link. `isAwaited`: somebody already waits for it, so a cycle may be closed by it.
        /// `isPrepared`: there is more to do before it is linked.
        case claimed(isAwaited: Bool, isPrepared: Bool)
        case addedBefore
        /// Added and done, or cancelled before anybody added it.
        case finishedBefore
    }

    mutating func claim() -> Claim {
        switch phase {
        case .created:
            phase = .added
            return .claimed(
                isAwaited: !dependents.isEmpty || optionalState?.isAwaitedByBody == true,
                isPrepared: optionalState?.isPreparedAtAdd ?? false)
        case .added, .evaluating, .executing: return .addedBefore
        case .finishing, .finished: return .finishedBefore
        }
    }

    mutating func takePulledIn() -> Bool {
        defer { isPulledIn = false }
        return isPulledIn
    }

    mutating func upstreamWasAdded() { isUpstreamAdded = phase != .created }

    /// Its outcome is stored, and at most its last handlers run.
    var isDecided: Bool { phase == .finishing || phase == .finished }

    /// An operation depends on it, or the body of one may await it: else no wait of its own closes a cycle.
    var mayBeOnCycle: Bool { !dependents.isEmpty || optionalState?.mayBeAwaitedByBody == true }

    /// It waits for something or runs, or its last handlers do.
    var isUnderWay: Bool { phase != .created && phase != .finished }

    enum Registration {
        case registered(sourceWasAdded: Bool)
        /// Nothing will count down.
        case finishedBefore
    }

    @inline(__always)
    mutating func register(_ dependent: DependentList.Place) -> Registration {
        if phase == .finished { return .finishedBefore }
        dependents.append(dependent)
        return .registered(sourceWasAdded: phase != .created)
    }

    /// It does not wait for this any more. False: this has finished, and whoever finishes it counts the dependent down.
    mutating func unregister(_ dependent: DependentList.Place) -> Bool {
        if phase == .finished { return false }
        dependents.remove(dependent)
        return true
    }

    // MARK: Running

    enum Beginning {
        /// Its end came while it was ready.
        case endedBefore
        case plain
        /// Conditions and exclusions come first: see ``pass(on:isKept:)``.
        case withPreconditions
        /// It has time limits or may run again, and nothing else of ``OptionalState`` is asked or told around the body.
        /// They are there until it has finished.
        case timed(Timing)
        /// Something else is.
        case withOptionalState
    }

    @inline(__always)
    mutating func begin(on worker: Worker) -> Beginning {
        switch phase {
        case .added:
            switch optionalStateStorage {
            case .none:
                start(on: worker)
                return .plain
            case .limits(let limits):
                start(on: worker)
                return .timed(.shared(limits))
            case .optionalState(let optionalState):
                return optionalState.preconditions.isPassed ? start(on: worker, optionalState) : .withPreconditions
            }
        case .finished, .finishing, .created, .evaluating, .executing: return .endedBefore
        }
    }

    @inline(__always)
    private mutating func start(on worker: Worker) {
        phase = .executing
        hasBegun = true
        self.worker = worker
    }

    @inline(__always)
    private mutating func start(on worker: Worker, _ optionalState: OptionalState) -> Beginning {
        start(on: worker)
        let timing = optionalState.borrowedTiming
        timing?._withUnsafeGuaranteedRef { $0.attempt += 1 }
        if optionalState.surroundsBody {
            optionalState.isStartOpen = true
            return .withOptionalState
        }
        guard let timing, timing._withUnsafeGuaranteedRef({ $0.timesBody }) else { return .plain }
        return .timed(.own(timing))
    }

    /// A group leaves its worker while its children run, and comes back if they have ended by then.
    mutating func moves(to worker: Worker?) { self.worker = worker }

    func bodyStarts() {
        note(.started(attempt: Int(optionalState?.timing?.attempt ?? 1)))
        closeStart()
    }

    /// A rule kept the body from running.
    mutating func bodyWasSkipped() {
        closeStart()
        hasBegun = false
    }

    private func closeStart() {
        guard let optionalState, optionalState.isStartOpen else { return }
        optionalState.isStartOpen = false
        if isCancelled { noteCancel(optionalState.cancellationReason ?? .requested) }
    }

    /// Its conditions, its body or its last handlers run. One that ended before it ran has no worker, and so no permit
    /// to release.
    var canWait: Bool {
        switch phase {
        case .evaluating, .executing, .finishing: true
        case .created, .added, .finished: false
        }
    }

    // MARK: Cancelling

    enum Cancellation {
        /// Cancelled before, or finished.
        case none
        /// Not added yet, or waiting or ready: it ends here.
        case beforeRun
        /// Its body runs: cancel the worker's task, after unlocking. Nil: it waits for its children on no worker.
        case inRun(Worker?)
    }

    mutating func cancel() -> Cancellation {
        if isCancelled { return .none }
        switch phase {
        case .created, .added:
            isCancelled = true
            return .beforeRun
        case .evaluating, .executing:
            isCancelled = true
            return .inRun(worker)
        // Too late: the outcome is decided.
        case .finishing, .finished: return .none
        }
    }

    // MARK: Attempts

    /// Nil: it is not this run of the body that is under way, or something else has cancelled it.
    mutating func cutAttempt(in run: Int32, after limit: Duration, isLast: Bool) -> Worker? {
        guard phase == .executing, !isCancelled, let timing = madeTiming(), timing.run == run, !timing.isCut
        else { return nil }
        timing.isCut = true
        if isLast || !timing.hasAttemptsLeft { attemptIsCancelled(after: limit) }
        return worker
    }

    /// A limit has cut the attempt, and there is no other.
    private mutating func attemptIsCancelled(after limit: Duration) {
        isCancelled = true
        optionalState?.cancellationReason = .timeout(limit)
        noteCancel(.timeout(limit))
    }

    /// The body may have to run again.
    mutating func mayRunAgain() -> (isCancelled: Bool, isCut: Bool) {
        (isCancelled, madeTiming()?.isCut ?? false)
    }

    /// It is to run again, and pauses. Nil: it has been cancelled.
    mutating func endAttempt() -> AttemptEnd? {
        guard !isCancelled, let optionalState, let timing = optionalState.timing else { return nil }
        let end = AttemptEnd(
            wasCut: timing.isCut, holdsPermit: optionalState.openWaits == 0,
            holdsNames: optionalState.preconditions.standing == .held,
            groups: optionalState.childGroups, waits: optionalState.waits, listeners: optionalState.listeners,
            progress: optionalState.progress)
        phase = .added
        worker = nil
        optionalState.forgetWaits()
        optionalState.preconditions.namesAreGivenBack()
        optionalState.preconditions.runEnds()
        timing.isCut = false
        timing.isPaused = true
        return end
    }

    /// False: its end came first, or it is over already.
    mutating func endPause() -> Bool {
        guard phase == .added, let timing = optionalState?.timing, timing.isPaused else { return false }
        timing.pauseEnds()
        noteReady()
        return true
    }

    /// The body has failed, and the next attempt has not begun.
    var isBetweenAttempts: Bool { hasBegun && phase == .added && optionalState?.timing?.attempt ?? 0 > 0 }

    // MARK: Finishing

    /// The outcome is stored. False: nothing stands between it and its publication.
    mutating func beginFinishing() -> Bool {
        guard let optionalState = borrowedOptionalState,
            optionalState._withUnsafeGuaranteedRef({ $0.handlers.beginFinishing() })
        else { return false }
        phase = .finishing
        return true
    }

    /// The end of a run. Nil: `willFinish` handlers stand between the outcome and its publication.
    @inline(__always)
    mutating func finishRun() -> Ending? {
        guard let optionalState = borrowedOptionalState else { return finish() }
        return optionalState._withUnsafeGuaranteedRef { optionalState in
            if let timing = optionalState.timing, timing.isCut, !isCancelled, let limit = timing.limit {
                attemptIsCancelled(after: limit)
            }
            return beginFinishing() ? nil : finish()
        }
    }

    /// The one step that publishes the outcome. The caller has stored it.
    @inline(__always)
    mutating func finish() -> Ending {
        phase = .finished
        worker = nil
        var ending = Ending(dependents: dependents, isCancelled: isCancelled)
        dependents = DependentList()
        borrowedOptionalState?._withUnsafeGuaranteedRef { ending.note($0) }
        return ending
    }
}

/// From ready to the body, for an operation that has conditions or exclusions.
extension Lifecycle {
    /// What the worker that has taken it up does next.
    enum Passage {
        /// Its end came in the meantime.
        case endedBefore
        /// A rule cannot be kept by anybody.
        case refused(Misuse.Kind)
        /// It was cancelled while it was evaluated, and ends on this worker, which holds a permit for it.
        case cancelled
        /// To be told what comes of it with ``conditionsAreSatisfied()`` or the end.
        /// They are there until then.
        case evaluate(conditionsIn: Unmanaged<OptionalState>)
        /// It waits for its time, and comes again.
        case pause(Delay)
        /// Names to be asked for, inside the names that its ancestors hold, the nearest first.
        case request(ExclusionSet, inside: AnyOperation?)
        /// Rates that have to count the start. They are asked with the names held that it needs.
        case pace([Rate], holdsNames: Bool)
        /// The body may run. `plain`: nothing is asked or told around it.
        case run(isPlain: Bool)
    }

    /// - Parameter isKept: Something else keeps the body from running, so no rule is asked.
    @inline(__always)
    mutating func pass(on worker: Worker, isKept: Bool) -> Passage {
        guard phase == .added, let optionalState = borrowedOptionalState else { return .endedBefore }
        return optionalState._withUnsafeGuaranteedRef { pass(on: worker, isKept: isKept, $0) }
    }

    private mutating func pass(on worker: Worker, isKept: Bool, _ optionalState: OptionalState) -> Passage {
        switch isKept ? .run : optionalState.preconditions.next() {
        case .run:
            if case .plain = start(on: worker, optionalState) { return .run(isPlain: true) }
            return .run(isPlain: false)
        case .request(let exclusions):
            note(.acquiring)
            return .request(exclusions, inside: optionalState.nameHolder)
        case .pace(let rates): return .pace(rates, holdsNames: optionalState.preconditions.standing == .held)
        case .evaluate:
            phase = .evaluating
            note(.evaluating)
            self.worker = worker
            // Its permit is released until the conditions have decided.
            optionalState.openWaits += 1
            return .evaluate(conditionsIn: .passUnretained(optionalState))
        case .pause:
            guard let timing = optionalState.timing, let delay = timing.rareTiming?.delay else { return .endedBefore }
            note(.delayed)
            optionalState.preconditions.delayBegins()
            timing.isPaused = true
            return .pause(delay)
        case .fail(let misuse):
            start(on: worker)
            return .refused(misuse)
        }
    }

    /// False: it was cancelled meanwhile, and ends on this worker.
    mutating func conditionsAreSatisfied() -> Bool {
        if isCancelled { return false }
        optionalState?.openWaits -= 1
        returnFromEvaluation()
        return true
    }

    private mutating func returnFromEvaluation() {
        optionalState?.preconditions.conditionsAreSatisfied()
        note(.ready)
        phase = .added
        worker = nil
    }

    /// As above, when the worker has taken a permit again: it goes on at once.
    mutating func passSatisfied(on worker: Worker) -> Passage {
        optionalState?.openWaits -= 1
        if isCancelled { return .cancelled }
        returnFromEvaluation()
        return pass(on: worker, isKept: false)
    }

    /// Its rates have counted the start.
    mutating func passCounted(on worker: Worker) -> Passage {
        optionalState?.preconditions.startIsCounted()
        return pass(on: worker, isKept: false)
    }

    /// No request for its names can be granted. False: its end came in between.
    mutating func isRefused(on worker: Worker) -> Bool {
        guard givesNamesBack() else { return false }
        start(on: worker)
        return true
    }

    /// It ends before its run. True: the caller gives back what it holds or asks for.
    mutating func endsClaim() -> Bool {
        guard let optionalState, optionalState.preconditions.standing != .asksForNone else { return false }
        optionalState.preconditions.namesAreGivenBack()
        return true
    }

    /// They are held, and the body may not start now. False: its end came before, and has given them back.
    mutating func givesNamesBack() -> Bool {
        guard phase == .added else { return false }
        optionalState?.preconditions.namesAreGivenBack()
        return true
    }

    /// What a grant of the names it asked for is good for.
    enum Grant {
        /// It may be listed again.
        case toRun
        case toEvaluate(UnsafeContinuation<OperationError?, Never>)
        case ended
        case unwanted
    }

    mutating func namesAreGranted() -> Grant {
        switch phase {
        case .added:
            optionalState?.preconditions.namesAreHeld()
            return .toRun
        case .evaluating:
            // A cancel has woken it before: it gives the names back itself.
            return optionalState?.preconditions.takeWaitingEvaluation().map { .toEvaluate($0) } ?? .unwanted
        // An early end came between the grant and its news, and gives the names back.
        case .created, .executing, .finishing, .finished: return .ended
        }
    }
}

extension Lifecycle {
    /// What follows from a finish, for the one who has published it to do after unlocking.
    struct Ending {
        let dependents: DependentList
        let isCancelled: Bool
        private(set) var hasOptionalState = false
        /// Somebody waits for it, or it holds something for its life only.
        private(set) var wakes = false
        /// It holds names, or has asked for them.
        private(set) var claims = false
        /// Waits of the body that outlive it: its worker holds no permit.
        private(set) var hasOpenWaits = false

        @inline(__always)
        mutating func note(_ optionalState: OptionalState) {
            hasOptionalState = true
            wakes = optionalState.hasEnd
            claims = optionalState.preconditions.standing != .asksForNone
            hasOpenWaits = optionalState.openWaits > 0
        }
    }
}
