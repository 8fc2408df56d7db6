internal import Baton
internal import CBatonProcess

/// The result of one attempt to start a program. If the attempt fails, everything that it opened is closed again,
/// except for the ends of the pipeline.
struct LaunchedProcess {
    let pid: Int32
    let streams: StandardStreams
    let poller: Poller
    /// The watchdog's entry, which ends the program's process group if this process ends first.
    let watch: Watchdog.Entry?
    /// A spare descriptor, closed just before the descriptor that watches the end of the program is opened. Without it,
    /// a program could be started that cannot be watched, and its start could not be undone.
    let reserve: Descriptor

    /// Tries to start the program. Returns a `Result`, because Swift 6.3.1 does not compile a loop that catches a typed
    /// error and awaits.
    static func result(_ program: Subprocess, _ ends: inout ClaimedPipeEnds) -> Result<LaunchedProcess, SubprocessError>
    {
        do { return .success(try attempt(program, &ends)) } catch { return .failure(error) }
    }

    private static func attempt(_ program: Subprocess, _ ends: inout ClaimedPipeEnds) throws(SubprocessError)
        -> LaunchedProcess
    {
        let (poller, reserve) = try reserveResources(for: program)
        try ends.take(for: program)
        let environment = EnvironmentBlock(program.environment)
        let file = try ProgramSearch.file(of: program.program, path: environment.value(of: "PATH"))
        let streams = try StandardStreams(program, ends)
        let watchdog = Watchdog.shared()
        let pid: Int32
        do { pid = try spawn(file, program, environment, streams) } catch {
            streams.abandonFiles()
            throw error
        }
        // The group is registered right after the spawn: until then, nothing would end the program if this process
        // ended.
        let watch = watchdog?.watch(group: pid)
        streams.closeProgramEnds()
        return LaunchedProcess(pid: pid, streams: streams, poller: poller, watch: watch, reserve: reserve)
    }

    private static func reserveResources(for program: Subprocess) throws(SubprocessError) -> (Poller, Descriptor) {
        do {
            return (try Poller.shared(), try .opened { baton_open_reading("/dev/null", $0) })
        } catch {
            throw .notStarted(program: program.program, reason: error)
        }
    }

    private static func spawn(
        _ file: String, _ program: Subprocess, _ environment: EnvironmentBlock, _ streams: StandardStreams
    ) throws(SubprocessError) -> Int32 {
        let arguments = CStringArray([program.program] + program.arguments)
        var pid: Int32 = 0
        let code = withExtendedLifetime((arguments, environment)) {
            baton_spawn(
                &pid, file, arguments.pointers, environment.entries.pointers, program.directory, streams.input.number,
                streams.output.number, streams.errors.number)
        }
        if code == 0 { return pid }
        // `baton_spawn` does not tell whether it failed on the directory or on the file.
        if let directory = program.directory {
            let reason = baton_check_directory(directory)
            if reason != 0 {
                throw .directoryNotEntered(
                    program: program.program, directory: directory, reason: SystemFailure(code: reason))
            }
        }
        var detail = LaunchFailureDiagnosis(file, from: program.directory).problem(code)
        if detail == nil, [SystemFailure.notThere.code, SystemFailure.notInADirectory.code].contains(code) {
            detail = SubprocessError.hint(for: program.program)
        }
        throw .notStarted(program: program.program, reason: SystemFailure(code: code, detail: detail))
    }
}

// MARK: - Search for the file of a program

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
            switch baton_check_executable(candidate) {
            case 0: return candidate
            case SystemFailure.notThere.code, SystemFailure.notInADirectory.code, SystemFailure.isDirectory.code:
                continue
            // The search goes on, as in shells, because a later directory may have a file that can be run.
            case let code:
                let detail = "\(candidate.quoted) may not be run by this user"
                refusal = refusal ?? SystemFailure(code: code, detail: code == baton_EACCES ? detail : nil)
            }
        }
        if let refusal { throw .notStarted(program: program, reason: refusal) }
        throw .notFound(program: program, searched: directories)
    }
}
