/// The part of a worker that runs bodies with time limits, retries or repetitions. It runs on the worker's task, except
/// that the user's closures run on another task if the worker's task has been cancelled.
extension QueueCore {
    /// Begins the timeout of an attempt, and records its start if a deadline or repetition needs it. Returns true if
    /// the attempt has a timeout.
    @inline(__always)
    func startAttempt(of operation: Unretained<AnyOperation>, _ timing: Timing, on worker: Worker) -> Bool {
        let limit: Duration?
        var run: Int32 = 0
        switch timing {
        case .shared(let limits): limit = limits.use { $0.values.limit }
        case .own(let timing):
            if timing.use({ $0.rareTimedState != nil }) {
                return timing.use { startRareAttempt(of: operation, $0, on: worker) }
            }
            (limit, run) = timing.use { ($0.limit, $0.run) }
        }
        guard let limit else { return false }
        beginTimeout(of: operation, run, until: timerService.now + limit, limit, isLast: false, on: worker)
        return true
    }

    /// Ends an attempt and its timeout, if it has one. Returns true if the body may have to run again.
    @inline(__always)
    func endAttempt(
        of operation: Unretained<AnyOperation>, _ timing: Timing, on worker: Worker, hasTimeout: Bool
    ) -> Bool {
        if hasTimeout { worker.endAttempt() }
        let hasFailed = operation.use { $0.hasFailed }
        return switch timing {
        case .shared(let limits): hasFailed && limits.use { $0.values.backoff != nil }
        case .own(let timing):
            timing.use { hasFailed ? $0.backoff != nil : $0.rareTimedState?.repetition != nil }
        }
    }

    private func beginTimeout(
        of operation: Unretained<AnyOperation>, _ run: Int32, until end: Duration, _ limit: Duration, isLast: Bool,
        on worker: Worker
    ) {
        let attempt = AttemptTimeout.Attempt(operation: operation, run: run, end: end, limit: limit, isLast: isLast)
        worker.beginAttempt(attempt, timerService)
    }

    @inline(never)
    private func startRareAttempt(
        of operation: Unretained<AnyOperation>, _ timing: TimedState, on worker: Worker
    ) -> Bool {
        let now = timerService.now
        let deadline = operation.use { operation in
            let (timers, deadline) = operation.withLifecycle { _ in
                (timing.takeTimers(), timing.rareTimedState?.noteStart(at: now))
            }
            timers?.takeOut(of: operation, from: self)
            return deadline
        }
        let end = timing.limit.map { now + $0 }
        if let (deadline, deadlineEnd) = deadline, deadlineEnd < end ?? .maximum {
            beginTimeout(of: operation, timing.run, until: deadlineEnd, deadline, isLast: true, on: worker)
        } else if let limit = timing.limit, let end {
            beginTimeout(of: operation, timing.run, until: end, limit, isLast: false, on: worker)
        } else {
            return false
        }
        return true
    }

    /// Lets the operation run again later, if its backoff or repetition says so. Returns the worker's next action, or
    /// nil if the outcome is final.
    nonisolated(nonsending) func runAgain(
        _ operation: AnyOperation, _ body: Body
    ) async -> Scheduler.WorkerAction? {
        guard let next = await decideNextRun(of: operation) else { return nil }
        return scheduleNextRun(operation, body, next)
    }

    // MARK: After an attempt

    /// Decides whether another run follows. The user's closures run on a task that is not cancelled, although a time
    /// limit or the body may have cancelled the task of the attempt.
    private nonisolated(nonsending) func decideNextRun(of operation: AnyOperation) async -> NextRun? {
        let (isCancelled, hasTimedOut) = operation.withLifecycle { $0.attemptCancellation() }
        if isCancelled {
            operation.replaceFailureByCancellation()
            return nil
        }
        // The body has returned a value although its time limit has expired: the value is the outcome, as after a
        // cancellation.
        if hasTimedOut, !operation.hasFailed { return nil }
        if !hasTimedOut, !Task.isCancelled { return await operation.nextRun(self) }
        return await onAnotherTask(of: operation, on: nil) { await operation.nextRun(self) }
    }

    /// Calls a user's closure on a task that is not cancelled. Another closure may have cancelled the current task.
    fileprivate nonisolated(nonsending) func onUncancelledTask<Answer: Sendable>(
        of operation: AnyOperation, _ question: @escaping @Sendable () -> Answer
    ) async -> Answer {
        Task.isCancelled ? await onAnotherTask(of: operation, on: nil) { question() } : question()
    }

