/// The closure that a callback-based body calls when its work is done: exactly once, from any thread.
///
/// If the last copy of the callback is released without a call, the operation ends with
/// ``OperationError/callbackDropped``. A second call is ``Misuse`` and changes nothing.
/// ``AsyncOperation/callback(_:file:line:)`` makes callbacks.
public struct Callback<Output: Sendable>: Sendable {
    private let handle: Handle

    /// Finishes the operation with its output.
    ///
    /// - Parameters:
    ///   - output: The output of the operation.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    public func callAsFunction(_ output: Output, file: StaticString = #fileID, line: UInt = #line) {
        handle.state.finish(.output(output), CallSite(file: file, line: line))
    }

    /// Finishes the operation with its output, or with the error that it fails with.
    ///
    /// - Parameters:
    ///   - result: The output of the operation, or the error that its body fails with.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    public func callAsFunction<Failure: Error>(
        _ result: Result<Output, Failure>, file: StaticString = #fileID, line: UInt = #line
    ) {
        let end: CallbackState<Output>.End =
            switch result {
            case .success(let output): .output(output)
            case .failure(let error): .threw(error)
            }
        handle.state.finish(end, CallSite(file: file, line: line))
    }

    /// Finishes the operation with the error that it fails with.
    ///
    /// - Parameters:
    ///   - error: The error that the body fails with.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    public func callAsFunction(throwing error: any Error, file: StaticString = #fileID, line: UInt = #line) {
        handle.state.finish(.threw(error), CallSite(file: file, line: line))
    }

    /// Calls `handler` if the operation is cancelled before the callback is called; at once if it was cancelled before.
    ///
    /// The handler runs on the thread that cancels or, if the operation is already cancelled, on the calling thread
    /// before this method returns. The operation still waits for the callback, so the handler should stop the work that
    /// will call it. A handler may call the callback itself. It then holds a copy, so that the operation does not
    /// notice when the work releases its copy without a call: it ends when it is cancelled.
    ///
    /// ```swift
    /// AsyncOperation<Data>.callback { finish in
    ///     let request = store.load { finish($0) }
    ///     finish.onCancel { request.cancel() }     // makes `load` call back with an error
    /// }
    /// ```
    ///
    /// - Parameter handler: Called at most once.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) { handle.state.onCancel(handler) }

    /// Shared by all copies of a callback. The body that waits for the call holds only the state, so the release of the
    /// last copy is noticed.
    private final class Handle: Sendable {
        let state: CallbackState<Output>

        init(_ state: CallbackState<Output>) { self.state = state }

        deinit { state.drop() }
    }

    init(_ state: CallbackState<Output>) { handle = Handle(state) }
}

extension Callback where Output == Void {
    /// Finishes the operation, which has no output.
    ///
    /// - Parameters:
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    public func callAsFunction(file: StaticString = #fileID, line: UInt = #line) {
        callAsFunction((), file: file, line: line)
    }
}

extension CallbackState {
    /// Calls the body, and keeps the callback alive until an error that the body throws is stored: if the callback were
    /// released first, the operation would fail with ``OperationError/callbackDropped``.
    fileprivate func call(_ body: (Callback<Output>) throws -> Void) {
        let callback = Callback(self)
        withExtendedLifetime(callback) {
            do { try body(callback) } catch { bodyThrew(error) }
        }
    }
}

extension AsyncOperation {
    /// Makes an operation from a closure that starts some work and has `finish` called when the work is done.
    ///
    /// ```swift
    /// AsyncOperation<Data>.callback { finish in store.load { finish($0) } }
    /// ```
    ///
    /// This is a method and not an initializer, so that the compiler never confuses a closure that takes a context with
    /// one that takes `finish`.
    ///
    /// - Parameter body: Called at most once, or once for each attempt of a retry, on a task of the queue. The
    ///   operation ends when `finish` is called, or released without a call, and holds its permit until then. An error
    ///   that `body` throws ends the operation at once. Both a call of `finish` and an error, in any order, are
    ///   ``Misuse``: the first one counts.
    /// - Returns: The new operation.
    public static func callback(
        _ body: @escaping @Sendable (_ finish: Callback<Output>) throws -> Void,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        callback(nil, body).recordOrigin(step: .callback, file, line)
    }

