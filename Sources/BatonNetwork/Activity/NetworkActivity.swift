public import Baton

/// An observer that reports whether operations are running, for a network activity indicator that does not flicker.
///
/// ```swift
/// let activity = NetworkActivity { @MainActor isActive in indicator.isHidden = !isActive }
/// downloads.addObserver(activity)        // a queue of nothing but network operations,
/// login.addObserver(activity)            // or single operations
/// ```
///
/// An operation that waits to start, or waits for its next attempt, does not count. One observer may observe any number
/// of queues and operations; an operation that it observes through its queue and directly counts once.
///
/// The idea comes from the network observers of Operations and ProcedureKit. You provide the indicator.
public final class NetworkActivity: OperationObserver {
    private let machine: Locked<ActivityStateMachine>
    private let time: TimeSource
    private let onChange: nonisolated(nonsending) @Sendable (Bool) async -> Void

    /// Creates an observer for any number of queues and operations.
    ///
    /// - Parameters:
    ///   - hideDelay: The time for which no operation must run before `onChange` is called with false, so that short
    ///     gaps are not reported. A negative value counts as zero.
    ///   - clock: The clock that measures the delay.
    ///   - onChange: A closure that is called with true when an operation begins to run while none did, and with false
    ///     when none has run for the delay. It never receives the same value twice in a row. Its calls come in order,
    ///     one at a time, on a task of the observer's own and in the isolation domain that the closure declares.
    public init(
        hideDelay: Duration = .seconds(1), clock: some Clock<Duration> = ContinuousClock(),
        onChange: nonisolated(nonsending) @escaping @Sendable (_ isActive: Bool) async -> Void
    ) {
        machine = Locked(ActivityStateMachine(delay: max(hideDelay, .zero)))
        time = TimeSource(clock)
        self.onChange = onChange
    }

    /// The number of observed operations that are running now.
    public var runningCount: Int { machine.withLock { $0.count } }

    /// Receives an event. Queues and operations that the observer was added to call this.
    ///
    /// - Parameter event: An event of the queue or operation.
    public func observe(_ event: OperationEvent) async {
        let id = event.operation.id
        switch event.kind {
        case .started: change { machine, _ in machine.started(id) }
        case .retrying, .repeating, .finished: change { machine, now in machine.ended(id, at: now) }
        case .added, .waiting, .delayed, .evaluating, .ready, .acquiring, .excluded, .waitingForRate, .granted,
            .progress,
            .produced, .cancelRequested,
            .misuse, .dropped:
            break
        }
    }

    private func change(_ event: (inout ActivityStateMachine, _ now: Duration) -> Bool) {
        // The clock is the user's, so it is read before the lock is taken.
        let now = time.now
        if machine.withLock({ event(&$0, now) }) { TaskFactory.services.spawn { await self.performSteps() } }
    }

    private func performSteps() async {
        while true {
            let now = time.now
            switch machine.withLock({ $0.next(at: now) }) {
            case .show(let isActive): await onChange(isActive)
            case .sleep(let end): try? await time.sleep(until: end)
            case .end: return
            }
        }
    }
}
