/// An iteration of a sequence whose upstream is iterated on a task of its own. If a body iterates, that task acts for
/// the body: what it runs and awaits counts as run and awaited by the body.
protocol UpstreamIteration: OutcomeListener {}

/// A wait for an operation by the task that iterates upstream for a body.
///
/// The body waits for the operation as it waits for the operations of the iteration: until it leaves the loop, whether
/// or not it asks for an output at the moment. It releases its permit only when it asks for one, so this wait does not
/// release the permit, and needs none to end.
final class UpstreamWait: OutcomeListener {
    private struct State {
        /// The operation whose body iterates, until the wait or the body has ended.
        var listenedTo: AnyOperation?
        var place = ListenerPlace.none
        /// Nil when the wait has ended.
        var continuation: UnsafeContinuation<OperationError?, Never>?
    }

    private let operation: AnyOperation
    private let iteration: any UpstreamIteration
    private let state: Locked<State>

    private init(
        for operation: AnyOperation, as body: AnyOperation, in iteration: any UpstreamIteration,
        _ continuation: UnsafeContinuation<OperationError?, Never>
    ) {
        self.operation = operation
        self.iteration = iteration
        state = Locked(State(listenedTo: body, continuation: continuation))
    }

    /// Returns when the operation has finished, or with an error if the wait would never end.
    ///
    /// - Parameters:
    ///   - operation: The operation to wait for.
    ///   - body: The operation whose body iterates.
    ///   - iteration: The iteration whose upstream the calling task iterates.
    ///   - begun: Called when the wait is registered.
    nonisolated(nonsending) static func wait(
        for operation: AnyOperation, as body: AnyOperation, in iteration: any UpstreamIteration, begun: () -> Void
    ) async -> OperationError? {
        if body.currentPriority > operation.currentPriority {
            AnyOperation.raise([operation], to: body.currentPriority)
        }
        let error = await withUnsafeContinuation { continuation in
            let wait = UpstreamWait(for: operation, as: body, in: iteration, continuation)
            let place = body.startListening(wait)
            wait.state.withLock { $0.place = place }
            let phase = operation.addWaiter(Waiter(receiver: .listener(wait, 0), body: body))
            begun()
            if phase == .created { operation.scheduleNotAddedCheck() }
            if phase == .finished { wait.ended(0, operation, nil) } else { operation.refuseWaitOnCycle(of: body) }
        }
        TSanAnnotations.didAwait(operation)
        return error
    }

    // MARK: The search for cycles

    var kindOfWait: OperationWait.Kind { .awaited }

    var waitsFor: [AnyOperation] { body == nil ? [] : [operation] }

    func waitsFor(first limit: Int) -> [AnyOperation] { Array(waitsFor.prefix(limit)) }

    var body: AnyOperation? { state.withLock({ $0.listenedTo }) == nil ? nil : iteration.body }

    var awaitsMore: Bool { false }

    // MARK: The end

    func bodyEnded() {
        let body = state.withLock { $0.listenedTo.take() }
        withExtendedLifetime(body) {}
    }

    func ended(_ place: Int, _ operation: AnyOperation, _ error: OperationError?) {
        let (body, listenerPlace, continuation) = state.withLock { state in
            (state.listenedTo.take(), state.place, state.continuation.take())
        }
        body?.stopListening(self, at: listenerPlace)
        guard let continuation else { return }
        TSanAnnotations.willResume(operation)
        continuation.resume(returning: error)
    }
}
