extension AnyOperation {
    /// Cancels the body when it takes longer than `limit`. Each attempt of a
    /// ``retry(_:attempts:deadline:file:line:if:)`` has that long.
    ///
    /// This is a cancel with ``CancellationReason/timeout(_:)`` as its reason: `Task.isCancelled` becomes true in the
    /// body, and the outcome comes when the body has returned. If it throws then, the error is
    /// ``OperationError/timedOut(after:)``; if it returns a value all the same, that is the outcome. An attempt that
    /// was cancelled like this counts as a failed one, and may be followed by another; ``didCancel(_:)`` handlers are
    /// called if none follows.
    ///
    /// The time is that of the queue's clock. It runs while the body does, also while that waits for children;
    /// dependencies, a permit, a suspension, conditions and exclusions come before, for which there is
    /// ``timeout(waiting:file:line:)``. Called again, the last limit counts. A negative limit is ``Misuse``, and counts
    /// as zero. After the add this is ``Misuse`` and changes nothing.
    @discardableResult
    @inlinable
    public final func timeout(_ limit: Duration, file: StaticString = #fileID, line: UInt = #line) -> Self {
        limitAttempts(to: limit, file, line)
        return self
    }

    /// Apart, so that returning `self` costs nothing where nobody wants it.
    @usableFromInline
    final func limitAttempts(to limit: Duration, _ file: StaticString, _ line: UInt) {
        let limit = checked(limit, "a timeout", CallSite(file: file, line: line))
        if changeSharedLimits({ $0.limit = limit }) { return }
        changeTiming("a timeout", CallSite(file: file, line: line)) { $0.limit = limit }
    }

    /// Ends the operation with ``OperationError/timedOut(after:)`` if its body has not started `limit` after the add.
    ///
    /// It does not matter what it waits for: dependencies, a suspended queue, a permit, conditions, exclusions.
    /// Conditions that are being evaluated are cancelled, and the outcome comes when they have returned. One that
    /// shares the outcome of another with its unique key does not wait for a start of its own, and has no such limit.
    /// See ``timeout(_:file:line:)``.
    @discardableResult
    public final func timeout(waiting limit: Duration, file: StaticString = #fileID, line: UInt = #line) -> Self {
        let limit = checked(limit, "a timeout", CallSite(file: file, line: line))
        changeTiming("a timeout", CallSite(file: file, line: line)) {
            $0.madeRareTiming().waitingLimit = limit
        }
        return self
    }

    /// A negative duration is reported and counts as zero; none is longer than what can be added to a time.
    @inline(__always)
    final func checked(_ duration: Duration, _ what: String, _ place: CallSite) -> Duration {
        duration.isOrdinary ? duration : corrected(duration, what, place)
    }

    @inline(never)
    private final func corrected(_ duration: Duration, _ what: String, _ place: CallSite) -> Duration {
        if duration > .zero { return .endless }
        report(Misuse(.negativeDuration(what), operation: reference, callSite: place))
        return .zero
    }
}

// MARK: - When the time has come

extension AnyOperation {
    final func attemptLimitCame(in run: Int32, after limit: Duration, isLast: Bool) {
        cancelAttempt { life in life.cutAttempt(in: run, after: limit, isLast: isLast) }
    }

    /// It has waited too long for its first attempt, or for another one. A timer that comes late changes nothing.
    final func waitingLimitCame(at now: Duration) {
        let rareTiming = withLife { $0.optionalState?.timing?.rareTiming }
        if let limit = rareTiming?.waitingLimit { cancel(reason: .timeout(limit)) { !$0.hasBegun } }
        if let limit = rareTiming?.deadline {
            cancel(reason: .timeout(limit)) { life in
                life.isBetweenAttempts && life.optionalState?.timing?.rareTiming?.deadlineEnd ?? .endless <= now
            }
        }
    }
}

extension QueueCore {
    /// When the operation is claimed, before anybody can reach it through the queue.
    func limitWaiting(of operation: AnyOperation) {
        let limit = operation.withLife { life in
            // One that has joined another does not wait for its start.
            life.optionalState?.uniqueness?.joined == nil ? life.optionalState?.timing?.rareTiming?.waitingLimit : nil
        }
        if let limit { limitWaiting(of: operation, until: timerService.now + limit) }
    }

    /// When an attempt has failed and another one is to follow, before that can start.
    func limitWaiting(forNextAttemptOf operation: AnyOperation) {
        let end = operation.withLife { $0.optionalState?.timing?.rareTiming?.deadlineEnd }
        if let end { limitWaiting(of: operation, until: end) }
    }

    private func limitWaiting(of operation: AnyOperation, until end: Duration) {
        let ticket = timerService.add(.waitingLimit(.passUnretained(operation)), at: end)
        let isTooLate = operation.withLife { life in
            if life.phase == .added { life.optionalState?.timing?.rareTiming?.waitingTicket = ticket }
            return life.phase != .added
        }
        // It was cancelled in between.
        if isTooLate { timerService.remove(ticket) }
    }
}

/// The timers of an operation that does not need them any more, to be taken out after unlocking.
struct OperationTimers {
    fileprivate var waiting: TimerService.Ticket?
    fileprivate var pause: TimerService.Ticket?

    /// Of one that has ended. If it was in a pause, whoever takes out that timer lets go of the queue's reference.
    func takeOut(of operation: AnyOperation, from core: QueueCore?) {
        guard let core else { return }
        if let waiting { core.timerService.remove(waiting) }
        if let pause, core.timerService.remove(pause) != nil { Unmanaged.passUnretained(operation).release() }
    }
}

extension TimedState {
    func takeTimers() -> OperationTimers? {
        guard let rareTiming, rareTiming.waitingTicket != nil || rareTiming.pauseTicket != nil else { return nil }
        return OperationTimers(waiting: rareTiming.waitingTicket.take(), pause: rareTiming.pauseTicket.take())
    }

}
