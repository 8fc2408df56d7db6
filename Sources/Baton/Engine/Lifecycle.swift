/// The life of one operation as a state machine: created → added → executing → finishing → finished, or an early end.
/// An operation with conditions goes from added to evaluating and back.
///
/// The machine takes no lock, reads no clock and calls no closure. `AnyOperation` locks it, asks it, unlocks it, and
/// then acts on the answer. A part of its state is in ``OptionalState``, an object that the same lock guards, so a copy
/// of the machine shares that part.
struct Lifecycle {
    enum Phase: UInt8 {
        case created
        case added
        /// A worker evaluates the conditions, and holds no permit for the operation meanwhile.
        case evaluating
        case executing
        /// The outcome is decided but not yet published: `willFinish` handlers run.
        case finishing
        case finished

        /// True if an operation may go from this phase to `next` in one step.
        func mayPrecede(_ next: Phase) -> Bool {
            switch self {
            // An operation that ends before it is added has an outcome without having been added.
            case .created: next == .added || next == .finishing || next == .finished
            case .added: next == .evaluating || next == .executing || next == .finishing || next == .finished
            case .evaluating: next == .added || next == .finishing || next == .finished
            // A further attempt makes the operation `added` again.
            case .executing: next == .added || next == .finishing || next == .finished
            case .finishing: next == .finished
            case .finished: false
            }
        }
    }

    private(set) var phase = Phase.created {
        willSet {
            assert(phase.mayPrecede(newValue), "Internal inconsistency: an operation goes from \(phase) to \(newValue)")
        }
    }
    private(set) var isCancelled = false
    /// True if everything that the operation depends on is known to have been added.
    private(set) var isUpstreamAdded = false
    /// True if the operation was added because another operation needs it, and nobody has added it by name since.
    var wasAddedAsUpstream = false
    /// True if a worker has started the operation and its body was not skipped. It stays true after the finish.
    private(set) var hasBegun = false
    /// True if the operation ended before its run while it had requested exclusions, and had not been told of a grant.
    private var hasEndedWithRequest = false
    private let inputs: UInt32
    /// The number of the ``RunScope`` that has added the operation; 0 if there is no such scope. Written
    /// under the lock by the thread that adopts the operation, and constant afterwards.
    var runNumber: UInt32 = 0
    /// Not retained, which avoids reference counting for every body: the worker lives until the run that it has begun
    /// ends, which clears the reference.
    private var unretainedWorker: Unretained<Worker>?
    private(set) var dependents = DependentList()
    /// Read and changed through the members in `OptionalStateStorage.swift`.
    var optionalStateStorage = OptionalStateStorage.none

    init(inputCount: Int = 0) { inputs = UInt32(inputCount) }

    /// The number of inputs: the first `inputCount` edges hand over their outputs.
    var inputCount: Int { Int(inputs) }

    /// The worker whose task runs the body; nil for a group that waits for its children.
    var worker: Worker? { unretainedWorker?.object }

    // MARK: Adding

    enum Adoption {
        /// The caller links the operation. `isAwaited` is true if an operation or a body already waits for it, so that
        /// the add may close a cycle. `isPrepared` is true if the operation has to be prepared before it is linked.
        case adopted(isAwaited: Bool, isPrepared: Bool)
        case addedBefore
        /// The outcome was decided before: the operation was added and ran, or it was cancelled before anybody added
        /// it.
        case finishedBefore
    }

    mutating func adopt() -> Adoption {
        switch phase {
        case .created:
            phase = .added
            return .adopted(
                isAwaited: !dependents.isEmpty || optionalState?.isAwaitedByBody == true,
                isPrepared: optionalState?.isPreparedAtAdd ?? false)
        case .added, .evaluating, .executing: return .addedBefore
        case .finishing, .finished: return .finishedBefore
        }
    }

    mutating func takeWasAddedAsUpstream() -> Bool {
        defer { wasAddedAsUpstream = false }
        return wasAddedAsUpstream
    }

    mutating func upstreamWasAdded() { isUpstreamAdded = phase != .created }

