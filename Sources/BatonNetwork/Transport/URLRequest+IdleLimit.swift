internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

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
