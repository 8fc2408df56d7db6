/// An input whose failure is an input, too: the operation runs when that has finished, whatever the outcome, and gets
/// it as a `Result`.
extension AsyncOperation {
    /// Makes an operation from a closure that takes the outcome of `input`, which becomes a dependency.
    ///
    /// It runs when `input` has finished, also when that has failed or was cancelled: the closure decides.
    public convenience init<Input: Sendable>(
        resultOf input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Result<Input, OperationError>) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: input, body)
        made(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcome of `input`, which becomes a dependency.
    ///
    /// It runs when `input` has finished, also when that has failed or was cancelled: the closure decides.
    public convenience init<Input: Sendable>(
        _ name: String?, resultOf input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Result<Input, OperationError>) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [input], needed: false) { execution in
            do { execution.succeed(with: try await body(input.finishedResult)) } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcome of `input`, which becomes a dependency, and its
    /// context.
    ///
    /// It runs when `input` has finished, also when that has failed or was cancelled: the closure decides.
    public convenience init<Input: Sendable>(
        resultOf input: AsyncOperation<Input>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<Input, OperationError>, OperationContext
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: input, body)
        made(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcome of `input`, which becomes a dependency, and
    /// its context.
    ///
    /// It runs when `input` has finished, also when that has failed or was cancelled: the closure decides.
    public convenience init<Input: Sendable>(
        _ name: String?, resultOf input: AsyncOperation<Input>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<Input, OperationError>, OperationContext
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [input], needed: false) { execution in
            do {
                execution.succeed(with: try await body(input.finishedResult, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure on the outcome of `input`, whatever it is; `input` becomes a dependency.
    public convenience init<P: InputProcedure, Input>(_ procedure: P, resultOf input: AsyncOperation<Input>)
    where P.Input == Result<Input, OperationError>, P.Output == Output {
        self.init(nil, procedure, resultOf: input)
    }

    /// Plans one run of a procedure on the outcome of `input`, whatever it is, with a name of its own; `input` becomes
    /// a dependency.
    @_disfavoredOverload
    public convenience init<P: InputProcedure, Input>(
        _ name: String?, _ procedure: P, resultOf input: AsyncOperation<Input>
    ) where P.Input == Result<Input, OperationError>, P.Output == Output {
        self.init(name, procedure: P.self, inputs: [input], needed: false) { execution in
            do {
                let output = try await procedure.execute(input.finishedResult, in: OperationContext(execution))
                execution.succeed(with: output)
            } catch { execution.bodyThrew(error) }
        }
    }
}
