/// An input with something to use instead: the operation runs when it has finished, whatever the outcome.
extension AsyncOperation {
    /// Plans one run of a procedure on the output of `input`, which becomes a dependency, or on `default` if it has
    /// none.
    ///
    /// The default is used whatever the reason: a failure, a cancel, a rule.
    public convenience init<P: InputProcedure>(
        _ procedure: P, input: AsyncOperation<P.Input>, default: P.Input
    ) where P.Output == Output {
        self.init(nil, procedure, input: input, default: `default`)
    }

    /// Plans one run of a procedure on the output of `input`, or on `default` if it has none, with a name of its own;
    /// `input` becomes a dependency.
    ///
    /// The default is used whatever the reason: a failure, a cancel, a rule.
    @_disfavoredOverload
    public convenience init<P: InputProcedure>(
        _ name: String?, _ procedure: P, input: AsyncOperation<P.Input>, default: P.Input
    ) where P.Output == Output {
        self.init(name, procedure: P.self, inputs: [input], needed: false) { execution in
            do {
                let value = input.hasFailed ? `default` : input.storedOutput
                execution.succeed(with: try await procedure.execute(value, in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the output of `input`, which becomes a dependency, or `default` if
    /// it has none, whatever the reason.
    public convenience init<Input: Sendable>(
        _ input: AsyncOperation<Input>, default: Input,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input) async throws -> Output
    ) {
        self.init(nil, input, default: `default`, body)
    }

    /// Makes an operation with a name from a closure that takes the output of `input`, or `default` if it has none.
    ///
    /// `input` becomes a dependency. The default is used whatever the reason: a failure, a cancel, a rule.
    public convenience init<Input: Sendable>(
        _ name: String?, _ input: AsyncOperation<Input>, default: Input,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [input], needed: false) { execution in
            do {
                execution.succeed(with: try await body(input.hasFailed ? `default` : input.storedOutput))
            } catch { execution.bodyThrew(error) }
        }
    }
}
