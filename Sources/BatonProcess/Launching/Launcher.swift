internal import Baton
internal import CBatonProcess

/// Starts programs on a thread of its own, because the system may take its time to find a file and to load it.
enum Launcher {
    private static let thread = ThreadExecutor(name: "baton-launch", threads: 1)

    static func launch(_ program: Subprocess) async throws -> RunningProgram {
        try await withTaskExecutorPreference(thread) { try await begin(program) }
    }

    /// `@concurrent`, so that the function runs on the launcher's thread even if the caller is isolated to an actor.
    @concurrent
    private static func begin(_ program: Subprocess) async throws -> RunningProgram {
        // The task may have been cancelled while the thread was starting other programs.
        try Task.checkCancellation()
        try check(program)
        let line = LaunchLine.shared
        let hasWaited = line.situation.isBusy ? try await line.wait(since: nil, atFront: false) : false
        // Whether or not this start succeeds, the next waiting start has to look again: there may be room for it, or it
        // may have to fail.
        defer { line.passOn() }
        var ends = PipelineEnds()
        do {
            let running = try await start(program, &ends, hasWaited: hasWaited)
            line.launched(running, program.pipeline)
            ends.didStart(program)
            return running
        } catch {
            ends.giveUp(for: program)
            throw error
        }
    }

    /// Tries to start the program. If descriptors or processes are short, waits and tries again as long as a running
    /// program can end.
    private static func start(
        _ program: Subprocess, _ ends: inout PipelineEnds, hasWaited: Bool
    ) async throws -> RunningProgram {
        let line = LaunchLine.shared
        var hasWaited = hasWaited
        while true {
            let endCount = line.situation.endCount
            switch Start.result(program, &ends) {
            case .success(let start): return try RunningProgram(program, start)
            case .failure(let error):
                guard error.isShortage, try await line.wait(since: endCount, atFront: hasWaited) else { throw error }
                hasWaited = true
            }
        }
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
    /// The paths of the files that the program reads from or writes to.
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
