public import Baton

/// Programs that run at the same time, each reading what the one before it writes: `cat | sort | uniq`.
///
/// ```swift
/// let pipeline = SubprocessPipeline(
///     Subprocess("cat", arguments: paths), Subprocess("sort"), Subprocess("uniq", arguments: ["-c"]))
/// let counted = try await queue.run(AsyncOperation(pipeline)).text
/// ```
///
/// The bytes go from program to program and not through this process. The ``Subprocess/input`` of the first and the
/// ``Subprocess/output`` of the last are what they say; the others are connected, whatever they say.
///
/// A program whose reader has ended gets a broken pipe, as `yes` does in `yes | head`; to be ended by that is a success
/// here, unless its ``Subprocess/brokenPipe`` says something else. A program whose writer has ended, or never starts,
/// sees the end of its input.
public struct SubprocessPipeline: Sendable {
    /// The programs, in the order in which data flows.
    public var programs: [Subprocess]

    /// Programs in the order in which data flows.
    public init(_ programs: Subprocess...) { self.programs = programs }

    /// Programs in the order in which data flows.
    public init(_ programs: [Subprocess]) { self.programs = programs }

    /// An operation for each of the programs, with an outcome of its own.
    ///
    /// They do not depend on one another. All of them have to be added, to any queues and in any order: a program waits
    /// for what the one before it writes. While one waits for another to be started it holds no permit, so the queue
    /// may be narrower than the pipeline. They cannot be retried one by one: that is
    /// ``SubprocessError/pipeUsed(program:)``.
    public func operations() -> [AsyncOperation<SubprocessResult>] {
        let pipes = programs.dropFirst().map { _ in ProgramPipe() }
        return programs.enumerated().map { place, program in
            var program = program
            program.pipeline = pipes
            let before = place > 0 ? pipes[place - 1] : nil
            let after = place < pipes.count ? pipes[place] : nil
            if let before { program.input = StandardInput(source: .pipe(before)) }
            if let after { program.output = StandardOutput(target: .pipe(after)) }
            let operation = AsyncOperation(program)
            operation.name = program.program
            // Also of one that never ran.
            operation.didFinish { _ in
                before?.giveUpReading()
                after?.giveUpWriting()
            }
            return operation
        }
    }
}

extension SubprocessPipeline: Procedure {
    /// Runs all programs as children of the operation, and returns what the last one leaves.
    ///
    /// When one of them fails, the others are cancelled, and its error is this one's. Without any program there is
    /// nothing to do, and nothing in the result. It can be retried: every attempt makes the pipeline anew.
    public func execute(in context: OperationContext) async throws -> SubprocessResult {
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
