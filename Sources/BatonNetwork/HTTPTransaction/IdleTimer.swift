internal import Baton
internal import Dispatch
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Rings when its time has come, until it is stopped. It can be set again when it has rung.
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

    /// To be called at least once after it was set.
    func stop() { source.withLock { $0.cancel() } }
}

extension Duration {
    /// A hundred years, in place of more: clocks trap on what they cannot count.
    static let longest = seconds(100 * 365 * 24 * 60 * 60)
}

extension URLRequest {
    /// How long nothing may come or go: a minute, if what is said is no time or no number.
    var idleLimit: Duration {
        timeoutInterval > 0 ? .seconds(min(timeoutInterval, Duration.longest / .seconds(1))) : .seconds(60)
    }
}
