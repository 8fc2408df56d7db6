internal import Baton
internal import Dispatch

/// Rings when its time has come, until it is stopped. It can be set again when it has rung.
final class IdleTimer: Sendable {
    private let source: LockedState<any DispatchSourceTimer>

    init(_ ring: @escaping @Sendable () -> Void) {
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler(handler: ring)
        source = LockedState(timer)
    }

    func set(after delay: Duration) {
        // A hundred years, in case somebody has asked for more.
        let seconds = min(max(0, delay / .seconds(1)), 100 * 365 * 24 * 60 * 60)
        source.withLock { source in
            source.schedule(deadline: .now() + seconds)
            source.activate()
        }
    }

    /// To be called at least once after it was set.
    func stop() { source.withLock { $0.cancel() } }
}
