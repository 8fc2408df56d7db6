/// One iteration of a sequence that is delivered to operations. Drives a ``ConcurrentMapStateMachine``.
///
/// A separate task iterates upstream and adds an operation for each element, while there is room. Each operation
/// informs this object when it ends. The consumer asks for the next output on its own task; if that task runs a body,
/// the body releases its permit while it waits, and the task that iterates upstream acts for the body.
final class ConcurrentMap<Element: Sendable, Output: Sendable, Failure: Error>: UpstreamIteration, ShutdownListener {
    typealias Machine = ConcurrentMapStateMachine<RunScope, Output, Failure>

    private struct State {
        var machine: Machine
        var consumers: [SuspendedTask] = []
        /// The continuation of the task that iterates upstream, while there is no room.
        var upstreamWait: UnsafeContinuation<Void, Never>?
        var upstreamTask: Task<Void, Never>?
        var stopsUpstream = false
        /// The operation whose body iterates, if the consumer is one.
        var body: AnyOperation?
        /// The place of this object among the listeners of that body.
        var placeInBody = ListenerPlace.none
        /// The iteration whose upstream is this one, if the task that iterates it acts for that body.
        var outer: (any UpstreamIteration)?
    }

    private let state: Locked<State>
    private let queue: AsyncOperationQueue
    private let make: @Sendable (Element) -> AsyncOperation<Output>

    init(
        _ machine: Machine, on queue: AsyncOperationQueue,
        make: @escaping @Sendable (Element) -> AsyncOperation<Output>
    ) {
        state = Locked(State(machine: machine))
        self.queue = queue
        self.make = make
    }

    /// The operations that the body waits for, in the search for cycles.
    var waitsFor: [AnyOperation] {
        body == nil ? [] : state.withLock { $0.machine.operationsInFlight }.map(\.operation)
    }

    func waitsFor(first limit: Int) -> [AnyOperation] {
        body == nil ? [] : state.withLock { $0.machine.operationsInFlight(last: limit) }.map(\.operation)
    }

    var kindOfWait: OperationWait.Kind { .element }

    var body: AnyOperation? {
        let (body, outer) = state.withLock { ($0.body, $0.outer) }
        // A body that has left the outer loop does not wait for the inner iteration, which may go on until its
        // operations have ended.
        if let outer, outer.body == nil { return nil }
        return body
    }

    var awaitsMore: Bool { state.withLock { !$0.consumers.isEmpty } }

    // MARK: The consumer

    enum Delivery {
        case outcome(Machine.Outcome)
        case upstreamFailed(Failure)
        case cancelled
        case end
    }

    /// Returns the next delivery. If the consumer's task is cancelled, returns when all operations and upstream have
    /// ended.
    nonisolated(nonsending) func next<Upstream: AsyncSequence & Sendable>(from upstream: Upstream) async -> Delivery
    where Upstream.Element == Element, Upstream.Failure == Failure {
        await withTaskCancellationHandler {
            while true {
                let (action, upstreamWait) = state.withLock { state in
                    (state.machine.next(), state.machine.room == .free ? state.upstreamWait.take() : nil)
                }
                if let upstreamWait { resume(upstreamWait) }
                switch action {
                case .start: start(upstream)
                case .wait: await wait()
                case .deliver(let outcome):
                    if case .failure = outcome { leaveBodyIfOver() }
                    return .outcome(outcome)
                case .upstreamFailed(let failure):
                    leaveBody()
                    return .upstreamFailed(failure)
                case .cancelled:
                    leaveBody()
                    return .cancelled
                case .end:
                    leaveBody()
                    return .end
                }
            }
        } onCancel: {
            cancel()
        }
    }

    private nonisolated(nonsending) func wait() async {
        await SuspendedTask.suspend(on: self) { task in
            state.withLock { state in
                if state.machine.consumerMustWait {
                    state.consumers.append(task)
                    return true
                }
                return false
            }
        }
    }

    /// Cancels the iteration, because the consumer's task was cancelled or the iterator was released.
    func cancel() {
        change(cancelling: .caller) { $0.cancel() }
    }