    /// True if the outcome is stored, and at most the `willFinish` handlers still run.
    var isDecided: Bool { phase == .finishing || phase == .finished }

    /// False if no wait of the operation can close a cycle, because no operation depends on it and no body awaits it.
    var mayBeOnCycle: Bool { !dependents.isEmpty || optionalState?.mayBeAwaitedByBody == true }

    /// True from the add to the finish.
    var isUnderWay: Bool { phase != .created && phase != .finished }

    enum Registration {
        case registered(sourceWasAdded: Bool)
        /// The source has finished, and will not count the dependent down.
        case finishedBefore
    }

    @inline(__always)
    mutating func register(_ dependent: DependentList.Place) -> Registration {
        if phase == .finished { return .finishedBefore }
        dependents.append(dependent)
        return .registered(sourceWasAdded: phase != .created)
    }

    /// Removes a dependent that no longer waits for this operation. Returns false if this operation has finished: then
    /// the thread that finishes it counts the dependent down.
    mutating func unregister(_ dependent: DependentList.Place) -> Bool {
        if phase == .finished { return false }
        dependents.remove(dependent)
        return true
    }

    // MARK: Running

    enum BeginAction {
        /// The operation ended while it was ready.
        case endedBefore
        case plain
        /// Conditions, exclusions, rates or a delay come first: see ``nextAction(on:isSkipped:)``.
        case withPreconditions
        /// The operation has time limits or may run again, and needs nothing else of ``OptionalState`` around its body.
        /// The timing lives until the operation has finished.
        case timed(Timing)
        /// The operation needs something else of ``OptionalState`` around its body.
        case withOptionalState
    }

    @inline(__always)
    mutating func begin(on worker: Worker) -> BeginAction {
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
        unretainedWorker = Unretained(worker)
    }

    @inline(__always)
    private mutating func start(on worker: Worker, _ optionalState: OptionalState) -> BeginAction {
        start(on: worker)
        let timing = optionalState.borrowedTiming
        timing?.use { $0.attempt += 1 }
        if optionalState.hasWorkAroundBody {
            optionalState.isStartPending = true
            return .withOptionalState
        }
        guard let timing, timing.use({ $0.timesBody }) else { return .plain }
        return .timed(.own(timing))
    }

    /// Sets the worker. A group has none while its children run, and gets its worker back if all children have ended by
    /// the time the last one has been started.
    mutating func setWorker(_ worker: Worker?) { unretainedWorker = worker.map { Unretained($0) } }

    func startBody() {
        assert(phase == .executing, "A body starts after its operation.")
        note(.started(attempt: Int(optionalState?.timing?.attempt ?? 1)))
        closeStart()
    }

    /// Notes that a dependency policy, an invalid precondition or a missing input kept the body from running.
    mutating func bodyWasSkipped() {
        assert(phase == .executing, "A body is skipped by the worker that would run it.")
        closeStart()
        hasBegun = false
    }

    private func closeStart() {
        guard let optionalState, optionalState.isStartPending else { return }
        optionalState.isStartPending = false
        if isCancelled { noteCancel(optionalState.cancellationReason ?? .requested) }
    }

    /// True if the conditions, the body or the `willFinish` handlers run.
    var canWait: Bool {
        switch phase {
        case .evaluating, .executing, .finishing: true
        case .created, .added, .finished: false
        }
    }

    // MARK: Cancelling

    enum Cancellation {
        /// The operation was cancelled before, or its outcome is decided.
        case none
        /// The operation has not been added, or is waiting or ready: it ends in this step.
        case beforeRun
        /// The conditions or the body run: the caller cancels the task of this worker after unlocking. Nil for a group
        /// that waits for its children on no worker.
        case inRun(Worker?)
        /// The run was cancelled before. The caller cancels the task, too, because the thread that made the first call
        /// may not have done so yet.
        case again(Worker?)
    }

