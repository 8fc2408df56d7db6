/// The ends of its pipeline's pipes that a program has taken. Each end can be taken once, so the ends are kept while
/// the start of the program is tried again.
struct ClaimedPipeEnds {
    private(set) var input: Descriptor?
    private(set) var output: Descriptor?

    init() {}

    /// Takes the ends that have not been taken yet.
    mutating func take(for program: Subprocess) throws(SubprocessError) {
        if case .pipe(let pipe) = program.input.source, input == nil {
            input = try Self.taking(for: program) { () throws(SystemFailure) in try pipe.takeReading() }
        }
        if case .pipe(let pipe) = program.output.target, output == nil {
            output = try Self.taking(for: program) { () throws(SystemFailure) in try pipe.takeWriting() }
        }
    }

    /// Tells the pipes that the program runs.
    func didStart(_ program: Subprocess) {
        if input != nil, case .pipe(let pipe) = program.input.source { pipe.didStartReading() }
        if output != nil, case .pipe(let pipe) = program.output.target { pipe.didStartWriting() }
    }

    /// Gives up the ends of a program that will never run. The programs at the other ends learn of it now, and not when
    /// this program's operation ends.
    mutating func giveUp(for program: Subprocess) {
        if let input = input.take(), case .pipe(let pipe) = program.input.source {
            input.close()
            pipe.giveUpReading()
        }
        if let output = output.take(), case .pipe(let pipe) = program.output.target {
            output.close()
            pipe.giveUpWriting()
        }
    }

    /// Takes an end. Throws `pipeUsed` if the end was taken before.
    private static func taking(
        for program: Subprocess, _ take: () throws(SystemFailure) -> Descriptor?
    ) throws(SubprocessError) -> Descriptor {
        let end: Descriptor?
        do { end = try take() } catch { throw .notStarted(program: program.program, reason: error) }
        guard let end else { throw .pipeUsed(program: program.program) }
        return end
    }
}
