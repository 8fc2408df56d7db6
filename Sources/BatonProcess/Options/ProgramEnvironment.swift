/// Which environment a program gets.
public struct ProgramEnvironment: Sendable {
    enum Kind: Sendable {
        case inherited
        case custom([String: String])
        case updating([String: String?])
    }

    let kind: Kind

    /// That of this process, as it is when the program is started.
    public static let inherited = ProgramEnvironment(kind: .inherited)

    /// These variables and no others. A program without `PATH` is looked up in `/usr/bin` and `/bin`.
    public static func custom(_ variables: [String: String]) -> ProgramEnvironment {
        ProgramEnvironment(kind: .custom(variables))
    }

    /// That of this process with these variables set or, where the value is nil, taken out.
    public static func updating(_ changes: [String: String?]) -> ProgramEnvironment {
        ProgramEnvironment(kind: .updating(changes))
    }
}
