/// New operations that change an output or recover from an error. Each is an operation like others: it has to be added,
/// which ``AsyncOperationQueue/run(_:)`` and ``AnyOperation/add(to:includingDependencies:file:line:)`` do for a whole
/// chain.
extension AsyncOperation {
    /// A new operation whose output is `transform` of this one's. For a body that awaits, use ``then(_:file:line:)``.
    public final func map<New: Sendable>(
        _ transform: @escaping @Sendable (Output) throws -> New, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<New> {
        AsyncOperation<New>(nil, self) { output in try transform(output) }.made(by: .map, file, line)
    }

    /// A new operation that makes another one from this one's output, runs it as its child, and has its output.
    ///
    /// What the child fails with is thrown as by ``OperationContext/run(_:)``, and it is cancelled with the new
    /// operation.
    public final func flatMap<New: Sendable>(
        _ transform: nonisolated(nonsending) @escaping @Sendable (Output) async throws -> AsyncOperation<New>,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<New> {
        AsyncOperation<New>(nil, self) { output, context in try await context.run(try await transform(output)) }
            .made(by: .flatMap, file, line)
    }

    /// A new operation with this one's output, or, if it has none, what `body` makes of its error.
    ///
    /// `body` is called whatever the error: a failure, a cancel, a rule. What it throws is the new operation's failure.
    public final func recover(
        _ body: nonisolated(nonsending) @escaping @Sendable (OperationError) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        AsyncOperation(nil, resultOf: self) { result in
            switch result {
            case .success(let output): return output
            case .failure(let error): return try await body(error)
            }
        }
        .made(by: .recover, file, line)
    }

    /// A new operation with this one's output, or, if it has none, the failure that `transform` makes of its error.
    public final func mapError(
        _ transform: @escaping @Sendable (OperationError) -> any Error,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        recover({ error in throw transform(error) }, file: file, line: line)
    }

    /// A new operation with the value in this one's output; ``OperationError/inputMissing`` if that is nil.
    public final func unwrapped<Wrapped: Sendable>(
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Wrapped> where Output == Wrapped? {
        AsyncOperation<Wrapped>(nil, self) { output in
            guard let output else { throw OperationError.inputMissing }
            return output
        }
        .made(by: .map, file, line)
    }
}
