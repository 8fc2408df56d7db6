/// Operations that take the output of another operation as their input.
///
/// The body needs that output. If the input has none, the operation fails with
/// ``OperationError/dependencyFailed(source:via:cause:)`` and its body does not run.
extension AsyncOperation {
    /// Plans one run of a procedure on a literal input.
    ///
    /// - Parameters:
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - input: The value that the procedure takes.
    @inlinable
    public convenience init<P: InputProcedure>(_ procedure: P, input: P.Input) where P.Output == Output {
        self.init(nil, procedure, input: input)
    }

    /// Plans one run of a procedure on a literal input, with a name.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - input: The value that the procedure takes.
    @_disfavoredOverload
    @inlinable
    public convenience init<P: InputProcedure>(_ name: String?, _ procedure: P, input: P.Input)
    where P.Output == Output {
        self.init(name, procedure: P.self, input: nil) { execution in
            do {
                execution.succeed(with: try await procedure.execute(input, in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure on the output of `input`, which becomes a dependency.
    ///
    /// If `input` has no output, the procedure does not run, and the operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``.
    ///
    /// - Parameters:
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - input: The operation that hands over its output.
    @inlinable
    public convenience init<P: InputProcedure>(_ procedure: P, input: AsyncOperation<P.Input>)
    where P.Output == Output {
        self.init(nil, procedure, input: input)
    }

    /// Plans one run of a procedure, with a name, on the output of `input`, which becomes a dependency.
    ///
    /// If `input` has no output, the procedure does not run, and the operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - input: The operation that hands over its output.
    @_disfavoredOverload
    @inlinable
    public convenience init<P: InputProcedure>(_ name: String?, _ procedure: P, input: AsyncOperation<P.Input>)
    where P.Output == Output {
        self.init(name, procedure: P.self, input: input) { execution in
            guard let source = execution.checkedInput(at: 0, as: P.Input.self) else { return }
            do {
                let output = try await procedure.execute(source.storedOutput, in: OperationContext(execution))
                execution.succeed(with: output)
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the output of `input`, which becomes a dependency.
    ///
    /// If `input` has no output, the closure is not called, and the operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``.
    ///
    /// - Parameters:
    ///   - input: The operation that hands over its output.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    @inlinable
    public convenience init<Input: Sendable>(
        _ input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, input, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the output of `input`, which becomes a dependency.
    ///
    /// If `input` has no output, the closure is not called, and the operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - input: The operation that hands over its output.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @inlinable
    public convenience init<Input: Sendable>(
        _ name: String?, _ input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input) async throws -> Output
    ) {
        self.init(name, procedure: nil, input: input) { execution in
            guard let source = execution.checkedInput(at: 0, as: Input.self) else { return }
            do { execution.succeed(with: try await body(source.storedOutput)) } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes its context and the output of `input`, which becomes a dependency.
    ///
    /// If `input` has no output, the closure is not called, and the operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``.
    ///
    /// - Parameters:
    ///   - input: The operation that hands over its output.
    ///   - body: Called at most once, on a task of the queue, with the output and the context of the run. An error that
    ///     it throws becomes ``OperationError/failed(_:)``.
    @_disfavoredOverload
    @inlinable
    public convenience init<Input: Sendable>(
        _ input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input, OperationContext) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, input, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes its context and the output of `input`.
    ///
    /// `input` becomes a dependency. If it has no output, the closure is not called, and the operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - input: The operation that hands over its output.
    ///   - body: Called at most once, on a task of the queue, with the output and the context of the run. An error that
    ///     it throws becomes ``OperationError/failed(_:)``.
    @inlinable
    public convenience init<Input: Sendable>(
        _ name: String?, _ input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input, OperationContext) async throws -> Output
    ) {
        self.init(name, procedure: nil, input: input) { execution in
            guard let source = execution.checkedInput(at: 0, as: Input.self) else { return }
            do {
                execution.succeed(with: try await body(source.storedOutput, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }
}

extension AnyOperation {
    /// Returns the input at `place`, which has finished. If the input has no output, this stores the failure of this
    /// operation and returns nil.
    @usableFromInline
    final func checkedInput<Input>(at place: Int, as _: Input.Type) -> AsyncOperation<Input>? {
        let input = edges[place]
        if let failure = input.failure {
            failWithoutRunning(with: dependencyFailure(failure, of: input))
            return nil
        }
        return input.withOutput(Input.self)
    }

    /// Returns whether every input, all of which have finished, has an output. If one has none, this stores the failure
    /// of this operation.
    final func checkInputs() -> Bool {
        for input in inputs {
            if let failure = input.failure {
                failWithoutRunning(with: dependencyFailure(failure, of: input))
                return false
            }
        }
        return true
    }

    private final func dependencyFailure(_ failure: OperationError, of input: AnyOperation) -> OperationError {
        var via = input.reference
        via.readerRunsOnlyItselfAgain = withLifecycle { $0.timing?.runAgain }
        return failure.asDependencyFailure(via: via)
    }

    /// True if no missing input keeps the body from running. Read it only when the operation is ready.
    final var inputsHaveOutputs: Bool { withLifecycle { inputsHaveOutputs($0) } }

    /// Returns whether no missing input keeps the body from running. The caller holds the operation's lock.
    final func inputsHaveOutputs(_ life: Lifecycle) -> Bool {
        !requiresInputOutputs || life.inputCount == 0 || !edges.first(life.inputCount).contains { $0.hasFailed }
    }

    /// The operations that hand over their outputs; empty if this operation has finished, because the finish drops the
    /// edges.
    final var inputs: [AnyOperation] { withLifecycle { $0.phase == .finished ? [] : edges.first($0.inputCount) } }
}

extension OperationError {
    /// Returns the error of an operation that needs the output of an operation with this error. It is not nested,
    /// however many operations it passes through.
    func asDependencyFailure(via: OperationReference) -> OperationError {
        if case .dependencyFailed(let source, _, let cause) = self {
            return .dependencyFailed(source: source, via: via, cause: cause)
        }
        return .dependencyFailed(source: via, via: via, cause: self)
    }
}

// MARK: - Inputs with a default value

/// Operations that take an input, or a default value if the input has no output.
extension AsyncOperation {
    /// Plans one run of a procedure on the output of `input`, which becomes a dependency, or on `default` if it has
    /// none.
    ///
    /// The operation runs when `input` has finished. It uses the default whatever the reason: a failure, a
    /// cancellation, or a rule that kept `input` from running.
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
    /// reason: a failure, a cancellation, or a rule that kept `input` from running.
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
    /// reason: a failure, a cancellation, or a rule that kept `input` from running.
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
    /// reason: a failure, a cancellation, or a rule that kept `input` from running.
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
