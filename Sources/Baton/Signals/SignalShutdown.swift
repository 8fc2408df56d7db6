/// A signal by which a user or the system asks a program to end.
///
/// ```swift
/// await queue.shutdown(on: .interrupt, .terminate, within: .seconds(10))
/// ```
public struct ShutdownSignal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// `SIGINT`, which Ctrl-C sends.
    public static let interrupt = ShutdownSignal(rawValue: 2)

    /// `SIGTERM`, which `kill` sends by default, and which systemd, Docker and Kubernetes send before they end a
    /// program.
    public static let terminate = ShutdownSignal(rawValue: 15)

    /// `SIGHUP`, which a terminal sends when it is closed.
    public static let hangUp = ShutdownSignal(rawValue: 1)

    /// The number of the signal in the system.
    public let rawValue: Int32

    /// Makes a signal from its number, for example that of `SIGUSR1`.
    ///
    /// - Parameter rawValue: The number of the signal in the system.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The system's name of the signal, such as "SIGINT", or its number.
    public var description: String {
        switch self {
        case .interrupt: "SIGINT"
        case .terminate: "SIGTERM"
        case .hangUp: "SIGHUP"
        default: "signal \(rawValue)"
        }
    }
}

// MARK: - Shutting down

extension AsyncOperationQueue {
    /// Waits for one of these signals, shuts the queue down, and returns when every operation has finished.
    ///
    /// ```swift
    /// let queue = AsyncOperationQueue()
    /// queue.add(AsyncOperation(Server()))
    /// await queue.shutdown(on: .interrupt, .terminate, within: .seconds(10))
    /// ```
    ///
    /// Use this in a program that works until somebody ends it, with Ctrl-C for example. A program that ends when its
    /// work is done calls ``drain()`` or ``shutdown(within:clock:)``.
    ///
    /// - **First signal.** The queue takes no more operations, and those that are in it go on, as with ``drain()``.
    /// - **Second signal, or end of the limit.** Every operation is cancelled, and the queue takes no more operations,
    ///   not even from bodies. The call still waits for bodies that ignore their cancellation.
    /// - **Cancelled callers.** If the calling task is cancelled, every operation is cancelled immediately, as in
    ///   ``shutdown(within:clock:)``.
    /// - **Other calls.** After a call of ``drain()`` or ``shutdown(within:clock:)``, this call no longer waits for a
    ///   signal, but returns when the queue is idle. Signals that arrive before that still have their effect.
    /// - **Other effects of the signals.** Until this call returns or the second signal has arrived, the signals do
    ///   nothing else, even if the program ignored them before. Then their previous disposition is restored: a third
    ///   Ctrl-C ends the program, as the first one would have done. A signal reaches every call that waits for it, also
    ///   those for other queues.
    ///
    /// The method may be called anywhere, also at the top level of `main.swift`. It blocks no thread of the program and
    /// does not use Dispatch. Calling it in a body or a handler of this queue is ``Misuse`` and changes nothing.
    ///
    /// - Parameters:
    ///   - first: A signal to wait for. A signal that no program can catch, such as `SIGKILL`, or that reports a fault,
    ///     such as `SIGSEGV`, is ``Misuse`` and is ignored. If no signal is left, the call returns immediately and
    ///     changes nothing.
    ///   - more: Further signals to wait for, under the same conditions.
    ///   - limit: The time that the operations have after the first signal. Zero cancels them immediately. A negative
    ///     limit is ``Misuse`` and counts as zero.
    ///   - clock: The clock that measures `limit`.
    ///   - onSignal: Called with the first signal after the queue has stopped taking operations, and with the second
    ///     signal, for example to print "finishing; once more to stop". It runs on tasks that no body can block, and
    ///     nothing waits for it.
    /// - Returns: The first signal that has arrived. Nil if none has, because the calling task was cancelled or the
    ///   queue was shut down elsewhere.
    @discardableResult
    public func shutdown<C: Clock>(
        on first: ShutdownSignal, _ more: ShutdownSignal..., within limit: Duration, clock: C = ContinuousClock(),
        file: StaticString = #fileID, line: UInt = #line,
        onSignal: @escaping @Sendable (_ signal: ShutdownSignal) -> Void = { _ in }
    ) async -> ShutdownSignal? where C.Duration == Duration {
        if refusesToWaitForItself(in: "shutdown") { return nil }
        let core = core
        let shutdown = SignalShutdown(of: core, on: [first] + more, within: limit, TimeSource(clock), onSignal)
        let problems = shutdown.subscribe()
        for problem in problems {
            core.report(Misuse(problem, queue: name, callSite: CallSite(file: file, line: line)))
        }
        if problems.count > more.count { return nil }
        if limit < .zero {
            let callSite = CallSite(file: file, line: line)
            core.report(Misuse(.negativeDuration("the time to shut down"), queue: name, callSite: callSite))
        }
        await withTaskCancellationHandler {
            await core.waitUntilIdleReleasingPermit(.endOfLaterShutdown)
        } onCancel: {
            core.cutOff()
        }
        return shutdown.finish()
    }
}

/// One call of `shutdown(on:within:)`. The thread that reads signals calls `signalArrived(_:)`. The effects of a signal
/// are performed on a task, because cancellations may run handlers of the user.
final class SignalShutdown: Sendable {
    private struct State {
        var machine = SignalShutdownStateMachine()
        /// The task that closes the queue and then waits for the limit.
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

    /// Subscribes to the signals. Returns the misuse for each signal that cannot be caught.
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
            core.services.spawn { self.onSignal(signal) }
            core.taskFactory.background.spawn { self.core.cutOff() }
        }
    }

    private func drain(after signal: ShutdownSignal) {
        let task = core.taskFactory.background.spawn {
            self.core.shutDown(to: .draining)
            self.core.services.spawn { self.onSignal(signal) }
            if self.limit <= .zero { return self.core.cutOff() }
            if (try? await self.time.sleep(for: self.limit)) != nil { self.core.cutOff() }
        }
        let isOver = state.withLock { state in
            if !state.machine.isFinished { state.draining = task }
            return state.machine.isFinished
        }
        if isOver { task.cancel() }
    }

    /// Ends the shutdown after every operation has finished. Returns the first signal that has arrived.
    func finish() -> ShutdownSignal? {
        unsubscribe()
        let (signal, draining) = state.withLock { ($0.machine.finish(), $0.draining.take()) }
        draining?.cancel()
        return signal
    }
}

/// The progress of a shutdown by signals. A pure value.
struct SignalShutdownStateMachine {
    private enum Phase {
        case waiting
        case draining(ShutdownSignal)
        case cancelled(first: ShutdownSignal)
        case finished
    }

    enum SignalAction {
        case none
        /// Closes the queue to operations from outside, and cancels what is left after the limit.
        case drain
        /// Unsubscribes from the signals, and cancels what is left.
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
            // A third signal arrived while the second one was being handled.
            return .none
        case .finished:
            // The signal arrived while the shutdown was finishing.
            return .none
        }
    }

    /// Notes that every operation has finished. Returns the first signal that has arrived. Must be called once.
    mutating func finish() -> ShutdownSignal? {
        defer { phase = .finished }
        switch phase {
        case .waiting: return nil
        case .draining(let first), .cancelled(let first): return first
        case .finished: preconditionFailure("Internal inconsistency: a shutdown ended twice")
        }
    }
}