    /// Prepares the operation for its next run. Returns nil if the operation was cancelled and has an outcome.
    private func scheduleNextRun(
        _ operation: AnyOperation, _ body: Body, _ next: NextRun
    ) -> Scheduler.WorkerAction? {
        // `goesFirst` is set before `endAttempt` begins the pause. Otherwise the release of the last handle of a
        // suspended queue could end the operation in between.
        let canNeverRun = change { state in
            let triesFirst = next.error != nil && !state.scheduler.suspendsFurtherAttempts
            operation.goesFirst = triesFirst || operation.kinship == .child
            return state.canNeverRun(operation)
        }
        guard let end = operation.endAttempt(next, body) else { return nil }
        for group in end.groups { group.parentEnded(cancelsChildren: false) }
        for listener in end.listeners { listener.bodyEnded() }
        end.progress?.report { $0.restart() }
        if end.holdsExclusions { ExclusionManager.release(by: operation) }
        // The limit is set before the operation is listed, because from then on the operation may run and be released.
        if next.error != nil { limitWaiting(forNextAttemptOf: operation) }
        let isListed = (next.delay <= .zero || canNeverRun) && operation.endPause()
        if !isListed { pause(Retained(handedOver: operation), for: next.delay, until: next.time) }
        let action = change { state in
            if isListed { state.list(Unretained(operation), isFurtherAttempt: next.error != nil) }
            return state.nextAction(after: end)
        }
        if canNeverRun { operation.endBeforeRun(with: .queueReleased)?.complete() }
        return action
    }
}

extension QueueCore.State {
    /// Lists an operation that has become ready after a pause or another run.
    mutating func list(_ operation: Unretained<AnyOperation>, isFurtherAttempt: Bool) {
        if isFurtherAttempt {
            scheduler.append(furtherAttempt: operation)
        } else {
            scheduler.append(operation)
        }
    }

    fileprivate mutating func nextAction(after end: Lifecycle.AttemptEnd) -> Scheduler.WorkerAction {
        if !end.holdsPermit {
            scheduler.endedWithoutPermit()
            return .end
        }
        // The time limit has cancelled the worker's task, so the worker ends.
        if end.hasTimedOut {
            scheduler.returnPermit()
            return .end
        }
        return scheduler.nextAction()
    }
}

/// A run that follows another one.
struct NextRun: Sendable {
    let delay: Duration
    /// The time of the run, if it was computed with the delay, from one reading of the clock. Nil if the delay begins
    /// when its timer is set.
    var time: Duration?
    /// The error of the previous attempt; nil if it has succeeded and the operation repeats.
    let error: OperationError?
}

extension AnyOperation {
    /// Decides whether another run follows. Returns nil if the outcome is final, or if a closure has thrown, whose
    /// error is then the outcome.
    fileprivate nonisolated(nonsending) final func nextRun(_ core: QueueCore) async -> NextRun? {
        // If the body has not begun, there was no attempt.
        guard let timing = withLifecycle({ $0.hasBegun ? $0.optionalState?.timing : nil }) else { return nil }
        do {
            if let failure { return try await nextAttempt(after: failure, timing, core) }
            return try await nextRepetition(timing, core)
        } catch {
            setFailure(error as? OperationError ?? .failed(error))
            return nil
        }
    }

    private nonisolated(nonsending) final func nextAttempt(
        after error: OperationError, _ timing: TimedState, _ core: QueueCore
    ) async throws -> NextRun? {
        guard let backoff = timing.backoff, timing.hasAttemptsLeft else { return nil }
        let failures = Int(timing.attempt)
        if let mayRetry = timing.rareTimedState?.mayRetry,
            !(try await answer { try await mayRetry(failures - 1, error) })
        {
            return nil
        }
        let delay =
            if !backoff.hasModifiers {
                backoff.jitteredDelay(after: failures)
            } else if let hinted = await core.onUncancelledTask(of: self, { backoff.hintedDelay(for: error) }) {
                hinted
            } else {
                await core.onUncancelledTask(of: self) { backoff.jitteredDelay(after: failures) }
            }
        guard let deadline = timing.rareTimedState?.deadlineEnd else { return NextRun(delay: delay, error: error) }
        let time = core.timerService.now + delay
        return time < deadline ? NextRun(delay: delay, time: time, error: error) : nil
    }

    private nonisolated(nonsending) final func nextRepetition(
        _ timing: TimedState, _ core: QueueCore
    ) async throws -> NextRun? {
        guard let rare = timing.rareTimedState, let repetition = rare.repetition else { return nil }
        if let count = repetition.count, rare.repetitions + 1 >= count { return nil }
        if try await answer({ try await repetition.isDone(self) }) { return nil }
        let time = rare.lastStart + repetition.interval
        return NextRun(delay: time - core.timerService.now, time: time, error: nil)
    }

