import Synchronization

extension AsyncOperationQueue {
    /// Calls a hook around every body that starts from now on, for example for tracing or logging.
    ///
    /// ```swift
    /// queue.around { context, body in
    ///     try await Request.$id.withValue(nextID()) { try await body() }
    /// }
    /// ```
    ///
    /// The hook runs on the task of the body. It must call `body` once and rethrow its error. `body` returns when the
    /// operation's body has returned, and throws the error that the operation's body throws. An error that the hook
    /// throws after the body has succeeded becomes the error of the operation. If the hook neither calls `body` nor
    /// throws, the operation fails with ``OperationError/misuse(_:)``; a second call of `body` throws this error.
    ///
    /// The first hook that was added is the outermost one. Bodies of queues without hooks pay nothing for this feature.
    /// For task-locals whose values come from the task that adds an operation, use the `taskLocals` parameter of the
    /// queue's initializer instead.
    ///
    /// - Parameter hook: The hook. Its `context` describes the operation whose body starts, and its `body` runs the
    ///   inner hooks and the body of the operation.
    public func around(
        _ hook:
            @escaping @Sendable (
                _ context: OperationContext, _ body: @Sendable () async throws -> Void
            ) async throws -> Void
    ) {
        core.middleware.withLock { $0.append(hook) }
        core.hasMiddleware.store(true, ordering: .relaxed)
    }
}
