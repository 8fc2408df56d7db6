extension AsyncOperation {
    /// A new operation that runs `procedure` on the output of this one.
    @_disfavoredOverload  // A mistake in a closure would be reported as one about procedures.
    @inlinable
    public final func then<Next: Sendable>(_ procedure: some InputProcedure<Output, Next>) -> AsyncOperation<Next> {
        AsyncOperation<Next>(procedure, input: self)
    }

    /// A new operation with a name that runs `procedure` on the output of this one.
    @_disfavoredOverload
    @inlinable
    public final func then<Next: Sendable>(
        _ name: String?, _ procedure: some InputProcedure<Output, Next>
    ) -> AsyncOperation<Next> {
        AsyncOperation<Next>(name, procedure, input: self)
    }

    /// A new operation that calls `body` with the output of this one.
    ///
    /// A body that wants its context is written as `AsyncOperation(source) { value, context in … }`: with a second kind
    /// of closures here, the compiler would not type-check long chains.
    @inlinable
    public final func then<Next: Sendable>(
        _ body: nonisolated(nonsending) @escaping @Sendable (Output) async throws -> Next,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Next> {
        AsyncOperation<Next>(nil, self, body).made(by: .then, file, line)
    }

    /// A new operation with a name that calls `body` with the output of this one.
    @inlinable
    public final func then<Next: Sendable>(
        _ name: String?, _ body: nonisolated(nonsending) @escaping @Sendable (Output) async throws -> Next
    ) -> AsyncOperation<Next> {
        AsyncOperation<Next>(name, self, body)
    }
}
