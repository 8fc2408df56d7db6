/// The state that a callback shares with the body that waits for it.
final class CallbackState<Output: Sendable>: Sendable {
    enum End: Sendable {
        case output(Output)
        case threw(any Error)
        case dropped
    }

    /// The callback as a state machine: pending, then over, which it stays.
    private struct StateMachine {
        private var isOver = false
        /// Set until the body has taken it.
        private var end: End?
        private var isCancelled = false
        private var onCancel: [@Sendable () -> Void] = []
        /// The body's continuation. The thread that stores the end takes it out, so it is resumed once.
        private var waiter: UnsafeContinuation<End, Never>?

        struct FinishAction {
            /// False if the callback was over before. Then nothing has changed.
            var isFirst: Bool
            var waiter: UnsafeContinuation<End, Never>?
            /// Handlers that will never be called. They are the user's, so they are released after unlocking.
            var unused: [@Sendable () -> Void] = []
        }

        mutating func finish(_ end: End) -> FinishAction {
            if isOver { return FinishAction(isFirst: false) }
            isOver = true
            defer { onCancel = [] }
            let finish = FinishAction(isFirst: true, waiter: waiter.take(), unused: onCancel)
            if finish.waiter == nil { self.end = end }
            return finish
        }

        /// Keeps the continuation of the body until the callback is over. Returns the end if it is over already: the
        /// caller then resumes the continuation.
        mutating func wait(_ continuation: UnsafeContinuation<End, Never>) -> End? {
            if !isOver { waiter = continuation }
            return end.take()
        }

        /// Keeps the handler for a cancel. Returns true if the cancel came before: the caller then calls the handler.
        mutating func addCancelHandler(_ handler: @escaping @Sendable () -> Void) -> Bool {
            if isOver { return false }
            if !isCancelled { onCancel.append(handler) }
            return isCancelled
        }

        /// Returns the handlers to call.
        mutating func cancel() -> [@Sendable () -> Void] {
            isCancelled = true
            let handlers = onCancel
            onCancel = []
            return handlers
        }
    }

    private let machine = Locked(StateMachine())
    private let operation: OperationReference
    private let queueNumber: UInt32

    init(of operation: AnyOperation) {
        self.operation = operation.reference
        queueNumber = operation.queueNumber
    }

    // MARK: Calls of the callback

    func finish(_ end: End) { if !tryFinish(end) { report() } }

    func drop() { _ = tryFinish(.dropped) }

    func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isCancelled = machine.withLock { $0.addCancelHandler(handler) }
        if isCancelled { handler() }
    }

    // MARK: Calls of the body

    func bodyThrew(_ error: any Error) { _ = tryFinish(.threw(error)) }

    /// Waits until the callback was called or dropped.
    ///
    /// - Parameter operation: The operation whose body waits.
    nonisolated(nonsending) func end(of operation: AnyOperation) async -> End {
        operation.withLife { $0.ensureOptionalState().awaitsCallback = true }
        defer { operation.withLife { $0.optionalState?.awaitsCallback = false } }
        return await withTaskCancellationHandler {
            let end = await withUnsafeContinuation { continuation in
                if let end = machine.withLock({ $0.wait(continuation) }) { continuation.resume(returning: end) }
            }
            TSanAnnotations.didAwait(self)
            return end
        } onCancel: {
            for handler in machine.withLock({ $0.cancel() }) { handler() }
        }
    }

    // MARK: Shared steps

    /// Ends the callback. Returns false if it was over before.
    private func tryFinish(_ end: End) -> Bool {
        let finish = machine.withLock { $0.finish(end) }
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
