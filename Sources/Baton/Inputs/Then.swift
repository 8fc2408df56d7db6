extension AsyncOperation {
    /// A new operation that runs `procedure` on the output of this one.
    @inlinable
    public final func then<P: InputProcedure>(_ procedure: P) -> AsyncOperation<P.Output> where P.Input == Output {
        AsyncOperation<P.Output>(procedure, input: self)
    }

    /// A new operation that calls `body` with the output of this one.
    @inlinable
    public final func then<Next: Sendable>(
        _ body: nonisolated(nonsending) @escaping @Sendable (Output) async throws -> Next
    ) -> AsyncOperation<Next> {
        AsyncOperation<Next>(self, body)
    }

    /// A new operation that calls `body` with the output of this one and its context.
    @inlinable
    public final func then<Next: Sendable>(
        _ body: nonisolated(nonsending) @escaping @Sendable (Output, OperationContext) async throws -> Next
    ) -> AsyncOperation<Next> {
        AsyncOperation<Next>(self, body)
    }
}
