/// A condition that stops operations from calling a service that has failed too often, and tries the service again
/// later.
///
/// ```swift
/// let breaker = CircuitBreaker("partner API", failures: 5, retryAfter: .seconds(30))
/// for call in calls { call.addCondition(breaker) }
/// ```
///
/// Keep one breaker for each service. The name is not shared as that of an ``Exclusion`` or a ``Rate`` is, so a breaker
/// that is made for each call sees no more than one failure, and does not open.
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
/// the state does not count either.
///
/// An operation that also has an exclusion, a limit or a rate, or that is a child of a group with a
/// `maxConcurrentOperationCount`, asks the breaker twice. Before it waits, an open breaker fails it at once. After it
/// has waited, and right before its body runs, the breaker admits it, perhaps as the trial, or refuses it with the same
/// error. So of a thousand operations with `.limited("partner API", to: 1)`, no further one runs after the breaker has
/// opened. An operation that is refused after its waits releases its exclusions at once, and its start does not count
/// in its rates. The breaker alone is asked again: a condition that is joined with it by
/// ``OperationCondition/or(_:)`` is not, and ``OperationError/conditionFailed(condition:cause:)`` then names the
/// breaker.
///
/// An operation without any of these is admitted when its conditions are evaluated, before it has a permit. Those that
/// were admitted still run after the breaker has opened: about as many as the queue is wide, or more if another
/// condition of theirs takes long.
///
/// An operation counts once, when its outcome is decided and before anybody sees it, however many attempts its
/// ``AnyOperation/retry(_:attempts:deadline:file:line:)`` makes. Only the first attempt asks the breaker, so further
/// attempts are made even if it has opened. To have each attempt counted and stopped, retry an operation whose body
/// makes an operation with this condition and runs it with ``OperationContext/run(_:file:line:)``.
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
        var clock: TimeSource?
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
            let what = "the time after which the circuit breaker \(circuit.quoted) allows a trial"
            onMisuse(Misuse(.negativeDuration(what), callSite: callSite))
        }
        self.circuit = circuit
        self.isFailure = isFailure
        let machine = CircuitStateMachine(failures: max(1, failures), openTime: max(.zero, retryAfter.bounded))
        storage = Locked(Storage(machine: machine))
    }

    /// "circuit breaker", followed by the name of the service.
    public var name: String { circuit.isBlank ? "circuit breaker" : "circuit breaker \(circuit)" }

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
    /// If the operation has exclusions or rates, this call only looks at the state. The breaker then admits or refuses
    /// the operation after its waits, right before its body runs.
    ///
    /// - Parameter operation: The operation that is about to run.
    /// - Throws: ``CircuitOpenError`` if the breaker is open, or half-open with a trial that has not ended.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        if operation.waitsAfterConditions {
            if let refusal = look(for: ObjectIdentifier(operation)) { throw refusal }
            operation.deferAdmission(by: self)
        } else if let refusal = admit(operation) {
            throw refusal
        }
        return .satisfied
    }

    /// Admits an operation whose body would run next, and records how it ends. Returns the error of one that is
    /// refused.
    func admit(_ operation: AnyOperation) -> CircuitOpenError? {
        let clock = operation.timeOfQueue ?? Self.fallback
        let id = ObjectIdentifier(operation)
        switch ask(for: id) {
        case nil: return nil
        case .refuse(let timeLeft)?: return CircuitOpenError(circuit: circuit, timeUntilTrial: timeLeft)
        case .admit(let admission)?:
            let admitted = AdmittedOperation(of: self, admission, id, clock)
            // The handler runs before the outcome is published, so that operations that run after this one find the
            // breaker updated.
            operation.addHandlerBeforeFinish { admitted.end(as: $0.verdict(countingIf: admitted.breaker.isFailure)) }
            return nil
        }
    }

    /// The clock of an operation that is in no queue.
    private static let fallback = TimeSource(ContinuousClock())

    /// Asks whether the operation may run. Returns nil if it was admitted before.
    private func ask(for operation: ObjectIdentifier) -> CircuitStateMachine.AskAction? {
        let (action, waiters) = decide { storage, now -> (CircuitStateMachine.AskAction?, Waiters) in
            if storage.admitted.contains(operation) { return (nil, []) }
            let changes = storage.machine.changeCount
            let action = storage.machine.ask(at: now)
            if case .admit = action { storage.admitted.insert(operation) }
            return (action, storage.takeWaiters(ifChangedSince: changes))
        }
        resume(waiters)
        return action
    }

    /// Looks whether an operation that still has to wait would be admitted now. Returns the error if it would not.
    private func look(for operation: ObjectIdentifier) -> CircuitOpenError? {
        let action = decide { storage, now in
            storage.admitted.contains(operation) ? .pass : storage.machine.look(at: now)
        }
        return if case .refuse(let timeLeft) = action {
            CircuitOpenError(circuit: circuit, timeUntilTrial: timeLeft)
        } else {
            nil
        }
    }

    /// Calls `decision` under the lock, with the time on the clock that measures the open time.
    private func decide<Action>(_ decision: (inout Storage, _ now: Duration) -> Action) -> Action {
        while true {
            let (clock, changes) = storage.withLock { ($0.clock, $0.machine.changeCount) }
            // The clock is the user's code, so it is read outside the lock.
            let now = clock?.now ?? .zero
            let action = storage.withLock { storage -> Action? in
                // Start over if another thread has changed the state: another clock may now measure the time.
                storage.machine.changeCount == changes ? decision(&storage, now) : nil
            }
            if let action { return action }
        }
    }

    fileprivate func end(
        _ admission: CircuitStateMachine.Admission, of operation: ObjectIdentifier,
        as verdict: CircuitStateMachine.Verdict, _ clock: TimeSource
    ) {
        // Only a failure can open the breaker. Other verdicts may come from a `deinit` on any thread, where the user's
        // code must not run, so the clock is not read for them.
        let now = verdict == .failure ? clock.now : .zero
        let (former, waiters) = storage.withLock { storage -> (TimeSource?, Waiters) in
            let changes = storage.machine.changeCount
            storage.admitted.remove(operation)
            storage.machine.end(admission, as: verdict, at: now)
            // The former clock is released after unlocking.
            var former: TimeSource?
            if storage.machine.changeCount != changes, storage.machine.state == .open {
                former = storage.clock
                storage.clock = clock
            }
            return (former, storage.takeWaiters(ifChangedSince: changes))
        }
        resume(waiters)
        withExtendedLifetime(former) {}
    }

    /// The admission of an operation. It ends when the operation finishes or is released; the machine ignores the
    /// second end.
    private final class AdmittedOperation: Sendable {
        let breaker: CircuitBreaker
        private let admission: CircuitStateMachine.Admission
        /// The operation owns this object, so the operation's address cannot be reused while this object exists.
        private let operation: ObjectIdentifier
        private let clock: TimeSource

        init(
            of breaker: CircuitBreaker, _ admission: CircuitStateMachine.Admission, _ operation: ObjectIdentifier,
            _ clock: TimeSource
        ) {
            self.breaker = breaker
            self.admission = admission
            self.operation = operation
            self.clock = clock
        }

        func end(as verdict: CircuitStateMachine.Verdict) { breaker.end(admission, of: operation, as: verdict, clock) }

        deinit { breaker.end(admission, of: operation, as: .nothing, clock) }
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
    /// True if the conditions of the operation are being evaluated, and it waits for exclusions or rates afterwards.
    fileprivate final var waitsAfterConditions: Bool {
        withLifecycle { life in
            life.phase == .evaluating && life.borrowedOptionalState?.use { $0.preconditions.hasResources } ?? false
        }
    }

    /// Has the breaker asked for the operation's admission after its waits. Called while the conditions are evaluated.
    fileprivate final func deferAdmission(by breaker: CircuitBreaker) {
        withLifecycle { $0.optionalState?.preconditions.deferAdmission(by: breaker) }
    }

    /// The verdict on the service that the operation calls. Call it only when the outcome has been decided.
    fileprivate final func verdict(
        countingIf isFailure: (OperationError) -> Bool
    ) -> CircuitStateMachine.Verdict {
        guard let failure else { return .success }
        if !withLifecycle({ $0.hasBegun }) || failure.stage != .execution { return .nothing }
        // A breaker, perhaps this one, has refused an operation that the body ran, so the service was not called.
        if failure.underlyingError is CircuitOpenError { return .nothing }
        return isFailure(failure) ? .failure : .success
    }
}

