extension AnyOperation {
    /// Starts the operation no sooner than `duration` after its dependencies have finished.
    ///
    /// ```swift
    /// let search = AsyncOperation(Search(text)).delay(.milliseconds(300)).unique(by: "search", policy: .replace)
    /// ```
    ///
    /// It holds no permit of its queue meanwhile, but it needs one to begin. Its conditions are evaluated after that;
    /// when its inputs are missing it does not wait. The time is that of the queue's clock. Only the first attempt
    /// waits: the others have their ``retry(_:attempts:deadline:file:line:)``.
    ///
    /// Called again, the last call counts. A negative duration is ``Misuse`` and counts as zero. After the add this is
    /// ``Misuse`` and changes nothing.
    @discardableResult
    public final func delay(_ duration: Duration, file: StaticString = #fileID, line: UInt = #line) -> Self {
        let place = CallSite(file: file, line: line)
        return delay(by: .for(checked(duration, "a delay", place)), place)
    }

    /// Starts the operation no sooner than `rest` says when its dependencies have finished; zero or less is not at all.
    @discardableResult
    package final func delay(
        asking rest: @escaping @Sendable () -> Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        delay(by: .asking(rest), CallSite(file: file, line: line))
    }

    @discardableResult
    fileprivate final func delay(by delay: Delay, _ place: CallSite) -> Self {
        // What it was before is released after unlocking.
        var delay = Optional(delay)
        changeTiming("a delay", place) { timing in
            swap(&timing.madeRareTiming().delay, &delay)
            timing.preconditions.delay()
        }
        withExtendedLifetime(delay) {}
        return self
    }
}

extension AsyncOperation where Output == Void {
    /// An operation that finishes when `duration` has passed since its dependencies have.
    ///
    /// It holds no permit of its queue meanwhile, but it needs one to begin. The time is that of the queue's clock. A
    /// negative duration is ``Misuse`` and counts as zero.
    public static func delay(
        _ duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Void> {
        AsyncOperation("delay") {}.delay(duration, file: file, line: line)
    }
}

extension AsyncOperation {
    /// A new operation with this one's output, when `duration` has passed since this one has finished.
    ///
    /// It waits as ``AnyOperation/delay(_:file:line:)`` says. If this one has no output, it does not wait.
    public final func delayed(
        by duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        AsyncOperation("delay", self) { $0 }.delay(duration, file: file, line: line)
    }

    /// A new operation with this one's output, when at least `duration` has passed since the first of its chain has
    /// started.
    ///
    /// After 2 s of work, one of 5 s waits for 3 s; after 6 s it does not wait. The chain is this operation with
    /// everything that it needs at the time of this call, directly or not. What of it has started before the call
    /// counts as if it started with it.
    ///
    /// - Complexity: O(n) for n operations of the chain and dependencies between them, without those that a former call
    ///   has seen. After a dependency was removed from an operation, or something that the operation needs has got or
    ///   lost one, all of its dependencies count again.
    public final func delayed(
        untilAtLeast duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        let operation = AsyncOperation("delay", self) { $0 }
        let place = CallSite(file: file, line: line)
        let least = operation.checked(duration, "a delay", place)
        return operation.delay(by: .sinceStart(of: ChainStart(of: self), least), place)
    }
}

/// How long an operation waits when everything that it depends on has finished.
enum Delay {
    case `for`(Duration)
    case sinceStart(of: ChainStart, Duration)
    case asking(@Sendable () -> Duration)

    /// What is left of it. To be asked outside every lock.
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
    /// False: its end came first.
    final func endPause() -> Bool {
        let isOver = withLife { $0.endPause() }
        if isObserved { tellEvents() }
        return isOver
    }

    /// The timer had the reference that is the queue's.
    static func pauseEnded(of operation: Unmanaged<AnyOperation>) {
        let (core, isFurtherAttempt) = operation._withUnsafeGuaranteedRef { operation in
            let pause = operation.withLife { life in
                (life.endPause() ? operation.core : nil, life.isBetweenAttempts)
            }
            if operation.isObserved { operation.tellEvents() }
            return pause
        }
        // Else its end came first.
        if let core {
            core.change { $0.list(operation, isFurtherAttempt: isFurtherAttempt) }
        } else {
            operation.release()
        }
    }
}

extension QueueCore {
    /// It waits, on no task and in no list, with the reference that is the queue's.
    func pause(_ operation: Unmanaged<AnyOperation>, for duration: Duration) {
        if duration <= .zero { return AnyOperation.pauseEnded(of: operation) }
        let end = timerService.now + duration
        // The timer may fire before its ticket is known here.
        let retained = operation.takeUnretainedValue()
        let ticket = timerService.add(.pauseEnd(operation), at: end)
        let hasEnded = retained.withLife { life in
            guard life.phase == .added, let timing = life.optionalState?.timing else { return true }
            return !timing.pauses(until: end, ticket)
        }
        if hasEnded, timerService.remove(ticket) != nil { operation.release() }
    }
}
