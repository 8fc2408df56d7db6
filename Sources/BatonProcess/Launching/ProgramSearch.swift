internal import CBatonProcess

/// Finds the file of a program.
enum ProgramSearch {
    private static let slash = UInt8(ascii: "/")
    private static let usualPath = "/usr/bin:/bin"

    /// Returns the path of the file to run.
    ///
    /// - Parameters:
    ///   - program: A path, if it contains a slash; otherwise a name to look up.
    ///   - path: The `PATH` of the program's environment, or nil for `/usr/bin:/bin`.
    /// - Throws: `notFound` if no directory has such a file, `notStarted` if one has it but it may not be run.
    static func file(of program: String, path: String?) throws(SubprocessError) -> String {
        // The search compares bytes, as the system does: to Swift a slash and an accent that follows it are one
        // character.
        if program.utf8.contains(slash) { return program }
        let directories = (path ?? usualPath).utf8.split(separator: UInt8(ascii: ":"))
            .filter { $0.first == slash }.map { String(Substring($0)) }
        var refusal: SystemFailure?
        for directory in directories where !program.isEmpty {
            let candidate = "\(directory)/\(program)"
            switch baton_may_run(candidate) {
            case 0: return candidate
            case SystemFailure.notThere.code, SystemFailure.notInADirectory.code, SystemFailure.isDirectory.code:
                continue
            // The search goes on, as in shells, because a later directory may have a file that can be run.
            case let code:
                let detail = "‘\(candidate)’ may not be run by this user"
                refusal = refusal ?? SystemFailure(code: code, detail: code == baton_no_permission ? detail : nil)
            }
        }
        if let refusal { throw .notStarted(program: program, reason: refusal) }
        throw .notFound(program: program, searched: directories)
    }
}
