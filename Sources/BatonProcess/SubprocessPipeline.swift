public import Baton

/// Programs that run at the same time, each reading the output of the one before it, as in `cat | sort | uniq`.
///
/// ```swift
/// let pipeline = SubprocessPipeline(
///     Subprocess("cat", arguments: paths), Subprocess("sort"), Subprocess("uniq", arguments: ["-c"]))
/// let counted = try await queue.run(AsyncOperation(pipeline)).text
/// ```
///
/// The bytes flow from program to program and not through this process. The first program keeps its
/// ``Subprocess/input``, and the last program keeps its ``Subprocess/output``. The other inputs and outputs are
/// replaced by pipes.
///
/// A program whose reader has ended gets a broken pipe, as `yes` does in `yes | head`. Termination by a broken pipe
/// counts as a success here, unless the program's ``Subprocess/brokenPipe`` says otherwise. A program whose writer has
/// ended, or is never started, sees the end of its input. An operation that is released without having been added
/// counts as never started.
public struct SubprocessPipeline: Sendable {
    /// The programs, in the order in which data flows.
    public var programs: [Subprocess]

    /// Makes a pipeline of the given programs.
    ///
    /// - Parameter programs: The programs, in the order in which data flows.
    public init(_ programs: Subprocess...) { self.programs = programs }

    /// Makes a pipeline of the given programs.
    ///
    /// - Parameter programs: The programs, in the order in which data flows.
    public init(_ programs: [Subprocess]) { self.programs = programs }

    /// Makes an operation for each program, with an outcome of its own.
    ///
    /// The operations do not depend on one another. Add all of them, to any queues and in any order: a program waits
    /// for what the one before it writes. An operation holds no permit while it waits for another program to be
    /// started, so a queue may be narrower than the pipeline.
    ///
    /// As long as a program runs, its operation waits for the other programs to be started. Do not let one program wait
    /// for the end of another, be it through a dependency, a barrier, an exclusion, a limit that is smaller than the
    /// pipeline, or the width of a group. Otherwise the operation that waits fails with
    /// ``OperationError/dependencyCycle(_:)`` or ``OperationError/exclusionDeadlock(_:)``, and its program counts as
    /// never started, unless the awaited program has ended by then, because its output has fitted into the pipe. An
    /// ``AsyncOperation`` of the whole pipeline may have any of these.
    ///
    /// The operations cannot be retried one by one: a further attempt fails with
    /// ``SubprocessError/pipeUsed(program:)``.
    ///
    /// - Returns: New operations, in the order of ``programs``.
    /// - Complexity: O(*n*), where *n* is the number of programs.
    public func operations() -> [AsyncOperation<SubprocessResult>] {
        let pipes = programs.dropFirst().map { _ in ProgramPipe() }
        let operations = programs.enumerated().map { place, program in
            var program = program
            program.pipeline = pipes
            let before = place > 0 ? pipes[place - 1] : nil
            let after = place < pipes.count ? pipes[place] : nil
            if let before { program.input = StandardInput(source: .pipe(before)) }
            if let after { program.output = StandardOutput(target: .pipe(after)) }
            let operation = AsyncOperation(program)
            operation.name = program.program
            // The handler is called even if the operation never ran.
            let ends = PipelineEnds(reading: before, writing: after)
            operation.didFinish { _ in ends.giveUp() }
            return operation
        }
        for (place, pipe) in pipes.enumerated() { pipe.connect(operations[place], to: operations[place + 1]) }
        return operations
    }
}

extension SubprocessPipeline: Procedure {
    /// Runs all programs as children of the operation, and returns the result of the last one.
    ///
    /// When one program fails, the others are cancelled, and the operation fails with its error. A pipeline without
    /// programs fails. The operation can be retried, because every attempt makes new pipes.
    ///
    /// - Parameter context: The context of the operation, which runs the programs as its children.
    /// - Returns: The result of the last program.
    /// - Throws: The error of the first program that fails, or `CancellationError`.
    ///   ``SubprocessError/emptyPipeline`` if there are no programs.
    public func execute(in context: OperationContext) async throws -> SubprocessResult {
        if programs.isEmpty { throw SubprocessError.emptyPipeline }
        let operations = operations()
        return try await withThrowingTaskGroup(of: (Int, SubprocessResult).self) { runs in
            for (place, operation) in operations.enumerated() {
                runs.addTask { (place, try await context.run(operation)) }
            }
            var last = SubprocessResult()
            for try await (place, result) in runs where place == operations.count - 1 { last = result }
            return last
        }
    }
}

/// The two pipe ends of one program of a pipeline. They are given up when the program's operation finishes, or when it
/// is released without having been added: otherwise the programs at the other ends would wait forever.
private final class PipelineEnds: Sendable {
    private let reading: ProgramPipe?
    private let writing: ProgramPipe?

    init(reading: ProgramPipe?, writing: ProgramPipe?) { (self.reading, self.writing) = (reading, writing) }

    deinit { giveUp() }

    func giveUp() {
        reading?.giveUpReading()
        writing?.giveUpWriting()
    }
}

// MARK: - Broken pipes

/// The way to treat a program of a pipeline that fails because the program that reads from it has ended.
///
/// In `yes | head` the first program is ended when the second has read enough: writing to a pipe without a reader
/// raises the signal `SIGPIPE`, which terminates most programs. A shell that ran such a program exits with 141.
/// Programs that ignore the signal, as those in Python do, write a message and exit with a status of their own.
@nonexhaustive
public enum BrokenPipe: Sendable, Hashable {
    /// Termination by `SIGPIPE` and the exit status 141 count as a success. Any other status is treated as it is
    /// outside a pipeline.
    case success
    /// Any termination counts as a success if the reading program had ended, or had closed its input, before this
    /// program ended.
    ///
    /// To find that out, the package keeps the pipe open until this program has ended. The reading program therefore
    /// sees the end of its input only then, even if this program closes its output earlier.
    case successWithAnyStatus
    /// A broken pipe is a failure, like any signal and any exit status that is not in ``Subprocess/accepted``.
    case failure
}
