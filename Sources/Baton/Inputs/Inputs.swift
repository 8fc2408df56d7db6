/// Value edges: an operation that takes the output of another one as its input, and needs it. If that has no output,
/// the operation fails with ``OperationError/dependencyFailed(source:via:cause:)`` and its body does not run.
extension AsyncOperation {
    /// Plans one run of a procedure on a literal input.
    @inlinable
    public convenience init<P: InputProcedure>(_ procedure: P, input: P.Input) where P.Output == Output {
        self.init(nil, procedure, input: input)
    }

    /// Plans one run of a procedure on a literal input, with a name of its own.
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
    @inlinable
    public convenience init<P: InputProcedure>(_ procedure: P, input: AsyncOperation<P.Input>)
    where P.Output == Output {
        self.init(nil, procedure, input: input)
    }

    /// Plans one run of a procedure on the output of `input`, which becomes a dependency, with a name of its own.
    @_disfavoredOverload
    @inlinable
    public convenience init<P: InputProcedure>(_ name: String?, _ procedure: P, input: AsyncOperation<P.Input>)
    where P.Output == Output {
        self.init(name, procedure: P.self, input: input) { execution in
            guard let source = execution.source(0, P.Input.self) else { return }
            do {
                let output = try await procedure.execute(source.storedOutput, in: OperationContext(execution))
                execution.succeed(with: output)
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the output of `input`, which becomes a dependency.
    @_disfavoredOverload
    @inlinable
    public convenience init<Input: Sendable>(
        _ input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, input, body)
        made(file, line)
    }

    /// Makes an operation with a name from a closure that takes the output of `input`, which becomes a dependency.
    @inlinable
    public convenience init<Input: Sendable>(
        _ name: String?, _ input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input) async throws -> Output
    ) {
        self.init(name, procedure: nil, input: input) { execution in
            guard let source = execution.source(0, Input.self) else { return }
            do { execution.succeed(with: try await body(source.storedOutput)) } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the output of `input`, which becomes a dependency, and its context.
    @_disfavoredOverload
    @inlinable
    public convenience init<Input: Sendable>(
        _ input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input, OperationContext) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, input, body)
        made(file, line)
    }

    /// Makes an operation with a name from a closure that takes the output of `input`, which becomes a dependency, and
    /// its context.
    @inlinable
    public convenience init<Input: Sendable>(
        _ name: String?, _ input: AsyncOperation<Input>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input, OperationContext) async throws -> Output
    ) {
        self.init(name, procedure: nil, input: input) { execution in
            guard let source = execution.source(0, Input.self) else { return }
            do {
                execution.succeed(with: try await body(source.storedOutput, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }
}

extension AnyOperation {
    /// The input at `place`, seen finished. Nil: it has no output, and this operation's failure is stored.
    @usableFromInline
    final func source<Input>(_ place: Int, _: Input.Type) -> AsyncOperation<Input>? {
        let input = edges[place]
        if let failure = input.failure {
            bodyWasSkipped(passedOn(failure, by: input))
            return nil
        }
        return unsafeDowncast(input, to: AsyncOperation<Input>.self)
    }

    /// Every input was seen finished. False: one has no output, and this operation's failure is stored.
    final func inputsAreThere() -> Bool {
        for input in inputs {
            if let failure = input.failure {
                bodyWasSkipped(passedOn(failure, by: input))
                return false
            }
        }
        return true
    }

    private final func passedOn(_ failure: OperationError, by input: AnyOperation) -> OperationError {
        var via = input.reference
        via.isRetriedInVain = withLife { $0.timing?.retries ?? false }
        return failure.passedOn(by: via)
    }

    /// Of a ready operation: its body will run.
    final var inputsHaveOutputs: Bool { withLife { inputsHaveOutputs($0) } }

    /// As above, locked by the caller.
    final func inputsHaveOutputs(_ life: Lifecycle) -> Bool {
        !needsInputs || life.inputCount == 0 || !edges.all.prefix(life.inputCount).contains { $0.hasFailed }
    }

    /// Of one that has not finished.
    final var inputs: ArraySlice<AnyOperation> { edges.all.prefix(withLife { $0.inputCount }) }
}

extension OperationError {
    /// What the reader of an operation with this error gets: flat, however many operations it passes through.
    func passedOn(by via: OperationReference) -> OperationError {
        if case .dependencyFailed(let source, _, let cause) = self {
            return .dependencyFailed(source: source, via: via, cause: cause)
        }
        return .dependencyFailed(source: via, via: via, cause: self)
    }
}
