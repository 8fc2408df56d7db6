/// A condition that stops operations from calling a service that has failed too often, and tries it again after some
/// time.
///
/// ```swift
/// let breaker = CircuitBreaker("partner API", failures: 5, retryAfter: .seconds(30))
/// for call in calls { call.addCondition(breaker) }
/// ```
///
/// While the breaker is closed it lets every operation run, and notes how those that it lets run end. When so many in a
/// row have failed it opens: the operations that it is asked for fail at once, with a ``CircuitOpenError`` as the cause
/// of ``OperationError/conditionFailed(condition:cause:)``. When the time has passed, the next operation is a trial.
/// Until that has ended, all others fail as before. A trial that succeeds closes the breaker, and one that fails opens
/// it again.
///
/// A failure is an outcome of a body that has run: an error, a time limit, failed children. One operation counts once,
/// when its outcome is decided and before anybody sees it, whatever its
/// ``AnyOperation/retry(_:attempts:deadline:file:line:)`` has tried: conditions are evaluated once, so further attempts
/// are made although the breaker has opened. To have each attempt counted and stopped, make the operation with this
/// condition in the body of one that is retried, and run it with ``OperationContext/run(_:)``. Operations that were
/// cancelled, skipped or kept from running count as nothing; a trial that ends so gives its permission to the next
/// operation. So do trials that were released without having been run. How an operation ends that was let run before
/// the last change of the state counts as nothing, either: conditions are evaluated before the queue has a permit for
/// the body, so a few operations that were let run may run when the breaker has opened.
///
/// The time is that of the clock of the queue whose operation has opened the breaker. If that clock goes back, the time
/// begins again. One breaker may be the condition of any number of operations, on any queues, and also be part of a
/// combination with ``OperationCondition/and(_:)``. Give it to the operation that calls the service, once, and not also
/// to one that runs that as a child or in a group: a trial's own child would be refused, because the trial has not
/// ended. An operation whose body fails with a ``CircuitOpenError`` counts as nothing.
///
/// The pattern is that of Michael Nygard's "Release It!", known from Polly and resilience4j.
///
/// - Complexity: O(1) for each operation.
public final class CircuitBreaker: OperationCondition {
    /// Whether operations may run.
    @nonexhaustive
    public enum State: Sendable, Hashable {
        /// All may.
        case closed
        /// None may, before the time has passed.
        case open
        /// One may, or runs, as a trial. The breaker is open until the first operation asks after the time has passed.
        case halfOpen
    }

    private struct Storage {
        var machine: CircuitStateMachine
        /// By which the open time is measured. Nil: the breaker has never been open.
        var time: TimeSource?
        /// The breaker has let these run, and they have not ended: one that asks again, because it has the breaker in
        /// two of its conditions, is not another operation.
        var admitted: Set<ObjectIdentifier> = []
        var waiters: [UInt64: UnsafeContinuation<Void, Never>] = [:]
        var lastWaiter: UInt64 = 0

        /// In the order in which they came.
        mutating func takeWaiters(ifChangedSince number: UInt64) -> [UnsafeContinuation<Void, Never>] {
            if machine.changeCount == number || waiters.isEmpty { return [] }
            defer { waiters = [:] }
            return waiters.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// The service that it protects, for errors and explanations.
    public let circuit: String
    private let storage: Locked<Storage>
    private let isFailure: @Sendable (OperationError) -> Bool

    /// Makes a breaker that is closed.
    ///
    /// - Parameters:
    ///   - circuit: What it protects. Two breakers with one name have nothing to do with each other.
    ///   - failures: After so many in a row it opens. Less than 1 is ``Misuse``, written to standard error, and counts
    ///     as 1.
    ///   - retryAfter: How long it stays open before it allows a trial. Negative is ``Misuse`` and counts as zero.
    ///   - isFailure: Whether this error means that the service does not work. If not, it counts as a success: the
    ///     service has answered. Called on a task of the operation's queue, before its outcome is published.
    public convenience init(
        _ circuit: String, failures: Int, retryAfter: Duration, file: StaticString = #fileID, line: UInt = #line,
        countingIf isFailure: @escaping @Sendable (_ error: OperationError) -> Bool = { _ in true }
    ) {
        self.init(
            circuit, failures: failures, retryAfter: retryAfter, CallSite(file: file, line: line), isFailure,
            onMisuse: Misuse.complain)
    }

    init(
        _ circuit: String, failures: Int, retryAfter: Duration, _ place: CallSite,
        _ isFailure: @escaping @Sendable (OperationError) -> Bool, onMisuse: (Misuse) -> Void
    ) {
        if failures < 1 { onMisuse(Misuse(.invalidFailureCount(circuit: circuit, failures), callSite: place)) }
        if retryAfter < .zero {
            let what = "the time after which the circuit breaker ‘\(circuit)’ allows a trial"
            onMisuse(Misuse(.negativeDuration(what), callSite: place))
        }
        self.circuit = circuit
        self.isFailure = isFailure
        let machine = CircuitStateMachine(failures: max(1, failures), openTime: max(.zero, retryAfter.bounded))
        storage = Locked(Storage(machine: machine))
    }

    /// "circuit breaker", and the name of what it protects.
    public var name: String { "circuit breaker \(circuit)" }

    /// Whether operations may run, at this moment.
    public var state: State { storage.withLock { $0.machine.state } }

    /// The state of now, and each later one: the newest only, never a backlog.
    ///
    /// ```swift
    /// for await state in breaker.states { banner.isHidden = state == .closed }
    /// ```
    public var states: CircuitBreakerStates { CircuitBreakerStates(breaker: self) }

    /// Satisfied if the breaker lets `operation` run; notes how it ends then.
    ///
    /// - Throws: ``CircuitOpenError``.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        let time = operation.core?.time ?? Self.fallback
        let id = ObjectIdentifier(operation)
        switch ask(for: id) {
        case nil: return .satisfied
        case .refuse(let timeLeft)?: throw CircuitOpenError(circuit: circuit, timeUntilTrial: timeLeft)
        case .admit(let permit)?:
            let admission = Admission(of: self, permit, id, time)
            // Before the outcome is published: what comes after the operation finds what it has meant.
            operation.addHandlerBeforeFinish { admission.end(as: $0.verdict(countingIf: admission.breaker.isFailure)) }
            return .satisfied
        }
    }

