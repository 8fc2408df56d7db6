#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Baton

/// A program to run, with its arguments, its environment, its input and its outputs.
///
/// ```swift
/// let log = AsyncOperation(Subprocess("git", arguments: ["log", "--oneline"], directory: repository))
/// let sorted = log.then(Subprocess("sort"))
/// print(try await queue.run(sorted).text)
/// ```
///
/// **Start.** The body of the operation starts the program in a session of its own, with its three standard descriptors
/// and no other, and with every signal at its default. Ctrl-C on the keyboard therefore reaches this process and not
/// the program. A program that asks for a password on the terminal finds no terminal, and fails at once instead of
/// waiting unseen. If the process or the system has no descriptor or no process left, the start is tried again whenever
/// another program has ended. It fails if none of the running programs can end by itself.
///
/// **End.** The body returns when the program itself has ended, even if it leaves other processes behind. Everything
/// that the program wrote until then is read. Output that the remaining processes write to its pipes afterwards is not
/// read, and they get a broken pipe. If the exit status is not ``accepted``, or if a signal ended the program, the
/// operation fails with a ``SubprocessError``.
///
/// **Cancel.** When the operation is cancelled, or an attempt reaches its time limit, every process of the group gets
/// `SIGTERM` and, if the program has not ended after ``grace``, `SIGKILL`. As soon as the program has ended, the rest
/// of its group is killed. So when the operation has an outcome, no process of the group is left, except for those that
/// have left the group. A program that fails because of its output (``StandardOutput/collected(limit:)``, a closure
/// that throws) is ended in the same way.
///
/// **End of this process.** However this process ends (by Ctrl-C, another signal, `exit` or a crash), the running
/// programs and their groups get `SIGTERM` and, if they have not ended after five seconds, `SIGKILL`. The drafts of the
/// files that they write are removed. A shell in the background waits for the end of this process to do that. A program
/// that is to outlive this process has to leave its session (`setsid`).
///
/// **Threads.** Programs do not block the threads of Swift tasks. Two threads, shared by all programs, start the
/// programs and poll their pipes. They stay until this process ends.
public struct Subprocess: Sendable {
    /// The path of the program if it contains a slash, otherwise a name to look up in the `PATH` of its environment.
    ///
    /// A relative path starts from ``directory``. Relative entries of `PATH` are not searched.
    public var program: String
    /// The arguments, without the name of the program.
    public var arguments: [String]
    /// The environment variables that the program gets.
    public var environment: ProgramEnvironment
    /// The working directory of the program, or nil for that of this process.
    public var directory: String?
    /// The source of the program's standard input.
    public var input: StandardInput
    /// The destination of the program's standard output.
    public var output: StandardOutput
    /// The destination of the program's standard error.
    public var errors: StandardError
    /// The exit statuses that count as a success.
    public var accepted: AcceptedStatuses
    /// The time between `SIGTERM` and `SIGKILL`. If it is zero or negative, the program gets `SIGKILL` at once.
    public var grace: Duration
    /// The clock that measures ``grace``.
    public var clock: any Clock<Duration>
    /// In a pipeline, the way to treat this program if the program that reads from it has ended. It has no effect
    /// elsewhere.
    public var brokenPipe = BrokenPipe.success
    /// All pipes of the program's pipeline.
    var pipeline: [ProgramPipe] = []

    /// Makes a program to run.
    ///
    /// Only `program` is required; the other parameters have the defaults of a plain run: no input, collected output,
    /// the status 0 for success and a grace of five seconds.
    ///
    /// - Parameters:
    ///   - program: The path of the program, or a name to look up in `PATH`; see ``program``.
    ///   - arguments: The arguments, without the name of the program.
    ///   - environment: The environment variables.
    ///   - directory: The working directory, or nil for that of this process.
    ///   - input: The source of standard input.
    ///   - output: The destination of standard output.
    ///   - errors: The destination of standard error.
    ///   - accepted: The exit statuses that count as a success.
    ///   - grace: The time between `SIGTERM` and `SIGKILL` when the program is ended.
    ///   - clock: The clock that measures `grace`.
    public init(
        _ program: String, arguments: [String] = [], environment: ProgramEnvironment = .inherited,
        directory: String? = nil, input: StandardInput = .none, output: StandardOutput = .collected(),
        errors: StandardError = .tail(), accepted: AcceptedStatuses = .zero, grace: Duration = .seconds(5),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.input = input
        self.output = output
        self.errors = errors
        self.accepted = accepted
        self.grace = grace
        self.clock = clock
    }
}

extension Subprocess: Procedure {
    /// Runs the program; see ``Subprocess``.
    ///
    /// - Parameter context: The context of the operation. It is not used.
    /// - Returns: The output of the program, when the program has ended.
    /// - Throws: A ``SubprocessError`` if the program cannot be started or fails, the error of a closure that takes its
    ///   output, or `CancellationError`.
    public func execute(in context: OperationContext) async throws -> SubprocessResult { try await run() }
}

extension Subprocess: InputProcedure {
    /// Runs the program with `input` as its standard input, in place of ``input``.
    ///
    /// - Parameters:
    ///   - input: The bytes that the program reads. It is not an error if it does not read all of them.
    ///   - context: The context of the operation. It is not used.
    /// - Returns: The output of the program, when the program has ended.
    /// - Throws: A ``SubprocessError`` if the program cannot be started or fails, the error of a closure that takes its
    ///   output, or `CancellationError`.
    public func execute(_ input: Data, in context: OperationContext) async throws -> SubprocessResult {
        try await reading(.data(input)).run()
    }

    func reading(_ input: StandardInput) -> Subprocess {
        var copy = self
        copy.input = input
        return copy
    }
}

// MARK: - Inputs from results and strings

extension AsyncOperation<SubprocessResult> {
    /// Makes an operation that runs the program on the output of this operation's program, after that has ended.
    ///
    /// To run programs at the same time, use ``SubprocessPipeline``.
    ///
    /// - Parameter program: The program to run. Its ``Subprocess/input`` is replaced.
    /// - Returns: A new operation, which has to be added to a queue.
    public func then(_ program: Subprocess) -> AsyncOperation<SubprocessResult> {
        let next = AsyncOperation<SubprocessResult>(self) { result in
            try await program.reading(.data(result.standardOutput)).run()
        }
        next.name = "Subprocess"
        return next
    }
}

extension AsyncOperation<String> {
    /// Makes an operation that runs the program on the output of this operation, encoded in UTF-8.
    ///
    /// - Parameter program: The program to run. Its ``Subprocess/input`` is replaced.
    /// - Returns: A new operation, which has to be added to a queue.
    public func then(_ program: Subprocess) -> AsyncOperation<SubprocessResult> {
        let next = AsyncOperation<SubprocessResult>(self) { text in try await program.reading(.text(text)).run() }
        next.name = "Subprocess"
        return next
    }
}
