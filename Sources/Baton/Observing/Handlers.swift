extension AnyOperation {
    /// Calls `handler` when the body starts; at once if it has started already, never if it does not run.
    ///
    /// All of an operation's `didStart`, `didCancel`, `didProduce` and `didFinish` handlers run one after another, in
    /// the order in which their moments came and, for one moment, in the order added, on a task of their own that is
    /// not cancelled with the operation, each on the isolation it declares (`{ @MainActor in … }`). A slow one delays
    /// neither the body nor the queue nor other operations. They may be added before or after the add.
    @discardableResult
    public final func didStart(_ handler: nonisolated(nonsending) @escaping @Sendable () async -> Void) -> Self {
        addHandler(at: .start) { _ in await handler() }
        return self
    }

    /// Calls `handler` when the operation is cancelled, with the reason; at once if it has been, never if nobody
    /// cancels it.
    ///
    /// While the body runs, the call does not wait for the body, nor the body for the call, even if the body blocks its
    /// thread. A cancel after the outcome was decided is none. Runs as a ``didStart(_:)`` handler does.
    @discardableResult
    public final func didCancel(
        _ handler: nonisolated(nonsending) @escaping @Sendable (CancellationReason) async -> Void
    ) -> Self {
        addHandler(at: .cancel) { await handler($0.reasonOfCancel) }
        return self
    }

    /// Calls `handler` with every operation that the body adds with ``OperationContext/produce(_:file:line:)`` from now
    /// on.
    ///
    /// Runs as a ``didStart(_:)`` handler does.
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
    /// Calls `handler` with the outcome before anybody else sees it; the outcome is published when all of them have
    /// returned.
    ///
    /// Until then the operation has no ``result``, no dependent starts, and the operation keeps its permit, if its body
    /// ran. The handlers can look and take time, and change nothing: a cancel comes too late now. They run for every
    /// outcome, also of one that is cancelled before it runs and while the queue is suspended, one after another in the
    /// order added, on a task of their own that is not cancelled, each on the isolation it declares. One that is added
    /// when the last has returned holds nothing back any more and is called as ``didFinish(_:)`` handlers are.
    ///
    /// A handler that awaits this operation's own ``value``, or anything that needs it, gets
    /// ``OperationError/dependencyCycle(_:)``.
    @discardableResult
    public final func willFinish(
        _ handler: nonisolated(nonsending) @escaping @Sendable (Result<Output, OperationError>) async -> Void
    ) -> Self {
        addHandlerBeforeFinish { await handler(AsyncOperation<Output>.outcome(of: $0)) }
        return self
    }

    /// Calls `handler` once, when the outcome is visible; at once if it is already.
    ///
    /// Runs as a ``AnyOperation/didStart(_:)`` handler does: in the order added, on a task of its own, on the isolation
    /// it declares (`{ @MainActor result in … }`), without delaying the queue or other operations.
    @discardableResult
    @inlinable
    public final func didFinish(
        _ handler: nonisolated(nonsending) @escaping @Sendable (Result<Output, OperationError>) async -> Void
    ) -> Self {
        // `Self` would be captured: an object for each handler, also for one that captures nothing.
        addHandlerAtFinish { await handler(AsyncOperation<Output>.outcome(of: $0)) }
        return self
    }

    @inlinable
    static func outcome(of operation: AnyOperation) -> Result<Output, OperationError> {
        // The list of an operation calls its handlers with that operation alone.
        unsafeDowncast(operation, to: AsyncOperation<Output>.self).finishedResult
    }
}