    /// For an operation that is in no queue.
    private static let fallback = TimeSource(ContinuousClock())

    /// Nil: this operation was let run already.
    private func ask(for operation: ObjectIdentifier) -> CircuitStateMachine.AskAction? {
        while true {
            let (time, changes) = storage.withLock { ($0.time, $0.machine.changeCount) }
            // The clock is the user's, and asked outside the lock.
            let now = time?.now ?? .zero
            let answer = storage.withLock { storage -> (CircuitStateMachine.AskAction?, Waiters)? in
                if storage.admitted.contains(operation) { return (nil, []) }
                // Another clock may measure the time now.
                if storage.machine.changeCount != changes { return nil }
                let action = storage.machine.ask(at: now)
                if case .admit = action { storage.admitted.insert(operation) }
                return (action, storage.takeWaiters(ifChangedSince: changes))
            }
            guard let (action, waiters) = answer else { continue }
            resume(waiters)
            return action
        }
    }

    fileprivate func end(
        _ permit: CircuitStateMachine.Permit, of operation: ObjectIdentifier, as verdict: CircuitStateMachine.Verdict,
        _ time: TimeSource
    ) {
        let now = time.now
        let (former, waiters) = storage.withLock { storage -> (TimeSource?, Waiters) in
            let changes = storage.machine.changeCount
            storage.admitted.remove(operation)
            storage.machine.end(permit, as: verdict, at: now)
            // Released after unlocking.
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

    /// The permit of an operation that may run. It ends once, with the operation or when nobody has it any more.
    private final class Admission: Sendable {
        let breaker: CircuitBreaker
        private let permit: CircuitStateMachine.Permit
        /// It owns this, so that no other operation can have its identity before the end.
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

    // MARK: Those who watch

    private typealias Waiters = [UnsafeContinuation<Void, Never>]

    private func resume(_ waiters: Waiters) {
        for waiter in waiters { waiter.resume() }
    }

    /// The newest state and its number; nil: it is the one of that number.
    func state(after number: UInt64?) -> (state: State, number: UInt64)? {
        storage.withLock { storage in
            let newest = storage.machine.changeCount
            return newest == number ? nil : (storage.machine.state, newest)
        }
    }

    /// Returns when the state is another one than that of this number, or the task is cancelled.
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
                // A cancel that came before there was anybody to wake.
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
    /// The meaning of its outcome, which is decided, for the service that it calls.
    fileprivate final func verdict(
        countingIf isFailure: (OperationError) -> Bool
    ) -> CircuitStateMachine.Verdict {
        guard let failure else { return .success }
        if !withLife({ $0.hasBegun }) || failure.stage != .execution { return .nothing }
        // A breaker, perhaps this one, has refused what the body wanted to run: nobody has asked the service.
        if failure.underlyingError is CircuitOpenError { return .nothing }
        return isFailure(failure) ? .failure : .success
    }
}

/// Why an operation did not run: the ``CircuitBreaker`` of the service that it calls is open, or waits for the end of a
/// trial.
public struct CircuitOpenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The service that the breaker protects.
    public let circuit: String
    /// After this time an operation may run as a trial. Nil: one does, and its end decides.
    public let timeUntilTrial: Duration?

    /// Says on one line why operations may not run, and for how long.
    public var description: String {
        let state = timeUntilTrial.map { "open, and allows a trial in \(ExplanationFormatter.text($0))" }
        return "the circuit ‘\(circuit)’ is \(state ?? "half open, and waits for the end of a trial")".singleLine
    }
}

/// The states of a ``CircuitBreaker`` as they change, for whoever shows them. From ``CircuitBreaker/states``.
///
/// An iterator delivers the state of now, then on each call the newest that has come since; it waits until there is
/// one. It ends when the task that iterates is cancelled. Each iterator goes its own way, on the isolation of its
/// caller, and a slow one delays nothing and misses what came in between.
public struct CircuitBreakerStates: AsyncSequence, Sendable {
    /// A state.
    public typealias Element = CircuitBreaker.State
    /// It does not throw.
    public typealias Failure = Never

    let breaker: CircuitBreaker

    /// Begins with the state of now. May be called any number of times.
    public func makeAsyncIterator() -> Iterator { Iterator(breaker: breaker) }

    /// One way through the states.
    public struct Iterator: AsyncIteratorProtocol {
        let breaker: CircuitBreaker
        private var number: UInt64?
        private var isOver = false

        init(breaker: CircuitBreaker) { self.breaker = breaker }

        /// The newest state that has come since the last call; nil when the task is cancelled, at once, and from then
        /// on.
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
