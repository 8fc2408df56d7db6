/// The ends of its pipes that a program of a pipeline has taken. Each can be taken once, so they are kept when the
/// start of the program is tried again.
struct PipelineEnds {
    private(set) var input: Descriptor?
    private(set) var output: Descriptor?

    init() {}

    /// Takes what has not been taken yet.
    mutating func take(for program: Subprocess) throws(SubprocessError) {
        if case .pipe(let pipe) = program.input.source, input == nil {
            input = try Self.taking(for: program) { () throws(SystemFailure) in try pipe.takeReading() }
        }
        if case .pipe(let pipe) = program.output.target, output == nil {
            output = try Self.taking(for: program) { () throws(SystemFailure) in try pipe.takeWriting() }
        }
    }

    /// The program runs.
    func didStart(_ program: Subprocess) {
        if input != nil, case .pipe(let pipe) = program.input.source { pipe.didStartReading() }
        if output != nil, case .pipe(let pipe) = program.output.target { pipe.didStartWriting() }
    }

    /// The program will never run: those that it would have been connected with are told at once, not when its
    /// operation ends.
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

    /// Nil: it was taken before.
    private static func taking(
        for program: Subprocess, _ take: () throws(SystemFailure) -> Descriptor?
    ) throws(SubprocessError) -> Descriptor {
        let end: Descriptor?
        do { end = try take() } catch { throw .notStarted(program: program.program, reason: error) }
        guard let end else { throw .pipeUsed(program: program.program) }
        return end
    }
}
