public import Baton

/// A condition that is satisfied if a host accepts a TCP connection on a port. The connection is closed at once.
///
/// ```swift
/// upload.addCondition(.reachable("example.com", port: 443, waitToConnect: true))
/// ```
///
/// With ``waitToConnect``, the operation waits until the host is reachable: the condition tries again after each
/// ``interval``, and a cancellation ends the wait at once. Without it, the condition tries once, and fails with a
/// ``ReachabilityError``. The operation holds no permit of its queue meanwhile.
///
/// Each attempt has a thread of its own, never one of Swift's thread pool, because looking up a name blocks a thread.
/// If a lookup took too long or was cancelled and is still running, no other lookup of the same host begins: attempts
/// wait for its end, within their own ``timeout``. A host that was reachable may be unreachable when the operation
/// runs, so let the operation retry as well.
public struct Reachability: OperationCondition {
    /// The name or the address of the host.
    public let host: String
    /// The port, from 1 to 65535.
    public let port: Int
    /// A Boolean value that indicates whether the operation waits until the host is reachable. If false, it fails
    /// instead.
    public let waitToConnect: Bool
    /// The longest time of one attempt, for all addresses of the host together and including the lookup of its name.
    public let timeout: Duration
    /// The time from the end of an attempt to the beginning of the next one.
    public let interval: Duration

    private let clock: any Clock<Duration>

    /// Creates the condition, without connecting yet.
    ///
    /// - Parameters:
    ///   - host: A name or an address. An IPv6 address may have brackets.
    ///   - port: A port from 1 to 65535. With any other number the evaluation fails with
    ///     ``ReachabilityError/invalidPort(_:)``.
    ///   - waitToConnect: Whether the operation waits until the host is reachable.
    ///   - timeout: The longest time of one attempt. Less than a millisecond counts as one.
    ///   - interval: The time between two attempts. Less than a millisecond counts as one.
    ///   - clock: The clock that measures `timeout` and `interval`.
    public init(
        host: String, port: Int, waitToConnect: Bool = false, timeout: Duration = .seconds(5),
        interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.host = host
        self.port = port
        self.waitToConnect = waitToConnect
        self.timeout = max(timeout, .milliseconds(1))
        self.interval = max(interval, .milliseconds(1))
        self.clock = clock
    }

    /// The host and the port, followed by "is reachable".
    public var name: String { "\(host):\(port) is reachable" }

    /// Connects once or, with ``waitToConnect``, until the host accepts a connection.
    ///
    /// - Parameter operation: The operation that has the condition.
    /// - Returns: ``ConditionResult/satisfied``.
    /// - Throws: Without ``waitToConnect``, the ``ReachabilityError`` of the attempt. With it, only
    ///   ``ReachabilityError/invalidPort(_:)``. `CancellationError` after a cancellation.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        while let failure = try await failure() {
            if case .invalidPort = failure { throw failure }
            if !waitToConnect { throw failure }
            try await pause()
        }
        return .satisfied
    }

    /// Waits until the next attempt.
    func pause() async throws { try await TimeSource(clock).sleep(until: interval) }

    /// Connects once.
    ///
    /// - Returns: The reason why the host is not reachable, or nil if it is.
    /// - Throws: `CancellationError`, at once, when the task is cancelled.
    public func failure() async throws -> ReachabilityError? {
        guard (1...65535).contains(port) else { return .invalidPort(port) }
        let time = TimeSource(clock)
        let failure = await withTaskGroup(of: ReachabilityError?.self) { group in
            group.addTask { await ConnectAttempt.failure(host: host, port: port) }
            group.addTask {
                // If the sleep is cancelled, the attempt has returned first, or the whole task is cancelled. The result
                // is ignored in both cases.
                try? await time.sleep(until: timeout)
                return .timedOut(host: host, port: port, after: timeout)
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? nil
        }
        try Task.checkCancellation()
        return failure
    }
}

extension OperationCondition where Self == Reachability {
    /// A condition that is satisfied if a host accepts a connection on a port; see ``Reachability``.
    ///
    /// - Parameters:
    ///   - host: A name or an address. An IPv6 address may have brackets.
    ///   - port: A port from 1 to 65535.
    ///   - waitToConnect: Whether the operation waits until the host is reachable. If false, it fails instead.
    ///   - timeout: The longest time of one attempt. Less than a millisecond counts as one.
    ///   - interval: The time between two attempts. Less than a millisecond counts as one.
    ///   - clock: The clock that measures `timeout` and `interval`.
    public static func reachable(
        _ host: String, port: Int, waitToConnect: Bool = false, timeout: Duration = .seconds(5),
        interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()
    ) -> Reachability {
        Reachability(
            host: host, port: port, waitToConnect: waitToConnect, timeout: timeout, interval: interval, clock: clock)
    }
}

// MARK: - Errors

/// The reason why a host is not reachable. It is the cause in `OperationError.conditionFailed`.
@nonexhaustive
public enum ReachabilityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The lookup of the host's name found no address. The text is the system's.
    case unresolved(host: String, reason: String)
    /// None of the host's addresses accepts a connection at this port. The text is the system's, for the last address.
    case unreachable(host: String, port: Int, reason: String)
    /// The attempt took longer than its time limit.
    case timedOut(host: String, port: Int, after: Duration)
    /// The port is not in the range from 1 to 65535.
    case invalidPort(Int)
    /// The system has no thread or no descriptor left for the attempt. The text says which.
    case noResources(String)

    /// A text that says what happened and, where possible, what to do about it.
    public var description: String {
        switch self {
        case .unresolved(let host, let reason): "the address of \(host) was not found: \(reason)"
        case .unreachable(let host, let port, let reason): "\(host) accepts no connection on port \(port): \(reason)"
        case .timedOut(let host, let port, let limit): "\(host) did not answer on port \(port) within \(limit)"
        case .invalidPort(let port): "\(port) is not a valid port: use one from 1 to 65535"
        case .noResources(let reason): "the attempt could not be made, because the system lacks a resource: \(reason)"
        }
    }
}
