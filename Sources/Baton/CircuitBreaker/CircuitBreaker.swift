/// A condition that stops operations from calling a service that has failed too often, and tries the service again
/// later.
///
/// ```swift
/// let breaker = CircuitBreaker("partner API", failures: 5, retryAfter: .seconds(30))
/// for call in calls { call.addCondition(breaker) }
/// ```
///
/// While the breaker is closed, it lets every operation run and records how it ends. When too many in a row have
/// failed, the breaker opens: operations that ask it fail at once, with a ``CircuitOpenError`` as the cause of
/// ``OperationError/conditionFailed(condition:cause:)``. After `retryAfter` the next operation runs as a trial. While
/// the trial runs, all other operations still fail. If the trial succeeds, the breaker closes; if it fails, the breaker
/// opens again.
///
/// A failure is the outcome of a body that has run: an error, a time limit or failed children. Operations that were
/// cancelled, skipped or kept from running do not count. If a trial ends in this way, or is released without having
/// run, the next operation becomes the trial. The outcome of an operation that was admitted before the last change of
/// the state does not count either. Conditions are evaluated before the queue has a permit for the body, so a few
/// admitted operations may still run after the breaker has opened.
///
/// An operation counts once, when its outcome is decided and before anybody sees it, however many attempts its
/// ``AnyOperation/retry(_:attempts:deadline:file:line:)`` makes. Conditions are evaluated once, so further attempts are
/// made even if the breaker has opened. To have each attempt counted and stopped, retry an operation whose body makes
/// an operation with this condition and runs it with ``OperationContext/run(_:)``.
///
/// The time is measured on the clock of the queue whose operation has opened the breaker. If that clock jumps back,
/// the open period starts over. A breaker may be the condition of any number of operations on any queues, and part of a
/// combination made with ``OperationCondition/and(_:)``. Add it only to the operation that calls the service, and not
/// also to an operation that runs this one as a child or in a group: the trial's own child would be refused, because
/// the trial has not ended. An operation whose body fails with a ``CircuitOpenError`` does not count.
///
/// The pattern is that of Michael Nygard's "Release It!", known from Polly and resilience4j.
///
/// - Complexity: O(1) for each operation.
public final class CircuitBreaker: OperationCondition {
    /// The state of a breaker, which decides whether operations may run.
    @nonexhaustive
    public enum State: Sendable, Hashable {
        /// All operations may run.
        case closed
        /// No operation may run until `retryAfter` has passed.
        case open
        /// One operation may run or is running as a trial. An open breaker becomes half-open when the first operation
        /// asks it after `retryAfter` has passed.
        case halfOpen
    }

    private struct Storage {
        var machine: CircuitStateMachine
        /// The clock that measures the open time; nil if the breaker has never been open.
        var time: TimeSource?
        /// The operations that the breaker has admitted and that have not ended. An operation with the breaker in two
        /// of its conditions asks twice, and counts once.
        var admitted: Set<ObjectIdentifier> = []
        var waiters: [UInt64: UnsafeContinuation<Void, Never>] = [:]
        var lastWaiter: UInt64 = 0

