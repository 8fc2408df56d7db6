internal import Baton
internal import Dispatch
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

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

// MARK: - Limit of a request

extension Duration {
    /// One hundred years. Longer durations are shortened to this, because clocks trap on overflow.
    static let longest = seconds(100 * 365 * 24 * 60 * 60)
}

extension URLRequest {
    /// The longest time that may pass without a byte being sent or received: `timeoutInterval`, or 60 seconds if that
    /// is not a positive number.
    var idleLimit: Duration {
        timeoutInterval > 0 ? .seconds(min(timeoutInterval, Duration.longest / .seconds(1))) : .seconds(60)
    }
}
