extension AnyOperation {
    /// Calls `handler` when the body starts; at once if it has started already, never if it does not run.
    ///
    /// The `didStart`, `didCancel`, `didProduce` and `didFinish` handlers of an operation run one after another, in the
    /// order in which their moments came. Handlers of the same moment run in the order in which they were added. They
    /// run on a task of their own that is not cancelled with the operation, each on the isolation that it declares (`{
    /// @MainActor in … }`). A slow handler delays neither the body nor the queue nor other operations. Handlers may be
    /// added before or after the operation is added.
    ///
    /// - Parameter handler: Called at most once.
    /// - Returns: This operation.
    @discardableResult
    public final func didStart(_ handler: nonisolated(nonsending) @escaping @Sendable () async -> Void) -> Self {
        addHandler(at: .start) { _ in await handler() }
        return self
    }

    /// Calls `handler` with the reason when the operation is cancelled; at once if it was cancelled already.
    ///
    /// The handler is not called if nobody cancels the operation, or if the cancel comes after the outcome was decided.
    /// While the body runs, the handler does not wait for the body, nor the body for the handler, even if the body
    /// blocks its thread.
    ///
    /// Runs like a ``didStart(_:)`` handler.
    ///
    /// - Parameter handler: Called at most once, with the reason of the cancel.
    /// - Returns: This operation.
    @discardableResult
    public final func didCancel(
        _ handler: nonisolated(nonsending) @escaping @Sendable (CancellationReason) async -> Void
    ) -> Self {
        addHandler(at: .cancel) { await handler($0.reasonOfCancel) }
        return self
    }

    /// Calls `handler` with every operation that the body produces from now on.
    ///
    /// A body produces operations with ``OperationContext/produce(_:file:line:)``. Runs like a ``didStart(_:)``
    /// handler.
    ///
    /// - Parameter handler: Called once for each operation that is produced, with that operation.
    /// - Returns: This operation.
    @discardableResult
    public final func didProduce(
        _ handler: nonisolated(nonsending) @escaping @Sendable (AnyOperation) async -> Void
    ) -> Self {
        addHandlerForProducts { await handler($0) }
        return self
    }

    private final var reasonOfCancel: CancellationReason {
        let (reason, hasFinished) = withLife { ($0.optionalState?.cancellationReason, $0.phase == .finished) }
        if let reason { return reason }
        if hasFinished, case .cancelled(let reason) = failure { return reason }
        return .requested
    }
}

extension AsyncOperation {
    /// Calls `handler` with the outcome before it is published, which happens when all such handlers have returned.
    ///
    /// Until then the operation has no ``result``, no dependent starts, and the operation keeps its permit, if its body
    /// ran. The handlers can inspect the outcome and take time, but change nothing: a cancel comes too late now.
    ///
    /// The handlers run for every outcome, even if the operation is cancelled before it runs, and while the queue is
    /// suspended. They run one after another in the order in which they were added, on a task of their own that is not
    /// cancelled, each on the isolation that it declares. A handler that is added after the last one has returned
    /// delays nothing, and is called like a ``didFinish(_:)`` handler.
    ///
    /// A handler that awaits this operation's own ``value``, or any operation that needs this one, gets
    /// ``OperationError/dependencyCycle(_:)``.
    ///
    /// - Parameter handler: Called once, with the outcome.
    /// - Returns: This operation.
    @discardableResult
    public final func willFinish(
        _ handler: nonisolated(nonsending) @escaping @Sendable (Result<Output, OperationError>) async -> Void
    ) -> Self {
        addHandlerBeforeFinish { await handler(AsyncOperation<Output>.outcome(of: $0)) }
        return self
    }

    /// Calls `handler` once, when the outcome is visible; at once if it is visible already.
    ///
    /// Runs like a ``AnyOperation/didStart(_:)`` handler: in the order in which handlers were added, on a task of its
    /// own, on the isolation that it declares (`{ @MainActor result in … }`), without delaying the queue or other
    /// operations.
    ///
    /// - Parameter handler: Called once, with the outcome.
    /// - Returns: This operation.
    @discardableResult
    @inlinable
    public final func didFinish(
        _ handler: nonisolated(nonsending) @escaping @Sendable (Result<Output, OperationError>) async -> Void
    ) -> Self {
        // `Self.outcome` would capture the type, which allocates an object for each handler, even for one that captures
        // nothing.
        addHandlerAtFinish { await handler(AsyncOperation<Output>.outcome(of: $0)) }
        return self
    }

    @inlinable
    static func outcome(of operation: AnyOperation) -> Result<Output, OperationError> {
        // The handler list of an operation calls its handlers with that operation alone, so the type is right.
        unsafeDowncast(operation, to: AsyncOperation<Output>.self).finishedResult
    }
}
