public import Baton
public import Foundation

extension OperationCondition where Self == Exclusion {
    /// Lets in as many at once as `limit` that talk to the host of `url`, on all queues of the process.
    ///
    /// ```swift
    /// AsyncOperation(HTTPDownload(url, to: file)).addCondition(.perHost(url, to: 6))
    /// ```
    ///
    /// Scheme, host and port count. All that use it for a host give the same limit; see ``Exclusion``. Nothing is held
    /// while an operation waits for its next attempt.
    public static func perHost(_ url: URL, to limit: Int) -> Exclusion { .limited("HTTP \(url.origin)", to: limit) }
}
