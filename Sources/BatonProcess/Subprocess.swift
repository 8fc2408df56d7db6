#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Baton

/// A program to run: its arguments, its environment, where its input comes from and where its outputs go.
///
/// ```swift
/// let log = AsyncOperation(Subprocess("git", arguments: ["log", "--oneline"], directory: repository))
/// let sorted = log.then(Subprocess("sort"))
/// print(try await queue.run(sorted).text)
/// ```
///
/// **Start.** Its body starts the program in a session of its own, with its three standard descriptors and no other,
/// and every signal at its default. A keyboard's Ctrl-C therefore reaches this process and not the program, and a
/// program that asks for a password on the terminal finds none: it fails at once instead of waiting unseen. If all
/// descriptors or processes that there may be are in use, the start is tried again whenever another program has ended;
/// it fails if none of those that run can end by itself.
///
/// **End.** The body returns when the program itself has ended, whatever processes it leaves behind. What it wrote
/// until then is complete; what those write to its pipes afterwards is not read, and they get a broken pipe. An exit
/// status that is not ``accepted``, and every signal, is a ``SubprocessError``.
///
/// **Cancel.** When the operation is cancelled, or an attempt reaches its time limit, every process of the group gets
/// `SIGTERM` and, if the program has not ended after ``grace``, `SIGKILL`. As soon as the program has ended, what is
/// left of its group is killed. So nothing of it goes on behind the operation's outcome, but what left its group. A
/// program that fails by what it writes (``StandardOutput/collected(limit:)``, a handler that throws) is ended in the
/// same way.
///
/// **The end of this process.** However it ends, by Ctrl-C, by any other signal, by `exit` or by a crash, the programs
/// that run, and their groups, get `SIGTERM` and, if they have not ended after five seconds, `SIGKILL`, and the drafts
/// of files that they write are removed. A shell that waits in the background for the end of this process sees to that.
/// A program that is to outlive this process has to leave its session (`setsid`).
///
/// **Threads.** Nothing blocks the threads of the tasks. Two threads, for all programs together, start them and wait
/// for their pipes; they stay until this process ends.
public struct Subprocess: Sendable {
    /// A path, if there is a slash in it; else a name, to be looked up in the `PATH` of its environment.
    ///
    /// A relative path starts from its ``directory``. Relative entries of `PATH` are not searched.
    public var program: String
    /// What it gets as arguments, after its own name.
    public var arguments: [String]
    /// Which environment it gets.
    public var environment: ProgramEnvironment
    /// Where it begins; nil is the directory of this process.
    public var directory: String?
    /// What it reads.
    public var input: StandardInput
    /// Where its standard output goes.
    public var output: StandardOutput
    /// Where its standard error goes.
    public var errors: StandardError
    /// Which exit statuses are a success.
    public var accepted: AcceptedStatuses
    /// How long it has between `SIGTERM` and `SIGKILL`. Zero or less: `SIGKILL` comes at once.
    public var grace: Duration
    /// What measures the grace.
    public var clock: any Clock<Duration>
    /// In a pipeline: whether it is a success to end because the program that reads from it has ended. Without effect
    /// elsewhere.
    public var brokenPipe = BrokenPipe.success
    /// All pipes of its pipeline.
    var pipeline: [ProgramPipe] = []

    /// A program to run. Only what differs from a bare run need be said.
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
    /// Runs the program. See ``Subprocess`` for when this returns and what it throws.
    public func execute(in context: OperationContext) async throws -> SubprocessResult { try await run() }
}

extension Subprocess: InputProcedure {
    /// Runs the program with this as its standard input, in place of ``input``.
    public func execute(_ input: Data, in context: OperationContext) async throws -> SubprocessResult {
        try await reading(.data(input)).run()
    }

    func reading(_ input: StandardInput) -> Subprocess {
        var copy = self
        copy.input = input
        return copy
    }
}

// MARK: - Inputs that are no data

extension AsyncOperation<SubprocessResult> {
    /// A new operation that runs the program on what that of this one wrote, when that has ended.
    ///
    /// For programs that run at the same time see ``SubprocessPipeline``.
    public func then(_ program: Subprocess) -> AsyncOperation<SubprocessResult> {
        let next = AsyncOperation<SubprocessResult>(self) { result in
            try await program.reading(.data(result.standardOutput)).run()
        }
        next.name = "Subprocess"
        return next
    }
}

extension AsyncOperation<String> {
    /// A new operation that runs the program on the output of this one, in UTF-8.
    public func then(_ program: Subprocess) -> AsyncOperation<SubprocessResult> {
        let next = AsyncOperation<SubprocessResult>(self) { text in try await program.reading(.text(text)).run() }
        next.name = "Subprocess"
        return next
    }
}
