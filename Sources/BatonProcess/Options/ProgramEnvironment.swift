/// The environment variables that a program gets.
public struct ProgramEnvironment: Sendable {
    enum Kind: Sendable {
        case inherited
        case custom([String: String])
        case updating([String: String?])
    }

    let kind: Kind

    /// The environment of this process at the time when the program is started.
    public static let inherited = ProgramEnvironment(kind: .inherited)

    /// Passes the given variables and no others.
    ///
    /// If `PATH` is not among them, the program is looked up in `/usr/bin` and `/bin`.
    ///
    /// - Parameter variables: The values of the variables, by their names.
    public static func custom(_ variables: [String: String]) -> ProgramEnvironment {
        ProgramEnvironment(kind: .custom(variables))
    }

    /// Passes the environment of this process with some variables set or removed.
    ///
    /// - Parameter changes: The new values of the variables, by their names. A variable whose value is nil is removed.
    public static func updating(_ changes: [String: String?]) -> ProgramEnvironment {
        ProgramEnvironment(kind: .updating(changes))
    }
}
