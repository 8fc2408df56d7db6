extension AsyncOperation {
    /// Makes an operation that runs `procedure` on the output of this one.
    ///
    /// Settings that follow in the expression, such as a condition or a time limit, apply to the new operation alone.
    ///
    /// - Parameter procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    /// - Returns: The new operation, which depends on this one.
    @_disfavoredOverload  // Otherwise the compiler reports a mistake in a closure as one in a procedure.
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
    /// Settings that follow in the expression, such as a condition or a time limit, apply to the new operation alone.
    ///
    /// There is no overload whose closure takes a context, because with such an overload the compiler fails to
    /// type-check long chains. Write `AsyncOperation(source) { value, context in … }` for such a closure.
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

// MARK: - Transforms

/// New operations that change the output of this one, or recover from its error.
///
/// Each is an operation like any other, which has to be added. ``AsyncOperationQueue/run(_:)`` and
/// ``AnyOperation/add(to:includingDependencies:file:line:)`` add a whole chain.
extension AsyncOperation {
    /// Makes an operation whose output is the result of calling `transform` with the output of this one.
    ///
    /// Use ``then(_:file:line:)`` for a closure that awaits.
    ///
    /// Settings that follow in the expression, such as a condition or a time limit, apply to the new operation alone.
    ///
    /// - Parameter transform: Called at most once, on a task of the queue. An error that it throws becomes
    ///   ``OperationError/failed(_:)``.
    /// - Returns: The new operation, which depends on this one.
    public final func map<New: Sendable>(
        _ transform: @escaping @Sendable (Output) throws -> New, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<New> {
        AsyncOperation<New>(nil, self) { output in try transform(output) }.recordOrigin(step: .map, file, line)
    }

    /// Makes an operation with a name whose output is the result of calling `transform` with the output of this one.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - transform: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    /// - Returns: The new operation, which depends on this one.
    public final func map<New: Sendable>(
        _ name: String?, _ transform: @escaping @Sendable (Output) throws -> New
    ) -> AsyncOperation<New> {
        AsyncOperation<New>(name, self) { output in try transform(output) }
    }

    /// Makes an operation that runs the operation which `transform` returns as its child, and has the child's output.
    ///
    /// If the child fails, the new operation fails with the child's error, as with
    /// ``OperationContext/run(_:file:line:)``. Cancelling the new operation cancels the child.
    ///
    /// - Parameter transform: Called at most once, on a task of the queue. An error that it throws becomes
    ///   ``OperationError/failed(_:)``.
    /// - Returns: The new operation, which depends on this one.
    public final func flatMap<New: Sendable>(
        _ transform: nonisolated(nonsending) @escaping @Sendable (Output) async throws -> AsyncOperation<New>,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<New> {
        AsyncOperation<New>(nil, self) { output, context in
            try await context.run(try await transform(output), file: file, line: line)
        }
        .recordOrigin(step: .flatMap, file, line)
    }

    /// Makes an operation with this one's output or, if it has none, with the value that `body` makes of its error.
    ///
    /// ```swift
    /// let image = download.recover { _ in placeholder }
    /// ```
    ///
    /// `body` is called whatever the error: a failure, a cancellation, or a rule that kept this operation from running.
    /// A retry or a time limit that follows in the expression is for `body`: write `download.retry(attempts: 3)` first,
    /// and `recover` after it.
    ///
    /// It returns the type of this operation's output. If the operation is made in the same expression, write that
    /// type, `AsyncOperation<Int> { try await load() }.recover { _ in 0 }`, or give the operation a name of its own.
    /// Otherwise Swift accepts a body that returns another type: it takes both closures for closures that return
    /// nothing, warns that their values are unused, and the output is `Void`.
    ///
    /// - Parameter body: Called at most once, on a task of the queue. An error that it throws becomes the failure of
    ///   the new operation.
    /// - Returns: The new operation, which depends on this one.
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
        .recordOrigin(step: .recover, file, line)
    }

    /// Makes an operation with this one's output or, if it has none, with the failure that `transform` makes of its
    /// error.
    ///
    /// - Parameter transform: Called at most once, on a task of the queue.
    /// - Returns: The new operation, which depends on this one.
    public final func mapError(
        _ transform: @escaping @Sendable (OperationError) -> any Error,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        recover { error in throw transform(error) }.recordOrigin(step: .mapError, file, line)
    }

    /// Makes an operation that has the value of this one's optional output.
    ///
    /// If the output is nil, the new operation fails with ``OperationError/inputMissing``.
    ///
    /// - Returns: The new operation, which depends on this one.
    public final func unwrapped<Wrapped: Sendable>(
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Wrapped> where Output == Wrapped? {
        AsyncOperation<Wrapped>(nil, self) { output in
            guard let output else { throw OperationError.inputMissing }
            return output
        }
        .recordOrigin(step: .unwrapped, file, line)
    }
}
