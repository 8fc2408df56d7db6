/// Whether a host can be reached.
public enum ReachabilityStatus: Sendable, Hashable {
    /// It takes a connection.
    case reachable
    /// It does not, for this reason.
    case unreachable(ReachabilityError)

    /// Whether it takes a connection.
    public var isReachable: Bool { self == .reachable }
}

extension Reachability {
    /// Whether the host is reachable, now and whenever that changes.
    ///
    /// ```swift
    /// for await status in Reachability(host: "example.com", port: 443).changes {
    ///     banner.isHidden = status.isReachable
    /// }
    /// ```
    public var changes: ReachabilityChanges { ReachabilityChanges(reachability: self) }
}

/// Whether a host is reachable, as that changes. From ``Reachability/changes``.
///
/// An iterator looks when it is asked for its first element, and delivers what it finds; then it looks after each
/// ``Reachability/interval``, and delivers what differs. That another reason keeps the host from being reached is no
/// difference. It looks only while somebody awaits the next element, and ends when the task that does so is cancelled.
public struct ReachabilityChanges: AsyncSequence, Sendable {
    /// Whether it is reachable.
    public typealias Element = ReachabilityStatus
    /// It does not throw.
    public typealias Failure = Never

    let reachability: Reachability

    /// Begins with what is the case when it is first asked. May be called any number of times.
    public func makeAsyncIterator() -> Iterator { Iterator(reachability: reachability) }

    /// One way through the changes.
    public struct Iterator: AsyncIteratorProtocol {
        let reachability: Reachability
        private var last: ReachabilityStatus?
        private var isOver = false

        init(reachability: Reachability) { self.reachability = reachability }

        /// The next that differs from the one before; nil when the task is cancelled, at once, and from then on.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ReachabilityStatus? {
            while !isOver {
                do {
                    if last != nil { try await reachability.pause() }
                    let failure = try await reachability.failure()
                    let status = failure.map { ReachabilityStatus.unreachable($0) } ?? .reachable
                    if status.isReachable == last?.isReachable { continue }
                    last = status
                    return status
                } catch {
                    isOver = true
                }
            }
            return nil
        }
    }
}
