/// The reachability of a host.
public enum ReachabilityStatus: Sendable, Hashable {
    /// The host accepts a connection.
    case reachable
    /// The host accepts no connection, for the given reason.
    case unreachable(ReachabilityError)

    /// A Boolean value that indicates whether the host accepts a connection.
    public var isReachable: Bool { self == .reachable }
}

extension Reachability {
    /// The reachability of the host: its current status, and each change of it.
    public var changes: ReachabilityChanges { ReachabilityChanges(reachability: self) }
}

/// An asynchronous sequence of the changes of a host's reachability, as ``Reachability/changes`` returns it.
///
/// When an iterator is asked for its first element, it connects once and delivers the status. After that it connects
/// after each ``Reachability/interval``, and delivers the status if the host has become reachable or unreachable. A
/// different reason for being unreachable does not count as a change. The iterator connects only while a task awaits
/// the next element, and ends when that task is cancelled.
public struct ReachabilityChanges: AsyncSequence, Sendable {
    /// The status of the host.
    public typealias Element = ReachabilityStatus
    /// The sequence does not throw.
    public typealias Failure = Never

    let reachability: Reachability

    /// Makes an iterator, which begins with the status at the time of its first call. Each iterator connects on its
    /// own.
    public func makeAsyncIterator() -> Iterator { Iterator(reachability: reachability) }

    /// An iterator over the changes.
    public struct Iterator: AsyncIteratorProtocol {
        let reachability: Reachability
        private var last: ReachabilityStatus?
        private var hasEnded = false

        init(reachability: Reachability) { self.reachability = reachability }

        /// Waits for the next change, and returns the new status. Returns nil, at once and from then on, if the task is
        /// cancelled.
        ///
        /// - Parameter actor: The actor to which the call is isolated, by default that of the caller.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ReachabilityStatus? {
            while !hasEnded {
                do {
                    if last != nil { try await reachability.pause() }
                    let failure = try await reachability.failure()
                    let status = failure.map { ReachabilityStatus.unreachable($0) } ?? .reachable
                    if status.isReachable == last?.isReachable { continue }
                    last = status
                    return status
                } catch {
                    hasEnded = true
                }
            }
            return nil
        }
    }
}
