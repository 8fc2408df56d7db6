internal import Baton
internal import Dispatch

/// A timer that fires once after each `set(after:)`, until it is stopped.
final class IdleTimer: Sendable {
    private let source: Locked<any DispatchSourceTimer>

    init(_ ring: @escaping @Sendable () -> Void) {
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler(handler: ring)
        source = Locked(timer)
    }

    func set(after delay: Duration) {
        let delay = min(max(.zero, delay), .longest)
        source.withLock { source in
            source.schedule(deadline: .now() + delay / .seconds(1))
            source.activate()
        }
    }

    /// Stops the timer. Must be called at least once after `set(after:)`.
    func stop() { source.withLock { $0.cancel() } }
}
