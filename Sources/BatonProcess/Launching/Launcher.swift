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
        let line = LaunchLine.shared
        let hasWaited = line.situation.isBusy ? try await line.wait(since: nil, atFront: false) : false
        // Whatever comes of it, there may be room for the next one in the line, or no hope.
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

    /// Waits for what it lacks, as long as there is hope.
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
