/// A signal by which a user or the system asks a program to end.
///
/// ```swift
/// await queue.shutdown(on: .interrupt, .terminate, within: .seconds(10))
/// ```
public struct ShutdownSignal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// `SIGINT`, which Ctrl-C sends.
    public static let interrupt = ShutdownSignal(rawValue: 2)

    /// `SIGTERM`, which `kill` sends, and systemd, Docker and Kubernetes before they end a program.
    public static let terminate = ShutdownSignal(rawValue: 15)

    /// `SIGHUP`, which a terminal sends when it is closed.
    public static let hangUp = ShutdownSignal(rawValue: 1)

    /// The number by which the system knows it.
    public let rawValue: Int32

    /// The signal with this number, for example `SIGUSR1`.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The name that the system has for it, or its number.
    public var description: String {
        switch self {
        case .interrupt: "SIGINT"
        case .terminate: "SIGTERM"
        case .hangUp: "SIGHUP"
        default: "signal \(rawValue)"
        }
    }
}
