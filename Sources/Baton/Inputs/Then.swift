extension AsyncOperation {
    /// Makes an operation that runs `procedure` on the output of this one.
    ///
    /// - Parameter procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    /// - Returns: The new operation, which depends on this one.
    @_disfavoredOverload  // A mistake in a closure would be reported as one about procedures.
    @inlinable
    public final func then<Next: Sendable>(_ procedure: some InputProcedure<Output, Next>) -> AsyncOperation<Next> {
        AsyncOperation<Next>(procedure, input: self)
    }

    /// Makes an operation with a name that runs `procedure` on the output of this one.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    /// - Returns: The new operation, which depends on this one.
    @_disfavoredOverload
    @inlinable
    public final func then<Next: Sendable>(
        _ name: String?, _ procedure: some InputProcedure<Output, Next>
    ) -> AsyncOperation<Next> {
        AsyncOperation<Next>(name, procedure, input: self)
    }

    /// Makes an operation that calls `body` with the output of this one.
    ///
    /// ```swift
    /// let size = download.then { data in data.count }
    /// ```
    ///
    /// There is no overload whose closure takes a context, because the compiler could then not type-check long chains.
    /// Write `AsyncOperation(source) { value, context in … }` for such a closure.
    ///
    /// - Parameter body: Called at most once, on a task of the queue. An error that it throws becomes
    ///   ``OperationError/failed(_:)``.
    /// - Returns: The new operation, which depends on this one.
    @inlinable
    public final func then<Next: Sendable>(
        _ body: nonisolated(nonsending) @escaping @Sendable (Output) async throws -> Next,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Next> {
        AsyncOperation<Next>(nil, self, body).recordOrigin(step: .then, file, line)
    }

    /// Makes an operation with a name that calls `body` with the output of this one.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    /// - Returns: The new operation, which depends on this one.
    @inlinable
    public final func then<Next: Sendable>(
        _ name: String?, _ body: nonisolated(nonsending) @escaping @Sendable (Output) async throws -> Next
    ) -> AsyncOperation<Next> {
        AsyncOperation<Next>(name, self, body)
    }
}