    /// Returns the answer of a closure of the user, which finds the values of the task-locals that the queue carries.
    private nonisolated(nonsending) final func answer(
        _ question: nonisolated(nonsending) () async throws -> Bool
    ) async throws -> Bool {
        guard let values = withLifecycle({ $0.optionalState?.taskLocals }) else { return try await question() }
        var answer = Result<Bool, any Error>.success(false)
        await values.bind {
            do { answer = .success(try await question()) } catch { answer = .failure(error) }
        }
        return try answer.get()
    }

    /// Makes the cancellation that came after a failed attempt the outcome, if there would have been another attempt.
    fileprivate final func replaceFailureByCancellation() {
        guard let failure, withLifecycle({ $0.optionalState?.timing?.hasAttemptsLeft ?? false }) else { return }
        bodyFailed(failure)
    }

    /// Ends an attempt that another run follows: the operation has no outcome meanwhile. Returns nil if it was
    /// cancelled.
    fileprivate final func endAttempt(_ next: NextRun, _ body: Body) -> Lifecycle.AttemptEnd? {
        // The former outcome is the user's value, so it is released after unlocking.
        var formerOutcome: any Sendable = ()
        var formerFailures: [OperationAttempt] = []
        let end = withLifecycle { life -> Lifecycle.AttemptEnd? in
            guard let end = life.endAttempt() else { return nil }
            if let timing = life.optionalState?.timing {
                let delay = max(.zero, next.delay)
                life.note(
                    next.error.map { .retrying(attempt: Int(timing.attempt), error: $0, delay: delay) }
                        ?? .repeating(delay: delay))
                formerFailures = timing.noteEnd(followedBy: next)
            }
            self.body = body
            swap(&formerOutcome, &outcome)
            hasFailed = false
            return end
        }
        withExtendedLifetime((formerOutcome, formerFailures)) {}
        if isObserved { publishEvents() }
        if end == nil { replaceFailureByCancellation() }
        return end
    }
}

extension TimedState {
    /// Records the end of an attempt. Returns the attempts that are not kept any more, to be released after unlocking.
    fileprivate func noteEnd(followedBy next: NextRun) -> [OperationAttempt] {
        let rare = ensureRareTimedState()
        if let error = next.error {
            let failure = OperationAttempt(number: Int(attempt), error: error, delay: next.delay)
            return rare.failures.append(failure).map { [$0] } ?? []
        }
        attempt = 0
        rare.firstStart = nil
        rare.repetitions += 1
        defer { rare.failures = FailedAttempts() }
        return rare.failures.all
    }
}

extension RareTimedState {
    /// Records the start of an attempt. Returns the deadline of all attempts: the duration and its end.
    fileprivate func noteStart(at now: Duration) -> (Duration, end: Duration)? {
        if firstStart == nil { firstStart = now }
        lastStart = now
        return deadline.flatMap { deadline in deadlineEnd.map { (deadline, $0) } }
    }

    var deadlineEnd: Duration? {
        deadline.flatMap { deadline in firstStart.map { $0 + deadline } }
    }
}

extension Duration {
    fileprivate static let maximum = Duration(attoseconds: .max)
}

extension Lifecycle {
    /// The state of an attempt that another one follows. It contains the references that the operation held, so that
    /// the caller releases them after unlocking.
    struct AttemptEnd {
        let hasTimedOut: Bool
        /// False if the body returned while it still waited for another operation, so that its permit was already
        /// released.
        let holdsPermit: Bool
        let holdsExclusions: Bool
        let groups: [ChildGroup]
        let waits: Slab<Awaited?>
        let listeners: [any OutcomeListener]
        let progress: ProgressState?
    }
}

// MARK: - Failed attempts

/// The failed attempts that were followed by another one. A service may be retried for weeks, so only the first and the
/// newest attempts are kept.
struct FailedAttempts {
    static let firstKept = 10
    static let newestKept = 100

    /// The number of failed attempts, including those that are not kept.
    private(set) var count = 0
    private var first: [OperationAttempt] = []
    /// A ring buffer: when it is full, `oldest` is the index of the oldest attempt.
    private var newest: [OperationAttempt] = []
    private var oldest = 0

    /// The failed attempts that are kept, in order.
    var all: [OperationAttempt] { first + newest[oldest...] + newest[..<oldest] }

    var last: OperationAttempt? {
        newest.isEmpty ? first.last : newest[(oldest + newest.count - 1) % newest.count]
    }

    /// Appends an attempt, and returns the attempt that it displaces, if any. The caller releases that attempt after
    /// unlocking, because the release of its error may run the user's code.
    mutating func append(_ attempt: OperationAttempt) -> OperationAttempt? {
        count += 1
        if first.count < Self.firstKept {
            first.append(attempt)
        } else if newest.count < Self.newestKept {
            newest.append(attempt)
        } else {
            let displaced = newest[oldest]
            newest[oldest] = attempt
            oldest = (oldest + 1) % newest.count
            return displaced
        }
        return nil
    }
}
