public import Baton

/// Satisfied if a host takes a connection at a port: looked at by connecting, over TCP, and closing the connection at
/// once.
///
/// ```swift
/// upload.addCondition(.reachable("example.com", port: 443, waitToConnect: true))
/// ```
///
/// With ``waitToConnect`` the operation is kept until it is reachable, and looks again after each ``interval``; a
/// cancel ends that at once. Without, it looks once, and fails with a ``ReachabilityError``. Meanwhile it holds no
/// permit of its queue.
///
/// Each attempt has a thread of its own, because to look up a name blocks one: never a thread of Swift's. While a
/// lookup goes on that took too long or was cancelled, no other one of the same host begins: attempts wait for its end
/// as long as they may take. What has been reachable may not be so a moment later: retry what fails all the same.
public struct Reachability: OperationCondition {
    /// A name or an address.
    public let host: String
    /// From 1 to 65535.
    public let port: Int
    /// Whether the operation waits until the host is reachable. Else it fails if it is not.
    public let waitToConnect: Bool
    /// How long one attempt may take, all addresses of the host together, the name's lookup included.
    public let timeout: Duration
    /// How long to wait from the end of an attempt to the next one.
    public let interval: Duration

    private let clock: any Clock<Duration>

    /// Makes the condition, and connects to nothing yet.
    ///
    /// - Parameters:
    ///   - host: A name or an address; an IPv6 address with brackets or without.
    ///   - port: From 1 to 65535; another one is ``ReachabilityError/invalidPort(_:)`` when it is looked at.
    ///   - waitToConnect: Whether the operation waits until the host is reachable.
    ///   - timeout: How long one attempt may take. Less than a millisecond counts as one.
    ///   - interval: How long to wait between two attempts. Less than a millisecond counts as one.
    ///   - clock: What measures both.
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

    /// The host and the port, and "is reachable".
    public var name: String { "\(host):\(port) is reachable" }

    /// Throws the ``ReachabilityError`` of the one attempt; of several, ``ReachabilityError/invalidPort(_:)`` alone.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        while let failure = try await failure() {
            if case .invalidPort = failure { throw failure }
            if !waitToConnect { throw failure }
            try await pause()
        }
        return .satisfied
    }

    /// Until the next attempt.
    func pause() async throws { try await TimeSource(clock).sleep(until: interval) }

    /// Looks once. Nil: it is reachable.
    ///
    /// - Throws: `CancellationError`, at once, when the task is cancelled.
    public func failure() async throws -> ReachabilityError? {
        guard (1...65535).contains(port) else { return .invalidPort(port) }
        let time = TimeSource(clock)
        let failure = await withTaskGroup(of: ReachabilityError?.self) { group in
            group.addTask { await Attempt.failure(host: host, port: port) }
            group.addTask {
                // Cancelled, it was not the first.
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
    /// Satisfied if a host takes a connection at a port; see ``Reachability``.
    public static func reachable(
        _ host: String, port: Int, waitToConnect: Bool = false, timeout: Duration = .seconds(5),
        interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()
    ) -> Reachability {
        Reachability(
            host: host, port: port, waitToConnect: waitToConnect, timeout: timeout, interval: interval, clock: clock)
    }
}