        /// Takes the waiters in the order in which they came, if the state has changed since `number`.
        mutating func takeWaiters(ifChangedSince number: UInt64) -> [UnsafeContinuation<Void, Never>] {
            if machine.changeCount == number || waiters.isEmpty { return [] }
            defer { waiters = [:] }
            return waiters.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// The name of the service that the breaker protects, for errors and explanations.
    public let circuit: String
    private let storage: Locked<Storage>
    private let isFailure: @Sendable (OperationError) -> Bool

    /// Makes a breaker that is closed.
    ///
    /// - Parameters:
    ///   - circuit: The name of the service that the breaker protects. Two breakers with the same name are independent.
    ///   - failures: The number of failures in a row after which the breaker opens. A number below 1 is ``Misuse``,
    ///     which is written to standard error, and counts as 1.
    ///   - retryAfter: How long the breaker stays open before it allows a trial. A negative duration is ``Misuse`` and
    ///     counts as zero.
    ///   - isFailure: Returns whether this error means that the service does not work. Otherwise the operation counts
    ///     as a success, because the service has answered. Called on a task of the operation's queue, before the
    ///     outcome of the operation is published.
    public convenience init(
        _ circuit: String, failures: Int, retryAfter: Duration, file: StaticString = #fileID, line: UInt = #line,
        countingIf isFailure: @escaping @Sendable (_ error: OperationError) -> Bool = { _ in true }
    ) {
        self.init(
            circuit, failures: failures, retryAfter: retryAfter, CallSite(file: file, line: line), isFailure,
            onMisuse: Misuse.writeToStandardError)
    }

    init(
        _ circuit: String, failures: Int, retryAfter: Duration, _ callSite: CallSite,
        _ isFailure: @escaping @Sendable (OperationError) -> Bool, onMisuse: (Misuse) -> Void
    ) {
        if failures < 1 { onMisuse(Misuse(.invalidFailureCount(circuit: circuit, failures), callSite: callSite)) }
        if retryAfter < .zero {
            let what = "the time after which the circuit breaker ‘\(circuit)’ allows a trial"
            onMisuse(Misuse(.negativeDuration(what), callSite: callSite))
        }
        self.circuit = circuit
        self.isFailure = isFailure
        let machine = CircuitStateMachine(failures: max(1, failures), openTime: max(.zero, retryAfter.bounded))
        storage = Locked(Storage(machine: machine))
    }

    /// "circuit breaker", followed by the name of the service.
    public var name: String { "circuit breaker \(circuit)" }

    /// The current state.
    public var state: State { storage.withLock { $0.machine.state } }

    /// The current state and each later one. An iterator that falls behind gets only the newest state.
    ///
    /// ```swift
    /// for await state in breaker.states { banner.isHidden = state == .closed }
    /// ```
    public var states: CircuitBreakerStates { CircuitBreakerStates(breaker: self) }

    /// Returns ``ConditionResult/satisfied`` if the breaker lets `operation` run, and then records how the operation
    /// ends.
    ///
    /// - Parameter operation: The operation that is about to run.
    /// - Throws: ``CircuitOpenError`` if the breaker is open, or half-open with a trial that has not ended.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        let time = operation.core?.time ?? Self.fallback
        let id = ObjectIdentifier(operation)
        switch ask(for: id) {
        case nil: return .satisfied
        case .refuse(let timeLeft)?: throw CircuitOpenError(circuit: circuit, timeUntilTrial: timeLeft)
        case .admit(let permit)?:
            let admitted = AdmittedOperation(of: self, permit, id, time)
            // This comes before the outcome is published, so that operations that run after this one find the breaker
            // updated.
            operation.addHandlerBeforeFinish { admitted.end(as: $0.verdict(countingIf: admitted.breaker.isFailure)) }
            return .satisfied
        }
    }

    /// The clock of an operation that is in no queue.
    private static let fallback = TimeSource(ContinuousClock())

    private enum Answer {
        case answered(CircuitStateMachine.AskAction, Waiters)
        case admittedBefore
        /// Another thread has changed the state since the clock was chosen.
        case stateChanged
    }

    /// Asks whether the operation may run. Returns nil if it was admitted before.
    private func ask(for operation: ObjectIdentifier) -> CircuitStateMachine.AskAction? {
        while true {
            let (time, changes) = storage.withLock { ($0.time, $0.machine.changeCount) }
            // The clock is the user's code, so it is read outside the lock.
            let now = time?.now ?? .zero
            let answer = storage.withLock { storage -> Answer in
                if storage.admitted.contains(operation) { return .admittedBefore }
                // Start over if another thread has changed the state: another clock may now measure the time.
                if storage.machine.changeCount != changes { return .stateChanged }
                let action = storage.machine.ask(at: now)
                if case .admit = action { storage.admitted.insert(operation) }
                return .answered(action, storage.takeWaiters(ifChangedSince: changes))
            }
            switch answer {
            case .stateChanged: continue
            case .admittedBefore: return nil
            case .answered(let action, let waiters):
                resume(waiters)
                return action
            }
        }
    }

    fileprivate func end(
        _ permit: CircuitStateMachine.Permit, of operation: ObjectIdentifier, as verdict: CircuitStateMachine.Verdict,
        _ time: TimeSource
    ) {
        // Only a failure can open the breaker. Otherwise the clock, which is the user's code, is not read, because the
        // last reference to an operation may be released anywhere.
        let now = verdict == .failure ? time.now : .zero
        let (former, waiters) = storage.withLock { storage -> (TimeSource?, Waiters) in
            let changes = storage.machine.changeCount
            storage.admitted.remove(operation)
            storage.machine.end(permit, as: verdict, at: now)
            // The former clock is released after unlocking.
            var former: TimeSource?
            if storage.machine.changeCount != changes, storage.machine.state == .open {
                former = storage.time
                storage.time = time
            }
            return (former, storage.takeWaiters(ifChangedSince: changes))
        }
        resume(waiters)
        withExtendedLifetime(former) {}
    }

