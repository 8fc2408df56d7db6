internal import Baton

/// The state that the two tasks of a live view share: the reading task folds events into numbers, and the drawing task
/// draws the numbers at its own pace.
final class LiveDriver: Sendable {
    private struct State {
        var model: LiveModel
        /// True if the view was released.
        var isAbandoned = false
        /// True if the reader of the output is gone.
        var hasNoReader = false
    }

    private enum Verdict {
        case noted, unknown, end
    }

    /// The time for which the reading task may go on with earlier events after its cancellation. Without this limit, a
    /// busy queue could keep it reading forever.
    private static let longestEnd = Duration.seconds(60)

    private let state: Locked<State>
    private let options: LiveView.Options
    private let pace: LivePace
    private let output: LiveOutput

    init(_ options: LiveView.Options, _ pace: LivePace, _ output: LiveOutput) {
        self.options = options
        self.pace = pace
        self.output = output
        state = Locked(State(model: LiveModel(keptFailures: options.failureCount)))
    }

    func abandon() { state.withLock { $0.isAbandoned = true } }

    // MARK: Counting

    /// Counts the operations that are in the queue already. Call it before the first event is read.
    func count(_ snapshot: QueueSnapshot) {
        for operation in snapshot.operations where operation.state != .finished {
            let reference = operation.reference
            _ = note(.appeared, of: reference)
            if let exclusion = operation.waitsFor.lazy.compactMap(\.exclusion).first, operation.state == .ready {
                _ = note(.blocked(.exclusion(TerminalText.line(exclusion))), of: reference)
            }
            if operation.state == .executing { _ = note(.started, of: reference) }
        }
    }

    /// Reads events until the task is cancelled or the queue is released, then reads the events emitted before that.
    func read(_ events: OperationEvents) async {
        for await event in events where !fold(event) { return }
        let end = pace.now + Self.longestEnd
        while case let remaining = events.takeAll(), !remaining.isEmpty {
            for event in remaining where pace.now >= end || !fold(event) { return }
        }
    }

    /// Applies an event. Returns false if the view has ended.
    private func fold(_ event: OperationEvent) -> Bool {
        guard let change = LiveChange(event.kind) else { return true }
        return note(change, of: event.operation)
    }

    private func note(_ change: LiveChange, of operation: OperationReference) -> Bool {
        let now = pace.now
        switch attempt(change, operation, nil, now) {
        case .noted: return true
        case .end: return false
        case .unknown: return attempt(change, operation, options.stage(operation), now) != .end
        }
    }

    private func attempt(
        _ change: LiveChange, _ operation: OperationReference, _ stage: String?, _ now: Duration
    ) -> Verdict {
        state.withLock { state in
            if state.hasNoReader || state.isAbandoned { return .end }
            return state.model.note(change, of: operation, in: stage, at: now) ? .noted : .unknown
        }
    }

    // MARK: Drawing

    /// Draws until the task is cancelled, then draws once more, with a summary.
    ///
    /// - Parameter events: The events of the queue, which also tell whether it is suspended.
    func draw(_ events: OperationEvents) async {
        var canvas = LiveCanvas(output, knowsTotals: options.knowsTotals)
        let interval = canvas.isRedrawn ? pace.interval : pace.interval * 10
        repeat {
            let (snapshot, isAbandoned) = snapshot(isSuspended: events.isQueueSuspended)
            if isAbandoned { return }
            if !canvas.show(snapshot) { return state.withLock { $0.hasNoReader = true } }
        } while await pace.pause(for: interval)
        let (snapshot, isAbandoned) = snapshot(isSuspended: events.isQueueSuspended)
        if !isAbandoned { canvas.end(snapshot) }
    }

    private func snapshot(isSuspended: Bool) -> (LiveSnapshot, isAbandoned: Bool) {
        let now = pace.now
        var (snapshot, isAbandoned) = state.withLock { state in
            state.model.tick(at: now)
            return (state.model.takeSnapshot(), state.isAbandoned)
        }
        snapshot.isSuspended = isSuspended
        return (snapshot, isAbandoned)
    }
}

extension QueueSnapshot.Operation {
    /// The reference by which events name the operation.
    fileprivate var reference: OperationReference { OperationReference(id: id, name: name) }
}

// MARK: - Pace

/// A clock whose type is erased, and the interval between redraws.
struct LivePace: Sendable {
    private let time: TimeSource
    let interval: Duration

    /// The shortest interval, so that drawing does not take all of a thread.
    private static let shortest = Duration.milliseconds(10)

    init(_ clock: some Clock<Duration>, interval: Duration) {
        time = TimeSource(clock)
        // The upper bound keeps ten times the interval, added to any time, within the range of `Duration`.
        self.interval = min(max(interval, Self.shortest), .seconds(1_000_000_000))
    }

    var now: Duration { time.now }

    /// Sleeps. Returns false if the task is cancelled.
    func pause(for time: Duration) async -> Bool {
        if Task.isCancelled { return false }
        try? await self.time.sleep(until: now + time)
        return !Task.isCancelled
    }
}
