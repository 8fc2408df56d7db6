/// Why a host could not be reached: the cause in `OperationError.conditionFailed`.
@nonexhaustive
public enum ReachabilityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the host leads to no address. The text is the system's.
    case unresolved(host: String, reason: String)
    /// None of its addresses takes a connection at this port. The text is the system's, about the last of them.
    case unreachable(host: String, port: Int, reason: String)
    /// There was no answer for so long.
    case timedOut(host: String, port: Int, after: Duration)
    /// There is no such port: they go from 1 to 65535.
    case invalidPort(Int)
    /// The system gives no thread, or no descriptor, to look. The text says which.
    case noResources(String)

    /// What happened, and what to do about it if something can be done.
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
