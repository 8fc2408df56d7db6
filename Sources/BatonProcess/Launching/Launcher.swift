internal import Baton
internal import CBatonProcess

/// Starts programs, on a thread of its own: the system may take its time to find a file and to load it.
enum Launcher {
    private static let thread = ThreadExecutor(name: "baton-launch", threads: 1)

    static func launch(_ program: Subprocess) async throws -> RunningProgram {
        try await withTaskExecutorPreference(thread) { try await begin(program) }
    }

    /// On the thread, also if the caller belongs to an actor.
    @concurrent
    private static func begin(_ program: Subprocess) async throws -> RunningProgram {
        // Others may have been started first.
        try Task.checkCancellation()
        try check(program)
        let poller: Poller
        do { poller = try Poller.shared() } catch {
            throw SubprocessError.notStarted(program: program.program, reason: error)
        }
        let environment = EnvironmentBlock(program.environment)
        let file = try ProgramSearch.file(of: program.program, path: environment.value(of: "PATH"))
        let wiring = try Wiring(program)
        do {
            let pid = try start(file, program, environment, wiring)
            wiring.closeItsEnds()
            return try RunningProgram(program, pid, wiring, WaitScope(poller))
        } catch {
            wiring.closeItsEnds()
            wiring.abandonFiles()
            throw error
        }
    }

    private static func start(
        _ file: String, _ program: Subprocess, _ environment: EnvironmentBlock, _ wiring: Wiring
    ) throws(SubprocessError) -> Int32 {
        let arguments = CStrings([program.program] + program.arguments)
        var pid: Int32 = 0
        let code = withExtendedLifetime((arguments, environment)) {
            baton_spawn(
                &pid, file, arguments.pointers, environment.entries.pointers, program.directory, wiring.input.number,
                wiring.output.number, wiring.errors.number)
        }
        if code == 0 { return pid }
        // The system does not tell which of the two it was.
        if let directory = program.directory {
            let reason = baton_may_enter(directory)
            if reason != 0 {
                throw .directoryNotEntered(
                    program: program.program, directory: directory, reason: SystemFailure(code: reason))
            }
        }
        throw .notStarted(program: program.program, reason: SystemFailure(code: code))
    }

    private static func check(_ program: Subprocess) throws(SubprocessError) {
        var problem = EnvironmentBlock.problem(of: program.environment)
        if program.program.hasZero { problem = "its name has a zero byte in it" }
        if program.directory?.hasZero == true { problem = "its directory has a zero byte in it" }
        if let place = program.arguments.firstIndex(where: \.hasZero) {
            problem = "argument \(place + 1) has a zero byte in it"
        }
        if program.paths.contains(where: \.hasZero) { problem = "the path of one of its files has a zero byte in it" }
        if let problem { throw .invalidText(program: program.program, problem: problem) }
    }
}

extension Subprocess {
    /// Of its input and its outputs.
    fileprivate var paths: [String] {
        var paths: [String] = []
        if case .file(let path) = input.source { paths.append(path) }
        for target in [output.target, errors.target] {
            switch target {
            case .file(let path), .appendedFile(let path): paths.append(path)
            case .collected, .tail, .lines, .bytes, .discarded, .inherited, .pipe, .merged: break
            }
        }
        return paths
    }
}
