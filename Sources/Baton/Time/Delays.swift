extension AsyncOperation where Output == Void {
    /// An operation that finishes when `duration` has passed since its dependencies have.
    ///
    /// It holds no slot of its queue meanwhile, but it needs one to begin. The time is that of the queue's clock. A negative
    /// duration is ``Misuse`` and counts as zero.
    public static func delay(
        _ duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Void> {
        let operation = AsyncOperation("delay") {}
        operation.delay(by: .for(operation.checked(duration, "a delay", CallSite(file: file, line: line))))
        return operation
    }

    /// As above, for as long as `rest` says when its dependencies have finished; zero or less is not at all.
    package static func delay(asking rest: @escaping @Sendable () -> Duration) -> AsyncOperation<Void> {
        let operation = AsyncOperation("delay") {}
        operation.delay(by: .asking(rest))
        return operation
    }
}

extension AsyncOperation {
    /// A new operation with this one's output, when `duration` has passed since this one has finished.
    ///
    /// It waits as ``delay(_:file:line:)-(Duration,_,_)`` does. If this one has no output, it does not wait.
    public final func delay(
        _ duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        let operation = AsyncOperation<Output>(self, as: "delay")
        operation.delay(by: .for(operation.checked(duration, "a delay", CallSite(file: file, line: line))))
        return operation
    }

    /// A new operation with this one's output, when at least `duration` has passed since the first of its chain has started.
    ///
    /// After 2 s of work, one of 5 s waits for 3 s; after 6 s it does not wait. The chain is this operation with everything that it
    /// needs at the time of this call, directly or not. What of it has started before the call counts as if it started
    /// with it.
    ///
    /// - Complexity: O(n) for n operations of the chain and dependencies between them, without those that a former call has
    ///   seen. After a dependency was removed from an operation, or something that the operation needs has got or lost one,
    ///   all of its dependencies count again.
    public final func delay(
        untilAtLeast duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        let operation = AsyncOperation<Output>(self, as: "delay")
        operation.delay(
            by: .sinceStart(
                of: ChainStart(of: self), operation.checked(duration, "a delay", CallSite(file: file, line: line))))
        return operation
    }

    /// As ``delay(_:file:line:)-(Duration,_,_)``, for as long as `rest` says when this one has finished.
    package final func delay(asking rest: @escaping @Sendable () -> Duration) -> AsyncOperation<Output> {
        let operation = AsyncOperation<Output>(self, as: "delay")
        operation.delay(by: .asking(rest))
        return operation
    }

    /// Passes on what `source` returns.
    private convenience init(_ source: AsyncOperation<Output>, as name: String) {
        self.init(source) { $0 }
        self.name = name
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
    fileprivate final func delay(by delay: Delay) {
        withLife { life in
            life.timingToChange()?._withUnsafeGuaranteedRef { timing in
                timing.madeRareTiming().delay = delay
                timing.rules.delay()
            }
        }
    }

    /// False: its end came first.
    final func endPause() -> Bool {
        let isOver = withLife { $0.endPause() }
        if isObserved { tellEvents() }
        return isOver
    }

    /// The alarm had the reference that is the queue's.
    static func pauseEnded(of operation: Unmanaged<AnyOperation>) {
        let core = operation._withUnsafeGuaranteedRef { operation in
            let core = operation.withLife { $0.endPause() ? operation.core : nil }
            if operation.isObserved { operation.tellEvents() }
            return core
        }
        // Else its end came first.
        if let core { core.listPaused(operation) } else { operation.release() }
    }
}

extension QueueCore {
    /// It waits, on no task and in no list, with the reference that is the queue's.
    func pause(_ operation: Unmanaged<AnyOperation>, for duration: Duration) {
        if duration <= .zero { return AnyOperation.pauseEnded(of: operation) }
        let end = sleeper.now + duration
        // The alarm may ring before its ticket is known here.
        let retained = operation.takeUnretainedValue()
        let ticket = sleeper.add(.pauseEnd(operation), at: end)
        let hasEnded = retained.withLife { life in
            guard life.phase == .added, let timing = life.details?.timing else { return true }
            return !timing.pauses(until: end, ticket)
        }
        if hasEnded, sleeper.remove(ticket) != nil { operation.release() }
    }

    fileprivate func listPaused(_ operation: Unmanaged<AnyOperation>) {
        change { $0.scheduler.append(operation) }
    }
}
