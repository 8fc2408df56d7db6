extension AnyOperation {
    /// Starts the operation no sooner than `duration` after its dependencies have finished.
    ///
    /// ```swift
    /// let search = AsyncOperation(Search(text)).delay(.milliseconds(300)).unique(by: "search", policy: .replace)
    /// ```
    ///
    /// The operation holds no permit during the delay, but needs one to start. Its conditions are evaluated after the
    /// delay. An operation whose inputs are missing does not wait. Time is measured by the queue's clock. Only the
    /// first attempt waits; the pauses before further attempts are those of ``retry(_:attempts:deadline:file:line:)``.
    ///
    /// If this method is called again, the last delay counts. A call after the operation was added is reported as
    /// ``Misuse`` and has no effect.
    ///
    /// - Parameters:
    ///   - duration: The length of the delay. A negative duration is reported as ``Misuse`` and counts as zero.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: This operation.
    @discardableResult
    public final func delay(_ duration: Duration, file: StaticString = #fileID, line: UInt = #line) -> Self {
        let place = CallSite(file: file, line: line)
        return delay(by: .for(checked(duration, "a delay", place)), place)
    }

    /// Starts the operation no sooner than after the time that `rest` returns once the dependencies have finished.
    ///
    /// - Parameter rest: Returns the length of the delay. Zero or less means no delay.
    @discardableResult
    package final func delay(
        asking rest: @escaping @Sendable () -> Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        delay(by: .asking(rest), CallSite(file: file, line: line))
    }

    @discardableResult
    fileprivate final func delay(by delay: Delay, _ place: CallSite) -> Self {
        // The former delay, which owns a closure of the user's, is released after unlocking.
        var delay = Optional(delay)
        changeTiming("a delay", place) { timing in
            swap(&timing.ensureRareTiming().delay, &delay)
            timing.preconditions.requireDelay()
        }
        withExtendedLifetime(delay) {}
        return self
    }
}

extension AsyncOperation where Output == Void {
    /// Returns an operation that finishes when `duration` has passed since its dependencies have finished.
    ///
    /// The operation holds no permit during the delay, but needs one to start. Time is measured by the queue's clock.
    ///
    /// - Parameters:
    ///   - duration: The length of the delay. A negative duration is reported as ``Misuse`` and counts as zero.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: A new operation.
    public static func delay(
        _ duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Void> {
        AsyncOperation("delay") {}.delay(duration, file: file, line: line)
    }
}

extension AsyncOperation {
    /// Returns an operation with this one's output that starts when `duration` has passed since this one has finished.
    ///
    /// The new operation waits as ``AnyOperation/delay(_:file:line:)`` describes. If this operation has no output, the
    /// new one does not wait.
    ///
    /// - Parameters:
    ///   - duration: The length of the delay. A negative duration is reported as ``Misuse`` and counts as zero.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: A new operation, which depends on this one.
    public final func delayed(
        by duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        AsyncOperation("delay", self) { $0 }.delay(duration, file: file, line: line)
    }

    /// Returns an operation with this one's output that waits until `duration` has passed since the start of its chain.
    ///
    /// With a duration of 5 s, the new operation waits for 3 s after 2 s of work, and does not wait after 6 s of work.
    /// The chain is this operation with everything that it directly or indirectly needs at the time of this call; it
    /// starts when the first of these operations starts. Operations that have started before the call count as if they
    /// started with it.
    ///
    /// - Parameters:
    ///   - duration: The minimum time from the start of the chain. A negative duration is reported as ``Misuse`` and
    ///     counts as zero.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: A new operation, which depends on this one.
    /// - Complexity: O(*n*) for *n* operations of the chain and dependencies between them, not counting those that a
    ///   former call has visited. If an operation has lost a dependency, or an operation that it needs has got or lost
    ///   one, all of its dependencies count again.
    public final func delayed(
        untilAtLeast duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        let operation = AsyncOperation("delay", self) { $0 }
        let place = CallSite(file: file, line: line)
        let least = operation.checked(duration, "a delay", place)
        return operation.delay(by: .sinceStart(of: ChainStart(of: self), least), place)
    }
}

/// The delay between the time at which all dependencies have finished and the start.
enum Delay {
    case `for`(Duration)
    case sinceStart(of: ChainStart, Duration)
    case asking(@Sendable () -> Duration)

    /// The remaining delay. Reads the user's clock or calls a closure, so the caller holds no lock.
    var rest: Duration {
        switch self {
        case .for(let duration): duration
        case .sinceStart(let chain, let duration): duration - chain.elapsed
        case .asking(let rest): rest().bounded
        }
    }
}

// MARK: - Pauses

extension AnyOperation {
    /// Returns false if the end of the operation came before the end of the pause.
    final func endPause() -> Bool {
        let isOver = withLife { $0.endPause() }
        if isObserved { publishEvents() }
        return isOver
    }

    /// Called when the timer of a pause fires. Takes over the reference to the operation that the timer held for the
    /// queue.
    static func pauseEnded(of operation: Unmanaged<AnyOperation>) {
        let (core, isFurtherAttempt) = operation._withUnsafeGuaranteedRef { operation in
            let pause = operation.withLife { life in
                (life.endPause() ? operation.core : nil, life.isBetweenAttempts)
            }
            if operation.isObserved { operation.publishEvents() }
            return pause
        }
        // The operation has ended before its pause, so the reference is released.
        if let core {
            core.change { $0.list(operation, isFurtherAttempt: isFurtherAttempt) }
        } else {
            operation.release()
        }
    }
}

extension QueueCore {
    /// Lets the operation wait in no list and on no task. The timer takes over the reference that the queue holds to
    /// the operation.
    func pause(_ operation: Unmanaged<AnyOperation>, for duration: Duration) {
        if duration <= .zero { return AnyOperation.pauseEnded(of: operation) }
        let end = timerService.now + duration
        // The timer may fire before its ticket is stored in the operation.
        let retained = operation.takeUnretainedValue()
        let ticket = timerService.add(.pauseEnd(operation), at: end)
        let hasEnded = retained.withLife { life in
            guard life.phase == .added, let timing = life.optionalState?.timing else { return true }
            return !timing.storePause(until: end, ticket: ticket)
        }
        if hasEnded, timerService.remove(ticket) != nil { operation.release() }
    }
}