    /// Makes an operation with a name from a closure that starts some work and has `finish` called when it is done.
    ///
    /// See ``callback(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - body: Called at most once, or once for each attempt of a retry, on a task of the queue.
    /// - Returns: The new operation.
    public static func callback(
        _ name: String?, _ body: @escaping @Sendable (_ finish: Callback<Output>) throws -> Void
    ) -> AsyncOperation<Output> {
        AsyncOperation(name, procedure: nil, input: nil) { execution in
            let state = CallbackState<Output>(of: execution.operation)
            state.call(body)
            switch await state.end(of: execution.operation) {
            case .output(let output): execution.succeed(with: output)
            case .threw(let error): execution.bodyThrew(error)
            case .dropped: execution.bodyFailed(.callbackDropped)
            }
        }
    }
}

// MARK: - State

/// The state that a callback shares with the body that waits for it.
final class CallbackState<Output: Sendable>: Sendable {
    enum End: Sendable {
        case output(Output)
        case threw(any Error)
        case dropped
    }

    /// The state of a callback: pending until the first call, then permanently over.
    private struct StateMachine {
        /// The first of a call, an error of the body, and the release of the callback. Nil while none of them has come.
        private var first: First?
        /// Set until the body has taken it.
        private var end: End?
        private var isCancelled = false
        private var onCancel: [@Sendable () -> Void] = []
        /// The body's continuation. The thread that stores the end takes it out, so it is resumed once.
        private var waiter: UnsafeContinuation<End, Never>?

        struct FinishAction {
            /// The misuse if the callback was called before, or its body had thrown. Then nothing has changed.
            var misuse: Misuse.Kind?
            var waiter: UnsafeContinuation<End, Never>?
            /// Handlers that will never be called. They are the user's, so they are released after unlocking.
            var unused: [@Sendable () -> Void] = []
        }

        private enum First { case call, error, release }

        private var hasEnded: Bool { first != nil }

        mutating func finish(_ end: End, byThrowing: Bool = false) -> FinishAction {
            switch first {
            case .call: return FinishAction(misuse: .finishedTwice)
            case .error: return FinishAction(misuse: .finishedAfterThrowing)
            case .release: return FinishAction()
            case nil: break
            }
            first = if byThrowing { .error } else if case .dropped = end { .release } else { .call }
            defer { onCancel = [] }
            let finish = FinishAction(waiter: waiter.take(), unused: onCancel)
            if finish.waiter == nil { self.end = end }
            return finish
        }

        /// Keeps the continuation of the body until the callback is over. Returns the end if it is over already: the
        /// caller then resumes the continuation.
        mutating func wait(_ continuation: UnsafeContinuation<End, Never>) -> End? {
            if !hasEnded { waiter = continuation }
            return end.take()
        }

        /// Keeps the handler for a cancellation. Returns true if the operation is already cancelled: the caller then
        /// calls the handler.
        mutating func addCancelHandler(_ handler: @escaping @Sendable () -> Void) -> Bool {
            if hasEnded { return false }
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

    func finish(_ end: End, _ callSite: CallSite) { if let misuse = tryFinish(end) { report(misuse, callSite) } }

    func drop() { _ = tryFinish(.dropped) }

    func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isCancelled = machine.withLock { $0.addCancelHandler(handler) }
        if isCancelled { handler() }
    }

    // MARK: Calls of the body

    func bodyThrew(_ error: any Error) {
        if let misuse = tryFinish(.threw(error), byThrowing: true) { report(misuse) }
    }

    /// Waits until the callback was called or dropped.
    ///
    /// - Parameter operation: The operation whose body waits.
    nonisolated(nonsending) func end(of operation: AnyOperation) async -> End {
        operation.withLifecycle { $0.ensureOptionalState().awaitsCallback = true }
        defer { operation.withLifecycle { $0.optionalState?.awaitsCallback = false } }
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

    /// Ends the callback. Returns the misuse of a call of the callback if it was over before.
    private func tryFinish(_ end: End, byThrowing: Bool = false) -> Misuse.Kind? {
        let finish = machine.withLock { $0.finish(end, byThrowing: byThrowing) }
        TSanAnnotations.willResume(self)
        finish.waiter?.resume(returning: end)
        return finish.misuse
    }

    private func report(_ kind: Misuse.Kind, _ callSite: CallSite? = nil) {
        let misuse = Misuse(kind, operation: operation, callSite: callSite)
        if let core = QueueDirectory.find(queueNumber) {
            core.report(misuse)
        } else {
            Misuse.writeToStandardError(misuse)
        }
    }
}
