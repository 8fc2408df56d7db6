/// A signal by which a user or the system asks a program to end.
///
/// ```swift
/// await queue.shutdown(on: .interrupt, .terminate, within: .seconds(10))
/// ```
public struct ShutdownSignal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// `SIGINT`, which Ctrl-C sends.
    public static let interrupt = ShutdownSignal(rawValue: 2)

    /// `SIGTERM`, which `kill` sends by default, and which systemd, Docker and Kubernetes send before they end a
    /// program.
    public static let terminate = ShutdownSignal(rawValue: 15)

    /// `SIGHUP`, which a terminal sends when it is closed.
    public static let hangUp = ShutdownSignal(rawValue: 1)

    /// The number of the signal in the system.
    public let rawValue: Int32

    /// Makes a signal from its number, for example that of `SIGUSR1`.
    ///
    /// - Parameter rawValue: The number of the signal in the system.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The system's name of the signal, such as "SIGINT", or its number.
    public var description: String {
        switch self {
        case .interrupt: "SIGINT"
        case .terminate: "SIGTERM"
        case .hangUp: "SIGHUP"
        default: "signal \(rawValue)"
        }
    }
}