    mutating func cancel() -> Cancellation {
        if isCancelled { return phase == .evaluating || phase == .executing ? .again(worker) : .none }
        switch phase {
        case .created, .added:
            isCancelled = true
            return .beforeRun
        case .evaluating, .executing:
            isCancelled = true
            return .inRun(worker)
        // The cancellation comes too late, because the outcome is decided.
        case .finishing, .finished: return .none
        }
    }

    // MARK: Attempts

    /// Cancels the attempt that runs because of its time limit. Returns nil if another run of the body has begun since,
    /// or if the operation or this attempt has been cancelled before.
    mutating func timeOutAttempt(in run: Int32, after limit: Duration, isLast: Bool) -> Worker? {
        guard phase == .executing, !isCancelled, let timing = ownTiming(), timing.run == run, !timing.hasTimedOut
        else { return nil }
        timing.hasTimedOut = true
        if isLast || !timing.hasAttemptsLeft { attemptIsCancelled(after: limit) }
        return worker
    }

    /// Marks the operation as cancelled: a time limit has cancelled the last attempt.
    private mutating func attemptIsCancelled(after limit: Duration) {
        isCancelled = true
        optionalState?.cancellationReason = .timeout(limit)
        noteCancel(.timeout(limit))
    }

    /// Returns which cancels came during an attempt that may be followed by another one: that of the operation, and
    /// that of the attempt's time limit. It also gives the operation a timing of its own, where the failure is noted.
    mutating func attemptCancellation() -> (isCancelled: Bool, hasTimedOut: Bool) {
        (isCancelled, ownTiming()?.hasTimedOut ?? false)
    }

    /// Ends an attempt that is followed by another one, and begins the pause. Returns nil if the operation has been
    /// cancelled.
    mutating func endAttempt() -> AttemptEnd? {
        guard !isCancelled, let optionalState, let timing = optionalState.timing else { return nil }
        assert(phase == .executing, "Only an attempt that runs can end.")
        let end = AttemptEnd(
            hasTimedOut: timing.hasTimedOut, holdsPermit: optionalState.openWaits == 0,
            holdsExclusions: optionalState.preconditions.claimState == .held,
            groups: optionalState.childGroups, waits: optionalState.waits, listeners: optionalState.allListeners,
            progress: optionalState.progress)
        phase = .added
        unretainedWorker = nil
        optionalState.forgetWaits()
        optionalState.preconditions.exclusionsAreReleased()
        optionalState.preconditions.runEnds()
        timing.hasTimedOut = false
        timing.isPaused = true
        return end
    }

    /// Ends the pause. Returns false if the operation has ended, or if the pause is over already.
    mutating func endPause() -> Bool {
        guard phase == .added, let timing = optionalState?.timing, timing.isPaused else { return false }
        timing.endPause()
        noteReady()
        return true
    }

    /// True if an attempt has failed and the next one has not begun.
    var isBetweenAttempts: Bool { hasBegun && phase == .added && optionalState?.timing?.attempt ?? 0 > 0 }

    // MARK: Finishing

    /// Called when the outcome is stored. Returns false if no `willFinish` handler has to be called before it is
    /// published.
    mutating func beginFinishing() -> Bool {
        guard let optionalState = borrowedOptionalState,
            optionalState.use({ $0.handlers.beginFinishing() })
        else { return false }
        phase = .finishing
        return true
    }

    /// Ends a run. Returns nil if `willFinish` handlers have to be called before the outcome is published.
    @inline(__always)
    mutating func finishRun() -> FinishAction? {
        guard let optionalState = borrowedOptionalState else { return finish() }
        return optionalState.use { optionalState in
            if let timing = optionalState.timing, timing.hasTimedOut, !isCancelled, let limit = timing.limit {
                attemptIsCancelled(after: limit)
            }
            return beginFinishing() ? nil : finish()
        }
    }

    /// Publishes the outcome, which the caller has stored, in one step.
    @inline(__always)
    mutating func finish() -> FinishAction {
        phase = .finished
        unretainedWorker = nil
        var action = FinishAction(dependents: dependents, isCancelled: isCancelled)
        dependents = DependentList()
        borrowedOptionalState?.use { action.note($0) }
        return action
    }
}

