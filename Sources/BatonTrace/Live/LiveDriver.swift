internal import Baton

/// What the two tasks of a live view share: one folds events into numbers, the other draws them at its own pace.
final class LiveDriver: Sendable {
    private struct State {
        var model: LiveModel
        /// The view was released.
        var isAbandoned = false
        /// Nobody reads what is written.
        var isDeaf = false
    }

    private enum Verdict {
        case noted, unknown, end
    }

    /// Reading what was told before the end must not go on for ever beside a busy queue.
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

    /// Before the first event is read.
    func look(at snapshot: QueueSnapshot) {
        for operation in snapshot.operations where operation.state != .finished {
            let reference = operation.reference
            _ = note(.comes, of: reference)
            if let exclusion = operation.waitsFor.lazy.compactMap(\.exclusion).first, operation.state == .ready {
                _ = note(.isHeld(.exclusion(PlainText.line(exclusion))), of: reference)
            }
            if operation.state == .executing { _ = note(.starts, of: reference) }
        }
    }

    /// Until the task is cancelled or the queue has gone; then what was told before.
    func read(_ events: OperationEvents) async {
        for await event in events where !fold(event) { return }
        let end = pace.now + Self.longestEnd
        while case let told = events.takeAll(), !told.isEmpty {
            for event in told where pace.now >= end || !fold(event) { return }
        }
    }

    /// False: nobody needs it any more.
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
            if state.isDeaf || state.isAbandoned { return .end }
            return state.model.note(change, of: operation, in: stage, at: now) ? .noted : .unknown
        }
    }

    // MARK: Drawing

    /// Until the task is cancelled; then once more, with a summary.
    ///
    /// - Parameter events: Say whether the queue is suspended.
    func draw(_ events: OperationEvents) async {
        var canvas = LiveCanvas(output, knowsTotals: options.knowsTotals)
        let interval = canvas.isRedrawn ? pace.interval : pace.interval * 10
        repeat {
            let (picture, isAbandoned) = picture(isSuspended: events.isQueueSuspended)
            if isAbandoned { return }
            if !canvas.show(picture) { return state.withLock { $0.isDeaf = true } }
        } while await pace.pause(for: interval)
        let (picture, isAbandoned) = picture(isSuspended: events.isQueueSuspended)
        if !isAbandoned { canvas.end(picture) }
    }

    private func picture(isSuspended: Bool) -> (LivePicture, isAbandoned: Bool) {
        let now = pace.now
        var (picture, isAbandoned) = state.withLock { state in
            state.model.tick(at: now)
            return (state.model.takePicture(), state.isAbandoned)
        }
        picture.isSuspended = isSuspended
        return (picture, isAbandoned)
    }
}

extension QueueSnapshot.Operation {
    /// The one that events name.
    fileprivate var reference: OperationReference { OperationReference(id: id, name: name) }
}