    /// Cancels the iteration. The iterator was released, so nobody asks for another output.
    func abandon() {
        cancel()
        leaveBody()
    }

    private func leaveBodyIfOver() {
        if state.withLock({ $0.machine.hasEnded }) { leaveBody() }
    }

    private func leaveBody() {
        guard let body = forgetBody() else { return }
        body.stopListening(self, at: state.withLock { $0.placeInBody })
    }

    /// Forgets the body, which has ended. Another task may go on with the iterator.
    func bodyEnded() { _ = forgetBody() }

    private func forgetBody() -> AnyOperation? {
        // Both are released outside the lock.
        let (body, outer) = state.withLock { ($0.body.take(), $0.outer.take()) }
        return withExtendedLifetime(outer) { body }
    }

    // MARK: Upstream

    private func start<Upstream: AsyncSequence & Sendable>(_ upstream: Upstream)
    where Upstream.Element == Element, Upstream.Failure == Failure {
        let task = WorkerTaskContext.current
        if let body = task?.running {
            state.withLock { ($0.body, $0.outer) = (body, task?.iteration) }
            let place = body.startListening(self)
            let hasLeft = state.withLock { state in
                state.placeInBody = place
                return state.body == nil
            }
            // Another task with a copy of the iterator has ended the iteration meanwhile.
            if hasLeft { body.stopListening(self, at: place) }
        }
        queue.core.startListening(self)
        iterate(upstream) { TransferredIterator(iterator: upstream.makeAsyncIterator()) }
    }

    /// Starts a task that iterates upstream until its end. It has the task-local values of the consumer's task, and
    /// acts for the body that iterates, if there is one. If user code cancels the task, another task goes on.
    private func iterate<Upstream: AsyncSequence & Sendable>(
        _ upstream: Upstream, from begin: @escaping @Sendable () -> TransferredIterator<Upstream>
    ) where Upstream.Element == Element, Upstream.Failure == Failure {
        let actsForBody = body != nil
        let task = queue.core.taskFactory.spawnWithTaskLocals { [self] in
            if actsForBody {
                await WorkerTaskContext.run(upstreamOf: self) { await iterateOnThisTask(upstream, from: begin) }
            } else {
                await iterateOnThisTask(upstream, from: begin)
            }
        }
        // The iteration may have been cancelled before `upstreamTask` was set.
        let isStopped = state.withLock { state in
            state.upstreamTask = task
            return state.stopsUpstream
        }
        if isStopped { task.cancel() }
    }

    private func iterateOnThisTask<Upstream: AsyncSequence & Sendable>(
        _ upstream: Upstream, from begin: @escaping @Sendable () -> TransferredIterator<Upstream>
    ) async where Upstream.Element == Element, Upstream.Failure == Failure {
        switch await iterateUntilCancelled(upstream, from: begin) {
        case .ended(let failure):
            queue.core.stopListening(self)
            change { $0.upstreamEnded(failure) }
        case .goesOn(let next): iterate(upstream) { next }
        }
    }

    /// Iterates upstream until it ends or until user code cancels the task. Returns `.ended` after the iterator was
    /// released.
    private func iterateUntilCancelled<Upstream: AsyncSequence & Sendable>(
        _ upstream: Upstream, from begin: () -> TransferredIterator<Upstream>
    ) async -> IterationResult<Upstream> where Upstream.Element == Element, Upstream.Failure == Failure {
        var transferred = begin()
        while await hasRoom() {
            // Checked after each call of user code, which may have cancelled this task.
            if Task.isCancelled, !state.withLock({ $0.stopsUpstream }) { return .goesOn(transferred) }
            if let element = transferred.element.take() {
                submit(element)
                continue
            }
            do throws(Failure) {
                guard let element = try await transferred.iterator.next(isolation: nil) else { return .ended(nil) }
                transferred.element = element
            } catch { return .ended(error) }
        }
        return .ended(nil)
    }

