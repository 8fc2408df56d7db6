public import Baton
public import Foundation

extension OperationCondition where Self == Exclusion {
    /// Limits how many operations that use the host of `url` run at the same time, across all queues of the process.
    ///
    /// ```swift
    /// AsyncOperation(HTTPDownload(url, to: file)).addCondition(.perHost(url, to: 6))
    /// ```
    ///
    /// URLs with the same scheme, host and port share a limit. All conditions for one host have to use the same limit;
    /// see ``Exclusion``. An operation that waits for its next attempt does not count. URLs
    /// without a host, whose requests fail, share a limit as well.
    ///
    /// - Parameters:
    ///   - url: Any URL of the host.
    ///   - limit: The largest number of operations that run at the same time.
    /// - Returns: The condition.
    public static func perHost(_ url: URL, to limit: Int) -> Exclusion { .limited("HTTP \(url.origin)", to: limit) }
}
