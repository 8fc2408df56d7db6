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
        case .unreachable(let host, let port, let reason): "\(host) takes no connection at port \(port): \(reason)"
        case .timedOut(let host, let port, let limit): "\(host) did not answer at port \(port) within \(limit)"
        case .invalidPort(let port): "\(port) is no port: use one from 1 to 65535"
        case .noResources(let reason): "could not look, because the system is short of something: \(reason)"
        }
    }
}