    /// The permit of an admitted operation. It ends with the operation, or when it is released; the machine ignores the
    /// second end.
    private final class AdmittedOperation: Sendable {
        let breaker: CircuitBreaker
        private let permit: CircuitStateMachine.Permit
        /// The operation owns this object, so its address cannot be reused while this object exists.
        private let operation: ObjectIdentifier
        private let time: TimeSource

        init(
            of breaker: CircuitBreaker, _ permit: CircuitStateMachine.Permit, _ operation: ObjectIdentifier,
            _ time: TimeSource
        ) {
            self.breaker = breaker
            self.permit = permit
            self.operation = operation
            self.time = time
        }

        func end(as verdict: CircuitStateMachine.Verdict) { breaker.end(permit, of: operation, as: verdict, time) }

        deinit { breaker.end(permit, of: operation, as: .nothing, time) }
    }

    // MARK: Observing the state

    private typealias Waiters = [UnsafeContinuation<Void, Never>]

    private func resume(_ waiters: Waiters) {
        for waiter in waiters { waiter.resume() }
    }

    /// Returns the newest state and its number, or nil if `number` is the number of the newest state.
    func state(after number: UInt64?) -> (state: State, number: UInt64)? {
        storage.withLock { storage in
            let newest = storage.machine.changeCount
            return newest == number ? nil : (storage.machine.state, newest)
        }
    }

    /// Returns when the number of the newest state is not `number`, or when the task is cancelled.
    func waitForChange(after number: UInt64?) async {
        let id = storage.withLock { storage in
            storage.lastWaiter += 1
            return storage.lastWaiter
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let waits = storage.withLock { storage in
                    if storage.machine.changeCount != number { return false }
                    storage.waiters[id] = continuation
                    return true
                }
                if !waits { return continuation.resume() }
                // A cancellation that came before the continuation was stored has found nobody to resume.
                if Task.isCancelled { stopWaiting(id) }
            }
        } onCancel: {
            stopWaiting(id)
        }
    }

    private func stopWaiting(_ id: UInt64) {
        storage.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
}

extension AnyOperation {
    /// The verdict on the service that the operation calls. The outcome of the operation has been decided.
    fileprivate final func verdict(
        countingIf isFailure: (OperationError) -> Bool
    ) -> CircuitStateMachine.Verdict {
        guard let failure else { return .success }
        if !withLife({ $0.hasBegun }) || failure.stage != .execution { return .nothing }
        // A breaker, perhaps this one, has refused an operation that the body ran, so the service was not called.
        if failure.underlyingError is CircuitOpenError { return .nothing }
        return isFailure(failure) ? .failure : .success
    }
}

/// The error of an operation that did not run because the ``CircuitBreaker`` of its service is open or awaits a trial.
public struct CircuitOpenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the service that the breaker protects.
    public let circuit: String
    /// The time after which an operation may run as a trial; nil while a trial is running.
    public let timeUntilTrial: Duration?

    /// A description on one line of why operations may not run, and for how long.
    public var description: String {
        let state = timeUntilTrial.map { "open, and allows a trial in \(ExplanationFormatter.text($0))" }
        return "the circuit ‘\(circuit)’ is \(state ?? "half open, and waits for the end of a trial")".singleLine
    }
}

/// The states of a ``CircuitBreaker`` as they change. See ``CircuitBreaker/states``.
///
/// An iterator returns the current state, and then on each call the newest state that has come since the last call; it
/// waits until there is one. It ends when the task that iterates is cancelled. Iterators are independent of one another
/// and run on the isolation of their callers. A slow iterator delays nothing, and misses the states that came in
/// between.
public struct CircuitBreakerStates: AsyncSequence, Sendable {
    /// The state of the breaker.
    public typealias Element = CircuitBreaker.State
    /// The sequence does not throw.
    public typealias Failure = Never

    let breaker: CircuitBreaker

    /// Returns an iterator that begins with the current state. May be called any number of times.
    public func makeAsyncIterator() -> Iterator { Iterator(breaker: breaker) }

    /// An iterator over the states of a breaker.
    public struct Iterator: AsyncIteratorProtocol {
        let breaker: CircuitBreaker
        private var number: UInt64?
        private var isOver = false

        init(breaker: CircuitBreaker) { self.breaker = breaker }

        /// Returns the newest state that has come since the last call. Returns nil as soon as the task is cancelled,
        /// and on every call after that.
        ///
        /// - Parameter actor: The actor to which the call is isolated, by default that of the caller.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> CircuitBreaker.State? {
            while !isOver, !Task.isCancelled {
                if let (state, number) = breaker.state(after: number) {
                    self.number = number
                    return state
                }
                await breaker.waitForChange(after: number)
            }
            isOver = true
            return nil
        }
    }
}
