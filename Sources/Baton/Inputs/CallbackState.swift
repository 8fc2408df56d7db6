/// The state that a callback shares with the body that waits for it.
final class CallbackState<Output: Sendable>: Sendable {
    enum End: Sendable {
        case output(Output)
        case threw(any Error)
        case dropped
    }

    private struct Finish {
        var isFirst: Bool
        var waiter: UnsafeContinuation<End, Never>?
        /// Handlers that will never be called. They are the user's, so they are released after unlocking.
        var unused: [@Sendable () -> Void] = []
    }

    private struct Progress {
        var isOver = false
        /// Set until the body has taken it.
        var end: End?
        var isCancelled = false
        var onCancel: [@Sendable () -> Void] = []
        /// The body's continuation. The thread that stores the end takes it out, so it is resumed once.
        var waiter: UnsafeContinuation<End, Never>?

        mutating func finish(_ end: End) -> Finish {
            if isOver { return Finish(isFirst: false) }
            isOver = true
            defer { onCancel = [] }
            let finish = Finish(isFirst: true, waiter: waiter.take(), unused: onCancel)
            if finish.waiter == nil { self.end = end }
            return finish
        }

        /// Returns the handlers to call.
        mutating func cancel() -> [@Sendable () -> Void] {
            isCancelled = true
            let handlers = onCancel
            onCancel = []
            return handlers
        }
    }

    private let progress = Locked(Progress())
    private let operation: OperationReference
    private let queueNumber: UInt32

    init(of operation: AnyOperation) {
        self.operation = operation.reference
        queueNumber = operation.queueNumber
    }

    // MARK: Calls of the callback

    func finish(_ end: End) { if !attempt(end) { report() } }

    func drop() { _ = attempt(.dropped) }

    func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isCancelled = progress.withLock { progress in
            if !progress.isOver, !progress.isCancelled { progress.onCancel.append(handler) }
            return !progress.isOver && progress.isCancelled
        }
        if isCancelled { handler() }
    }

    // MARK: Calls of the body

    func bodyThrew(_ error: any Error) { _ = attempt(.threw(error)) }

    /// Waits until the callback was called or dropped.
    ///
    /// - Parameter operation: The operation whose body waits.
    nonisolated(nonsending) func end(of operation: AnyOperation) async -> End {
        operation.withLife { $0.madeOptionalState().awaitsCallback = true }
        defer { operation.withLife { $0.optionalState?.awaitsCallback = false } }
        return await withTaskCancellationHandler {
            let end = await withUnsafeContinuation { continuation in
                let end = progress.withLock { progress in
                    if !progress.isOver { progress.waiter = continuation }
                    return progress.end.take()
                }
                if let end { continuation.resume(returning: end) }
            }
            TSanAnnotations.didAwait(self)
            return end
        } onCancel: {
            for handler in progress.withLock({ $0.cancel() }) { handler() }
        }
    }

    // MARK: Shared steps

    private func attempt(_ end: End) -> Bool {
        let finish = progress.withLock { $0.finish(end) }
        TSanAnnotations.willResume(self)
        finish.waiter?.resume(returning: end)
        return finish.isFirst
    }

    private func report() {
        let misuse = Misuse(.finishedTwice, operation: operation)
        if let core = QueueDirectory.find(queueNumber) {
            core.report(misuse)
        } else {
            Misuse.writeToStandardError(misuse)
        }
    }
}
