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
        let queue = LaunchQueue.shared
        let hasWaited = queue.snapshot.hasWaiters ? try await queue.wait(since: nil, atFront: false) : false
        // Whether or not this start succeeds, the next waiting start has to look again: there may be room for it, or it
        // may have to fail.
        defer { queue.wakeNext() }
        var ends = ClaimedPipeEnds()
        do {
            let running = try await start(program, &ends, hasWaited: hasWaited)
            queue.launched(running, program.pipeline)
            ends.didStart(program)
            return running
        } catch {
            ends.giveUp(for: program)
            throw error
        }
    }

    /// Tries to start the program. If a limit of descriptors or processes is reached, waits and tries again as long as
    /// a running program can end.
    private static func start(
        _ program: Subprocess, _ ends: inout ClaimedPipeEnds, hasWaited: Bool
    ) async throws -> RunningProgram {
        let queue = LaunchQueue.shared
        var hasWaited = hasWaited
        while true {
            let endCount = queue.snapshot.endCount
            switch LaunchedProcess.result(program, &ends) {
            case .success(let process): return try RunningProgram(program, process)
            case .failure(let error):
                guard error.isShortage, try await queue.wait(since: endCount, atFront: hasWaited) else { throw error }
                hasWaited = true
            }
        }
    }

    private static func check(_ program: Subprocess) throws(SubprocessError) {
        var problem = EnvironmentBlock.problem(of: program.environment)
        if program.program.isBlank { problem = "give its name, to be looked up in PATH, or its path" }
        if program.program.containsNUL { problem = "its name has a zero byte in it" }
        if program.directory?.isEmpty == true {
            problem = "its directory is empty. Give the path of one, or nil for that of this process"
        }
        if program.directory?.containsNUL == true { problem = "its directory has a zero byte in it" }
        if let place = program.arguments.firstIndex(where: \.containsNUL) {
            problem = "argument \(place + 1) has a zero byte in it"
        }
        if program.paths.contains(where: \.isEmpty) { problem = "the path of one of its files is empty" }
        if program.paths.contains(where: \.containsNUL) {
            problem = "the path of one of its files has a zero byte in it"
        }
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