/// The steps between ready and the start of the body, for an operation that has conditions, exclusions, rates or a
/// delay.
extension Lifecycle {
    /// The next step of the worker that has taken the operation.
    enum PreconditionAction {
        /// The operation has ended in the meantime.
        case endedBefore
        /// A precondition is invalid and can never be met.
        case refused(Misuse.Kind)
        /// The operation was cancelled while its conditions were evaluated, and ends on this worker, which holds a
        /// permit for it.
        case cancelled
        /// The worker evaluates the conditions, and reports success with ``satisfyConditions()`` or
        /// ``resumeAfterConditions(on:)``. The optional state lives until the operation has ended.
        case evaluate(conditionsIn: Unretained<OptionalState>)
        /// The operation is delayed, and is listed again after the delay.
        case pause(Delay)
        /// The worker requests these exclusions. `inside` is the nearest ancestor that holds exclusions: the operation
        /// shares them.
        case request(ExclusionSet, inside: AnyOperation?)
        /// The worker asks these rates to count the start. The operation already holds its exclusions, if it has any.
        case requestStart([Rate], holdsExclusions: Bool)
        /// The worker asks these circuit breakers to admit the operation, which holds everything that its body needs.
        /// These rates have counted the start.
        case admit([CircuitBreaker], countedBy: [Rate])
        /// The body may run. `isPlain` is true if nothing has to be done around it.
        case run(isPlain: Bool)
    }

    /// Decides the next step towards the body.
    ///
    /// - Parameter isSkipped: True if a dependency policy or a missing input keeps the body from running, so that no
    ///   precondition is asked.
    @inline(__always)
    mutating func nextAction(on worker: Worker, isSkipped: Bool) -> PreconditionAction {
        guard phase == .added, let optionalState = borrowedOptionalState else { return .endedBefore }
        return optionalState.use { nextAction(on: worker, isSkipped: isSkipped, $0) }
    }

    private mutating func nextAction(on worker: Worker, isSkipped: Bool, _ optionalState: OptionalState)
        -> PreconditionAction
    {
        switch isSkipped ? .run : optionalState.preconditions.next() {
        case .run:
            if case .plain = start(on: worker, optionalState) { return .run(isPlain: true) }
            return .run(isPlain: false)
        case .request(let exclusions):
            note(.acquiring)
            return .request(exclusions, inside: optionalState.exclusionHolder)
        case .requestStart(let rates):
            return .requestStart(rates, holdsExclusions: optionalState.preconditions.claimState == .held)
        case .admit(let breakers):
            optionalState.preconditions.admissionsAreRequested()
            return .admit(breakers, countedBy: optionalState.preconditions.countedRates)
        case .evaluate:
            phase = .evaluating
            note(.evaluating)
            unretainedWorker = Unretained(worker)
            // The worker releases its permit until the conditions have decided.
            optionalState.openWaits += 1
            return .evaluate(conditionsIn: Unretained(optionalState))
        case .pause:
            guard let timing = optionalState.timing, let delay = timing.rareTimedState?.delay else {
                preconditionFailure("Internal inconsistency: an operation that requires a delay has none.")
            }
            note(.delayed)
            optionalState.preconditions.delayHasBegun()
            timing.isPaused = true
            return .pause(delay)
        case .fail(let misuse):
            start(on: worker)
            return .refused(misuse)
        }
    }

    /// Returns false if the operation was cancelled meanwhile, and ends on this worker. In that case the wait stays
    /// open, because the worker holds no permit.
    mutating func satisfyConditions() -> Bool {
        assert(phase == .evaluating, "Only conditions that are evaluated can be satisfied.")
        if isCancelled { return false }
        optionalState?.endOpenWait()
        returnFromEvaluation()
        return true
    }

    private mutating func returnFromEvaluation() {
        optionalState?.preconditions.conditionsAreSatisfied()
        note(.ready)
        phase = .added
        unretainedWorker = nil
    }