/// The error of an operation that did not run because the ``CircuitBreaker`` of its service is open, or half-open with
/// a trial that has not ended.
public struct CircuitOpenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the service that the breaker protects.
    public let circuit: String
    /// The time after which an operation may run as a trial; nil while a trial is running.
    public let timeUntilTrial: Duration?

    /// A description on one line of why operations may not run, and for how long.
    public var description: String {
        let state = timeUntilTrial.map { "open, and allows a trial in \(ExplanationFormatter.text($0))" }
        let name = circuit.isBlank ? "" : " \(circuit.quoted)"
        return "the circuit\(name) is \(state ?? "half open, and waits for the end of a trial")".singleLine
    }
}

/// The states of a ``CircuitBreaker`` as they change. See ``CircuitBreaker/states``.
///
/// An iterator returns the current state, and then on each call the newest state that has come since the last call; it
/// waits until there is one. It ends when the task that iterates is cancelled. Iterators are independent of one another
/// and run in the isolation domain of their callers. A slow iterator delays nothing, and misses the states that came in
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
        private var hasEnded = false

        init(breaker: CircuitBreaker) { self.breaker = breaker }

        /// Returns the newest state that has come since the last call. Returns nil as soon as the task is cancelled,
        /// and on every call after that.
        ///
        /// - Parameter actor: The actor to which the call is isolated, by default that of the caller.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> CircuitBreaker.State? {
            while !hasEnded, !Task.isCancelled {
                if let (state, number) = breaker.state(after: number) {
                    self.number = number
                    return state
                }
                await breaker.waitForChange(after: number)
            }
            hasEnded = true
            return nil
        }
    }
}

extension CircuitBreaker: CustomStringConvertible {
    /// The name of the service and the state, such as "circuit breaker ‘partner API’ (half open)".
    public var description: String {
        let word =
            switch state {
            case .closed: "closed"
            case .open: "open"
            case .halfOpen: "half open"
            }
        return "circuit breaker\(circuit.isBlank ? "" : " \(circuit.quoted)") (\(word))"
    }
}
