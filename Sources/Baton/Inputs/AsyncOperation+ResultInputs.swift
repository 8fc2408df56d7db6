/// Operations that take the outcome of another operation as a `Result`.
///
/// Such an operation runs when its input has finished, whatever the outcome of that is.
extension AsyncOperation {
    /// Makes an operation from a closure that takes the outcome of `input`, which becomes a dependency.
    ///
    /// The operation runs when `input` has finished, even if `input` has failed or was cancelled. The closure decides
    /// what to do.
    ///
    /// ```swift
    /// let log = AsyncOperation(resultOf: upload) { result in "upload: \(result)" }
    /// ```
    ///
    /// - Parameters:
    ///   - input: The operation that hands over its outcome.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<Input: Sendable>(
        resultOf input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Result<Input, OperationError>) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: input, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcome of `input`, which becomes a dependency.
    ///
    /// The operation runs when `input` has finished, even if `input` has failed or was cancelled. The closure decides
    /// what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - input: The operation that hands over its outcome.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<Input: Sendable>(
        _ name: String?, resultOf input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Result<Input, OperationError>) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [input], requiresInputOutputs: false) { execution in
            do { execution.succeed(with: try await body(input.finishedResult)) } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes its context and the outcome of `input`, which becomes a dependency.
    ///
    /// The operation runs when `input` has finished, even if `input` has failed or was cancelled. The closure decides
    /// what to do.
    ///
    /// - Parameters:
    ///   - input: The operation that hands over its outcome.
    ///   - body: Called at most once, on a task of the queue, with the outcome and the context of the run. An error
    ///     that it throws becomes ``OperationError/failed(_:)``.
    public convenience init<Input: Sendable>(
        resultOf input: AsyncOperation<Input>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<Input, OperationError>, OperationContext
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: input, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes its context and the outcome of `input`.
    ///
    /// `input` becomes a dependency. The operation runs when `input` has finished, even if `input` has failed or was
    /// cancelled. The closure decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - input: The operation that hands over its outcome.
    ///   - body: Called at most once, on a task of the queue, with the outcome and the context of the run. An error
    ///     that it throws becomes ``OperationError/failed(_:)``.
    public convenience init<Input: Sendable>(
        _ name: String?, resultOf input: AsyncOperation<Input>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<Input, OperationError>, OperationContext
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [input], requiresInputOutputs: false) { execution in
            do {
                execution.succeed(with: try await body(input.finishedResult, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure on the outcome of `input`, whatever it is; `input` becomes a dependency.
    ///
    /// - Parameters:
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - input: The operation that hands over its outcome.
    public convenience init<P: InputProcedure, Input>(_ procedure: P, resultOf input: AsyncOperation<Input>)
    where P.Input == Result<Input, OperationError>, P.Output == Output {
        self.init(nil, procedure, resultOf: input)
    }

    /// Plans one run of a procedure, with a name, on the outcome of `input`, whatever it is; `input` becomes a
    /// dependency.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - input: The operation that hands over its outcome.
    @_disfavoredOverload
    public convenience init<P: InputProcedure, Input>(
        _ name: String?, _ procedure: P, resultOf input: AsyncOperation<Input>
    ) where P.Input == Result<Input, OperationError>, P.Output == Output {
        self.init(name, procedure: P.self, inputs: [input], requiresInputOutputs: false) { execution in
            do {
                let output = try await procedure.execute(input.finishedResult, in: OperationContext(execution))
                execution.succeed(with: output)
            } catch { execution.bodyThrew(error) }
        }
    }
}