    /// Notes that the conditions are satisfied and that the worker has taken a permit again, so it goes on at once.
    mutating func resumeAfterConditions(on worker: Worker) -> PreconditionAction {
        assert(phase == .evaluating, "Only conditions that are evaluated can be satisfied.")
        optionalState?.endOpenWait()
        if isCancelled { return .cancelled }
        returnFromEvaluation()
        return nextAction(on: worker, isSkipped: false)
    }

    /// Notes that the rates have counted the start.
    mutating func resumeAfterRates(on worker: Worker) -> PreconditionAction {
        optionalState?.preconditions.startIsCounted()
        return nextAction(on: worker, isSkipped: false)
    }

    /// Ends the waits of an operation that a circuit breaker has refused, so that it fails on this worker and releases
    /// what it holds. Its body does not start, and no attempt counts. Returns false if the operation has ended in
    /// between.
    mutating func refuseAdmission(on worker: Worker) -> Bool {
        guard phase == .added else { return false }
        phase = .executing
        unretainedWorker = Unretained(worker)
        return true
    }

    /// Starts an operation whose request for exclusions can never be granted, so that it fails. Returns false if the
    /// operation has ended in between.
    mutating func startRefused(on worker: Worker) -> Bool {
        guard releaseExclusions() else { return false }
        start(on: worker)
        return true
    }

    /// Called when the operation ends before its run. Returns true if the caller has to release the exclusions that the
    /// operation holds, or withdraw its request.
    mutating func takeExclusionClaim() -> Bool {
        guard let optionalState, optionalState.preconditions.claimState != .notRequested else { return false }
        hasEndedWithRequest = optionalState.preconditions.claimState == .requested
        optionalState.preconditions.exclusionsAreReleased()
        return true
    }

    /// Called when the exclusions are held but the body may not start now. Returns false if the operation has ended,
    /// and has released them.
    mutating func releaseExclusions() -> Bool {
        guard phase == .added else { return false }
        optionalState?.preconditions.exclusionsAreReleased()
        return true
    }

    /// The next step of the caller when exclusions have been granted.
    enum Grant {
        /// The operation may be listed again.
        case toRun
        /// The evaluation of the conditions goes on.
        case toEvaluate(UnsafeContinuation<OperationError?, Never>)
        /// The operation ended before its run. The caller releases it.
        case ended
        /// A cancellation or an error has already resumed the evaluation, so there is nothing to do. The operation may
        /// even have finished since.
        case alreadyResumed
    }

    mutating func grantExclusions() -> Grant {
        switch phase {
        case .added:
            assert(optionalState?.preconditions.claimState == .requested, "An operation that waits has a request.")
            optionalState?.preconditions.exclusionsAreHeld()
            return .toRun
        case .evaluating:
            // If a cancellation has already resumed the evaluation, the evaluation releases the exclusions.
            return optionalState?.preconditions.takeWaitingEvaluation().map { .toEvaluate($0) } ?? .alreadyResumed
        // The operation ended between the grant and its notification, so the exclusions are released. The claim of an
        // evaluation does not own the queue's reference, which the worker releases that has ended the operation.
        case .created, .executing, .finishing, .finished: return hasEndedWithRequest ? .ended : .alreadyResumed
        }
    }
}

extension Lifecycle {
    /// The work that the thread that has published the outcome has to do after unlocking.
    struct FinishAction {
        let dependents: DependentList
        let isCancelled: Bool
        private(set) var hasOptionalState = false
        /// True if somebody waits for the operation, or if something is held until its finish.
        private(set) var wakes = false
        /// True if the operation holds exclusions, or has requested them.
        private(set) var hasClaim = false
        /// True if waits of the body outlive it: then its worker holds no permit.
        private(set) var hasOpenWaits = false

        @inline(__always)
        mutating func note(_ optionalState: OptionalState) {
            hasOptionalState = true
            wakes = optionalState.hasFinishWork
            hasClaim = optionalState.preconditions.claimState != .notRequested
            hasOpenWaits = optionalState.openWaits > 0
        }
    }
}
