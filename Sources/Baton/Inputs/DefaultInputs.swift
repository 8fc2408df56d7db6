/// Operations that take an input, or a default value if the input has no output.
extension AsyncOperation {
    /// Plans one run of a procedure on the output of `input`, which becomes a dependency, or on `default` if it has
    /// none.
    ///
    /// The operation runs when `input` has finished. It uses the default whatever the reason: a failure, a cancel, or a
    /// rule that kept `input` from running.
    ///
    /// - Parameters:
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - input: The operation that hands over its output.
    ///   - default: The value to use if `input` has no output.
    public convenience init<P: InputProcedure>(
        _ procedure: P, input: AsyncOperation<P.Input>, default: P.Input
    ) where P.Output == Output {
        self.init(nil, procedure, input: input, default: `default`)
    }

    /// Plans one run of a procedure, with a name, on the output of `input`, or on `default` if it has none.
    ///
    /// `input` becomes a dependency, and the operation runs when it has finished. It uses the default whatever the
    /// reason: a failure, a cancel, or a rule that kept `input` from running.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - input: The operation that hands over its output.
    ///   - default: The value to use if `input` has no output.
    @_disfavoredOverload
    public convenience init<P: InputProcedure>(
        _ name: String?, _ procedure: P, input: AsyncOperation<P.Input>, default: P.Input
    ) where P.Output == Output {
        self.init(name, procedure: P.self, inputs: [input], requiresInputOutputs: false) { execution in
            do {
                let value = input.hasFailed ? `default` : input.storedOutput
                execution.succeed(with: try await procedure.execute(value, in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the output of `input`, or `default` if it has none.
    ///
    /// `input` becomes a dependency, and the operation runs when it has finished. It uses the default whatever the
    /// reason: a failure, a cancel, or a rule that kept `input` from running.
    ///
    /// - Parameters:
    ///   - input: The operation that hands over its output.
    ///   - default: The value to use if `input` has no output.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<Input: Sendable>(
        _ input: AsyncOperation<Input>, default: Input,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input) async throws -> Output
    ) {
        self.init(nil, input, default: `default`, body)
    }

    /// Makes an operation with a name from a closure that takes the output of `input`, or `default` if it has none.
    ///
    /// `input` becomes a dependency, and the operation runs when it has finished. It uses the default whatever the
    /// reason: a failure, a cancel, or a rule that kept `input` from running.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - input: The operation that hands over its output.
    ///   - default: The value to use if `input` has no output.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<Input: Sendable>(
        _ name: String?, _ input: AsyncOperation<Input>, default: Input,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [input], requiresInputOutputs: false) { execution in
            do {
                execution.succeed(with: try await body(input.hasFailed ? `default` : input.storedOutput))
            } catch { execution.bodyThrew(error) }
        }
    }
}
