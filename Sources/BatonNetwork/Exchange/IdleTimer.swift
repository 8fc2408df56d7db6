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
        let delay = min(max(.zero, delay), .longest)
        source.withLock { source in
            source.schedule(deadline: .now() + delay / .seconds(1))
            source.activate()
        }
    }

    /// To be called at least once after it was set.
    func stop() { source.withLock { $0.cancel() } }
}

extension Duration {
    /// A hundred years, in place of more: clocks trap on what they cannot count.
    static let longest = seconds(100 * 365 * 24 * 60 * 60)
}
