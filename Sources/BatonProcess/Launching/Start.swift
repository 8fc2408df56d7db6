internal import CBatonProcess

/// One attempt to start a program: what it needs, and what has become of it. If it fails, nothing is left but the ends
/// of its pipeline.
struct Start {
    let pid: Int32
    let wiring: StandardStreams
    let poller: Poller
    /// Has its group ended if this process ends first.
    let watch: Watchdog.Entry?
    /// Keeps a descriptor free for watching the end of the program: the start of one that cannot be watched could not
    /// be undone.
    let reserve: Descriptor

    /// A result, because Swift 6.3.1 does not compile a loop that catches a typed error and awaits.
    static func result(_ program: Subprocess, _ ends: inout PipelineEnds) -> Result<Start, SubprocessError> {
        do { return .success(try attempt(program, &ends)) } catch { return .failure(error) }
    }

    private static func attempt(_ program: Subprocess, _ ends: inout PipelineEnds) throws(SubprocessError) -> Start {
        let (poller, reserve) = try tools(for: program)
        try ends.take(for: program)
        let environment = EnvironmentBlock(program.environment)
        let file = try ProgramSearch.file(of: program.program, path: environment.value(of: "PATH"))
        let wiring = try StandardStreams(program, ends)
        let watchdog = Watchdog.shared()
        let pid: Int32
        do { pid = try spawn(file, program, environment, wiring) } catch {
            wiring.abandonFiles()
            throw error
        }
        // At once: nobody would end it if this process ended now.
        let watch = watchdog?.watch(group: pid)
        wiring.closeItsEnds()
        return Start(pid: pid, wiring: wiring, poller: poller, watch: watch, reserve: reserve)
    }

    private static func tools(for program: Subprocess) throws(SubprocessError) -> (Poller, Descriptor) {
        do {
            return (try Poller.shared(), try .opened { baton_open_reading("/dev/null", $0) })
        } catch {
            throw .notStarted(program: program.program, reason: error)
        }
    }

    private static func spawn(
        _ file: String, _ program: Subprocess, _ environment: EnvironmentBlock, _ wiring: StandardStreams
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
        let detail = UnstartableFile(file, from: program.directory).problem(code)
        throw .notStarted(program: program.program, reason: SystemFailure(code: code, detail: detail))
    }
}
