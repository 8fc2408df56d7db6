extension AnyOperation {
    /// Cancels the body when an attempt takes longer than `limit`.
    ///
    /// ```swift
    /// let page = AsyncOperation(Download(url)).timeout(.seconds(10))
    /// ```
    ///
    /// The cancellation has the reason ``CancellationReason/timeout(_:)``: `Task.isCancelled` becomes true in the body,
    /// and the operation finishes when the body has returned. If the body throws then, the error is
    /// ``OperationError/timedOut(after:waitingFor:)``. If it returns a value, the operation succeeds with it.
    ///
    /// Each attempt of a ``retry(_:attempts:deadline:file:line:if:)`` has the whole limit. An attempt that was
    /// cancelled by the limit counts as a failed one, and may be followed by another; ``didCancel(_:)`` handlers are
    /// called if none follows.
    ///
    /// Time is measured by the queue's clock, while the body runs, including while it waits for children. The time that
    /// the operation waits for dependencies, a permit, the end of a suspension, conditions and exclusions does not
    /// count; ``timeout(waiting:file:line:)`` limits that.
    ///
    /// In a chain, the limit applies to the last step alone: `download.map { }.timeout(limit)` does not limit the
    /// download, and ``explain()`` says so while the step waits. After `delayed`, `mapError` or `unwrapped`, which run
    /// nothing that could take time, it is ``Misuse``.
    ///
    /// If this method is called again, the last limit counts. A call after the operation was added is reported as
    /// ``Misuse`` and has no effect.
    ///
    /// - Parameters:
    ///   - limit: The maximum time of each attempt. A negative limit is reported as ``Misuse`` and counts as zero.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: This operation.
    @discardableResult
    @inlinable
    public final func timeout(_ limit: Duration, file: StaticString = #fileID, line: UInt = #line) -> Self {
        limitAttempts(to: limit, file, line)
        return self
    }

    /// Separate from the inlinable method, so that returning `self` costs nothing where the result is discarded.
    @usableFromInline
    final func limitAttempts(to limit: Duration, _ file: StaticString, _ line: UInt) {
        let limit = checked(limit, "a timeout", CallSite(file: file, line: line))
        reportIfPassing("a timeout", CallSite(file: file, line: line))
        if changeSharedLimits({ $0.limit = limit }) { return }
        changeTiming("a timeout", CallSite(file: file, line: line)) { $0.limit = limit }
    }

    /// Ends the operation with ``OperationError/timedOut(after:waitingFor:)`` if its body has not started `limit` after
    /// the add.
    ///
    /// The text of the error says what the operation was waiting for.
    ///
    /// The limit applies to everything that the operation may wait for: dependencies, a suspended queue, a permit,
    /// conditions and exclusions. Conditions that are being evaluated are cancelled, and the operation finishes when
    /// they have returned. An operation that shares the outcome of another one with the same unique key never starts,
    /// and has no such limit.
    ///
    /// ``timeout(_:file:line:)`` limits the time of the body. If this method is called again, the last limit counts.
    ///
    /// - Parameters:
    ///   - limit: The maximum time from the add to the start of the body, on the queue's clock. A negative limit is
    ///     reported as ``Misuse`` and counts as zero.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: This operation.
    @discardableResult
    public final func timeout(waiting limit: Duration, file: StaticString = #fileID, line: UInt = #line) -> Self {
        let limit = checked(limit, "a time limit for waiting", CallSite(file: file, line: line))
        changeTiming("a time limit for waiting", CallSite(file: file, line: line)) {
            $0.ensureRareTimedState().waitingLimit = limit
        }
        return self
    }

    /// Returns `duration`, clamped to the range from zero to `Duration.endless`. Reports a negative duration.
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

// MARK: - Limits that are reached

extension AnyOperation {
    final func attemptLimitExpired(in run: Int32, after limit: Duration, isLast: Bool) {
        cancelAttempt { life in life.timeOutAttempt(in: run, after: limit, isLast: isLast) }
    }

    /// Cancels an operation that has waited too long for its first attempt, or for another one. A late timer has no
    /// effect.
    final func waitingLimitExpired(at now: Duration) {
        let rareTimedState = withLifecycle { $0.optionalState?.timing?.rareTimedState }
        // This is read before the cancellation, which ends the wait. If the wait ends in between, the cancellation has
        // no effect, or the error names the previous wait.
        var inspector = StateInspector()
        let wait = inspector.waitInBrief(of: self)
        if let limit = rareTimedState?.waitingLimit {
            // With a limit of zero, an operation that waits for nothing else may end as well.
            let wait = wait ?? (limit == .zero ? "its start" : nil)
            cancel(reason: .timeout(limit), waitingFor: wait) { !$0.hasBegun }
        }
        if let limit = rareTimedState?.deadline {
            cancel(reason: .timeout(limit), waitingFor: wait) { life in
                life.isBetweenAttempts && life.optionalState?.timing?.rareTimedState?.deadlineEnd ?? .endless <= now
            }
        }
    }
}

extension QueueCore {
    /// Sets the timer for the limit of an operation that is adopted, before other threads can reach it through the
    /// queue.
    func limitWaiting(of operation: AnyOperation) {
        let limit = operation.withLifecycle { life -> Duration? in
            // An operation that has joined another one never starts, so its waiting limit does not apply.
            guard let optionalState = life.optionalState, optionalState.uniqueness?.joined == nil else { return nil }
            return optionalState.timing?.rareTimedState?.waitingLimit
        }
        guard let limit else { return }
        let end = timerService.now + limit
        operation.withLifecycle { $0.optionalState?.timing?.rareTimedState?.waitingEnd = end }
        limitWaiting(of: operation, until: end)
    }

    /// Sets the timer for the deadline of an operation whose attempt has failed, before the next attempt can start.
    func limitWaiting(forNextAttemptOf operation: AnyOperation) {
        let end = operation.withLifecycle { $0.optionalState?.timing?.rareTimedState?.deadlineEnd }
        if let end { limitWaiting(of: operation, until: end) }
    }

    private func limitWaiting(of operation: AnyOperation, until end: Duration) {
        timerService.add(.waitingLimit(Unretained(operation)), at: end) { ticket in
            let isTooLate = operation.withLifecycle { life in
                if life.phase == .added { life.optionalState?.timing?.rareTimedState?.waitingTicket = ticket }
                return life.phase != .added
            }
            // The operation was cancelled before the ticket was stored.
            if isTooLate { timerService.remove(ticket) }
        }
    }
}

/// The timers that an operation no longer needs, which the caller removes after unlocking.
struct OperationTimers {
    fileprivate var waiting: TimerService.Ticket?
    fileprivate var pause: TimerService.Ticket?

    /// Removes the timers of an operation that has ended. If it was in a pause, releases the reference that its timer
    /// held.
    func takeOut(of operation: AnyOperation, from core: QueueCore?) {
        guard let core else { return }
        if let waiting { core.timerService.remove(waiting) }
        if let pause, core.timerService.remove(pause) != nil {
            Retained(handedOver: operation).release()
        }
    }
}

extension TimedState {
    func takeTimers() -> OperationTimers? {
        guard let rare = rareTimedState, rare.waitingTicket != nil || rare.pauseTicket != nil else { return nil }
        return OperationTimers(waiting: rare.waitingTicket.take(), pause: rare.pauseTicket.take())
    }
}
