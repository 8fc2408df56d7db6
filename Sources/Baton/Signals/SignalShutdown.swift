extension AsyncOperationQueue {
    /// Waits for the first of these signals, and then shuts the queue down; returns when everything has finished.
    ///
    /// ```swift
    /// let queue = AsyncOperationQueue()
    /// queue.add(AsyncOperation(Server()))
    /// await queue.shutdown(on: .interrupt, .terminate, within: .seconds(10))
    /// ```
    ///
    /// After the first signal the queue takes no more operations, and those that are in it go on, as with ``drain()``.
    /// When the limit is over, or another of these signals comes, every operation is cancelled, and nothing more is
    /// taken, from bodies neither. A body that ignores its cancel is waited for all the same. When the calling task is
    /// cancelled, every operation is cancelled at once, as ``shutdown(within:clock:)`` does it. If ``drain()`` or
    /// ``shutdown(within:clock:)`` are called elsewhere, no signal is waited for any more; those that come meanwhile
    /// still have their effect.
    ///
    /// Until this returns, or the second signal has come, the signals do nothing else, also if the program ignored
    /// them. Then what was to happen to them before happens again: a third Ctrl-C ends the program, as the first would
    /// have done. A signal reaches everybody who waits for it, also for other queues. May be called anywhere, also at
    /// the top level of `main.swift`: it blocks no thread of the program, and needs no Dispatch. In a body or a handler
    /// of this queue it is ``Misuse``, and changes nothing.
    ///
    /// - Parameters:
    ///   - first: A signal that is waited for. One that no program can catch, such as `SIGKILL`, or that tells of a
    ///     fault, such as `SIGSEGV`, is ``Misuse``, and is not waited for. If none is left, this returns at once, and
    ///     changes nothing.
    ///   - more: Further signals, for which the same holds.
    ///   - limit: How long the operations have after the first signal. Zero or less cancels them at once.
    ///   - clock: What measures it.
    ///   - onSignal: Called with the first signal when the queue takes no more operations, and with the second one, on
    ///     tasks that no body blocks: "finishing; once more to stop". However long it takes, it delays nothing.
    /// - Returns: The first signal that has come. Nil if none has, because the calling task was cancelled or the queue
    ///   was shut down elsewhere.
    @discardableResult
    public func shutdown<C: Clock>(
        on first: ShutdownSignal, _ more: ShutdownSignal..., within limit: Duration, clock: C = ContinuousClock(),
        file: StaticString = #fileID, line: UInt = #line,
        onSignal: @escaping @Sendable (_ signal: ShutdownSignal) -> Void = { _ in }
    ) async -> ShutdownSignal? where C.Duration == Duration {
        if refusesToWaitForItself() { return nil }
        let core = core
        let shutdown = SignalShutdown(of: core, on: [first] + more, within: limit, TimeSource(clock), onSignal)
        let problems = shutdown.subscribe()
        for problem in problems {
            core.report(Misuse(problem, queue: name, callSite: CallSite(file: file, line: line)))
        }
        if problems.count > more.count { return nil }
        await withTaskCancellationHandler {
            await core.waitUntilIdleReleasingPermit(closedBefore: true)
        } onCancel: {
            core.cutOff()
        }
        return shutdown.finish()
    }
}

/// One call of `shutdown(on:within:)`. The thread that reads signals tells it of them; what follows runs on a task,
/// because it may run handlers of a cancel.
final class SignalShutdown: Sendable {
    private struct State {
        var machine = SignalShutdownStateMachine()
        /// The task that drains the queue and then waits for the limit.
        var draining: Task<Void, Never>?
    }

    private let core: QueueCore
    private let signals: [ShutdownSignal]
    private let limit: Duration
    private let time: TimeSource
    private let onSignal: @Sendable (ShutdownSignal) -> Void
    private let state = Locked(State())

    init(
        of core: QueueCore, on signals: [ShutdownSignal], within limit: Duration, _ time: TimeSource,
        _ onSignal: @escaping @Sendable (ShutdownSignal) -> Void
    ) {
        self.core = core
        self.signals = signals
        self.limit = limit
        self.time = time
        self.onSignal = onSignal
    }

    /// Returns what is wrong with the signals that cannot be waited for.
    func subscribe() -> [Misuse.Kind] {
        signals.compactMap { signal in
            SignalCenter.shared.subscribe(self, to: signal).map { .unusableSignal(signal, $0) }
        }
    }

    private func unsubscribe() {
        for signal in signals { SignalCenter.shared.unsubscribe(self, from: signal) }
    }

    func signalArrived(_ signal: ShutdownSignal) {
        switch state.withLock({ $0.machine.signalArrived(signal) }) {
        case .none: break
        case .drain: drain(after: signal)
        case .cancel:
            unsubscribe()
            core.taskFactory.background.spawn { self.onSignal(signal) }
            core.taskFactory.background.spawn { self.core.cutOff() }
        }
    }

    private func drain(after signal: ShutdownSignal) {
        let task = core.taskFactory.background.spawn {
            self.core.close(.toOutside)
            self.core.taskFactory.background.spawn { self.onSignal(signal) }
            if self.limit <= .zero { return self.core.cutOff() }
            if (try? await self.time.sleep(for: self.limit)) != nil { self.core.cutOff() }
        }
        let isOver = state.withLock { state in
            if !state.machine.isFinished { state.draining = task }
            return state.machine.isFinished
        }
        if isOver { task.cancel() }
    }

    /// Everything has finished. Returns the first signal that came.
    func finish() -> ShutdownSignal? {
        unsubscribe()
        let (signal, draining) = state.withLock { ($0.machine.finish(), $0.draining.take()) }
        draining?.cancel()
        return signal
    }
}

/// How far a shutdown by signals has come. Pure.
struct SignalShutdownStateMachine {
    private enum Phase {
        case waiting
        case draining(ShutdownSignal)
        case cancelled(first: ShutdownSignal)
        case finished
    }

    enum SignalAction {
        case none
        /// Close the queue, and cancel what is left after the limit.
        case drain
        /// Wait for no more signals, and cancel what is left.
        case cancel
    }

    private var phase = Phase.waiting

    var isFinished: Bool {
        switch phase {
        case .waiting, .draining, .cancelled: false
        case .finished: true
        }
    }

    mutating func signalArrived(_ signal: ShutdownSignal) -> SignalAction {
        switch phase {
        case .waiting:
            phase = .draining(signal)
            return .drain
        case .draining(let first):
            phase = .cancelled(first: first)
            return .cancel
        case .cancelled:
            // The third signal came while the second one was looked at.
            return .none
        case .finished:
            // The signal and the end of the shutdown crossed.
            return .none
        }
    }

    /// Everything has finished. Returns the first signal that came. To be called once.
    mutating func finish() -> ShutdownSignal? {
        defer { phase = .finished }
        switch phase {
        case .waiting: return nil
        case .draining(let first), .cancelled(let first): return first
        case .finished: preconditionFailure("Internal inconsistency: a shutdown ended twice")
        }
    }
}
