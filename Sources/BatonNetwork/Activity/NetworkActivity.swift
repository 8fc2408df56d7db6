public import Baton

/// Tells whether operations that it observes run, for an indicator of network activity that does not flicker.
///
/// ```swift
/// let activity = NetworkActivity { @MainActor isActive in indicator.isHidden = !isActive }
/// downloads.addObserver(activity)        // a queue of nothing but network operations,
/// login.addObserver(activity)            // or single ones
/// ```
///
/// One that waits, for its turn or its next run, does not count. May observe any number of queues and operations; an
/// operation that it observes in two ways counts once.
///
/// The idea is that of the network observers of Operations and ProcedureKit; the indicator is yours.
public final class NetworkActivity: OperationObserver {
    private let machine: Locked<ActivityStateMachine>
    private let time: TimeSource
    private let onChange: nonisolated(nonsending) @Sendable (Bool) async -> Void

    /// Makes an observer of any number of queues and operations, of which none runs yet.
    ///
    /// - Parameters:
    ///   - hideDelay: How long nothing must run before that is told, so that short gaps are not. Less than zero counts
    ///     as zero.
    ///   - clock: What measures the delay.
    ///   - onChange: Called with true when one begins to run and none did, with false when none has run for the delay;
    ///     never twice the same, one call at a time, in order, on a task of its own and on the isolation that it
    ///     declares.
    public init(
        hideDelay: Duration = .seconds(1), clock: some Clock<Duration> = ContinuousClock(),
        onChange: nonisolated(nonsending) @escaping @Sendable (_ isActive: Bool) async -> Void
    ) {
        machine = Locked(ActivityStateMachine(delay: max(hideDelay, .zero)))
        time = TimeSource(clock)
        self.onChange = onChange
    }

    /// How many of the operations that it observes run now.
    public var runningCount: Int { machine.withLock { $0.count } }

    /// Called by what it observes.
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
        // The clock is the user's: asked before locking.
        let now = time.now
        if machine.withLock({ event(&$0, now) }) { TaskFactory.services.spawn { await self.tell() } }
    }

    private func tell() async {
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