    /// Returns true when there is room for an element, and false if no further element is wanted.
    private func hasRoom() async -> Bool {
        while true {
            switch state.withLock({ $0.machine.room }) {
            case .free: return true
            case .closed: return false
            case .full:
                await withUnsafeContinuation { continuation in
                    let mustWait = state.withLock { state in
                        if state.machine.room != .full { return false }
                        assert(state.upstreamWait == nil, "one task at a time iterates upstream")
                        state.upstreamWait = continuation
                        return true
                    }
                    if !mustWait { continuation.resume() }
                }
                TSanAnnotations.didAwait(self)
            }
        }
    }

    private func submit(_ element: Element) {
        let operation = make(element)
        let run = RunScope(operation, on: queue.core)
        guard let place = state.withLock({ $0.machine.take(run) }) else { return }
        let body = body
        if let body, body.currentPriority > operation.currentPriority {
            AnyOperation.raise([operation], to: body.currentPriority)
        }
        let waiter = Waiter(receiver: .listener(self, place), body: body)
        // The waiter is added before the operation, so that adding the operation detects a cycle.
        let phase = operation.addWaiter(waiter)
        if phase == .finished { _ = waiter.outcomeCame(of: operation) }
        run.add(from: body == nil ? .outside : .awaited)
        if phase != .created, let path = body?.cycle(closedByWaitFor: operation) {
            ended(place, operation, .dependencyCycle(path))
        }
    }

    /// Takes no further elements. If a body iterates, elements are taken until the queue is closed to bodies as well.
    func shutdownStateChanged(to shutdownState: ShutdownState) {
        if shutdownState == .draining, body != nil { return }
        change { $0.queueClosed(.queueShutDown(queue: queue.name)) }
    }

    // MARK: Operations

    func ended(_ place: Int, _ operation: AnyOperation, _ error: OperationError?) {
        // This object waits only for operations that it has made, which are of this type.
        let finished = operation.withOutput(Output.self)
        let outcome: Machine.Outcome = if let error { .failure(error) } else { finished.finishedResult }
        change(cancelling: .because("another operation of its sequence failed")) { $0.ended(place, outcome) }
    }

    // MARK: Performing actions

    private struct Resumptions {
        var consumers: [SuspendedTask] = []
        var upstreamWait: UnsafeContinuation<Void, Never>?
    }

    private func change(cancelling reason: CancellationReason = .caller, _ body: (inout Machine) -> Machine.Actions) {
        let (actions, resumptions, task) = state.withLock {
            state -> (Machine.Actions, Resumptions, Task<Void, Never>?) in
            let actions = body(&state.machine)
            var resumptions = Resumptions()
            if actions.wakesConsumer { swap(&resumptions.consumers, &state.consumers) }
            if !actions.stopsUpstream { return (actions, resumptions, nil) }
            resumptions.upstreamWait = state.upstreamWait.take()
            state.stopsUpstream = true
            return (actions, resumptions, state.upstreamTask)
        }
        task?.cancel()
        perform(actions, reason)
        if let upstreamWait = resumptions.upstreamWait { resume(upstreamWait) }
        for consumer in resumptions.consumers { consumer.resume() }
    }

    /// A scope of its own, at whose end unwanted outcomes and operations are released, before the consumer resumes.
    private func perform(_ actions: consuming Machine.Actions, _ reason: CancellationReason) {
        for run in actions.cancel { run.cancel(reason: reason) }
    }

    private func resume(_ upstreamWait: UnsafeContinuation<Void, Never>) {
        TSanAnnotations.willResume(self)
        upstreamWait.resume()
    }
}

/// The result of one task that iterates upstream.
private enum IterationResult<Upstream: AsyncSequence> {
    case ended(Upstream.Failure?)
    case goesOn(TransferredIterator<Upstream>)
}

/// An upstream iterator that one task passes on to the next.
///
/// It is `@unchecked Sendable` because the task that passes it on does not use it any more.
private struct TransferredIterator<Upstream: AsyncSequence>: @unchecked Sendable {
    var iterator: Upstream.AsyncIterator
    /// An element of upstream for which no operation was made yet.
    var element: Upstream.Element?
}
