/// One run of an operation's body.
public struct OperationAttempt: Sendable {
    /// The number of the attempt, from 1. A repetition begins with attempt 1 again.
    public let number: Int
    /// The error with which the attempt failed; nil while it runs, and if it has succeeded.
    public let error: OperationError?
    /// The time that the operation waits before the next attempt; nil if there is no next attempt.
    public let delay: Duration?
}

extension OperationAttempt: CustomStringConvertible {
    /// The number and how the attempt ended, such as "attempt 2 failed: the server said no; the next one after 5.0
    /// seconds".
    public var description: String {
        let end = error.map { "attempt \(number) failed: \($0)" } ?? "attempt \(number)"
        return end + (delay.map { "; the next one after \($0)" } ?? "")
    }
}

extension AnyOperation {
    /// Runs the body again when it has failed, up to `attempts` times in all.
    ///
    /// ```swift
    /// download.retry(.exponential(from: .milliseconds(100)).jittered(), attempts: 5) { error in
    ///     error.underlyingError is ConnectionLost
    /// }
    /// ```
    ///
    /// The operation stays the same, with the same inputs. Dependents and handlers see only the final outcome, which is
    /// that of the last attempt. Each attempt counts its ``progress`` from zero.
    ///
    /// Between two attempts the operation holds no permit and no exclusion. For a further attempt it takes its
    /// exclusions again ahead of first attempts that wait for them; from the 17th failure on it waits behind them. It
    /// starts before operations of its priority that have not begun (at most 16 in a row while others wait), even while
    /// the queue is suspended, unless ``AsyncOperationQueue/suspendsFurtherAttempts`` is set. Conditions are not
    /// evaluated again, but a ``Rate`` counts each attempt.
    ///
    /// After a cancellation nothing is retried, and a cancellation during the delay ends the operation at once. If
    /// dependencies or conditions keep the body from running, that is not an attempt. This includes the retry of an
    /// operation that reads the output of another one, such as one that ``AsyncOperation/then(_:file:line:)`` has made:
    /// it does not run its source again, and its error says so. An operation that `delayed`, `mapError` or `unwrapped`
    /// has made has no other failures, so its retry is ``Misuse``. A retry after
    /// ``AsyncOperation/recover(_:file:line:)`` runs the closure of `recover` again; write it before `recover` to run
    /// the source again.
    ///
    /// An operation runs only once, so the body has to make the operations that it runs with
    /// ``OperationContext/run(_:file:line:)`` on each attempt. For the same reason retrying a ``GroupOperation`` is
    /// ``Misuse``. So are fewer attempts than 1, which count as 1, and a negative duration, which counts as zero. If
    /// this method and ``retryOnFailure(file:line:_:)`` are called more than once, the last call counts. A call after
    /// the add is ``Misuse`` and changes nothing.
    ///
    /// - Parameters:
    ///   - backoff: How long to wait before each further attempt. The default is ``Backoff/standard``.
    ///   - attempts: How often the body may run, including the first time.
    ///   - deadline: How long all attempts and delays may take together, from the start of the first attempt. An
    ///     attempt that runs at the deadline is cancelled as by ``timeout(_:file:line:)``, and is the last one. If a
    ///     delay would end after the deadline, there is no further attempt, and the operation ends with the error of
    ///     the last one. If the operation waits for a permit, an exclusion or a rate at the deadline, it ends at once
    ///     with ``OperationError/timedOut(after:waitingFor:)``.
    ///   - isRetryable: Returns whether another attempt is worthwhile after this error. Called on a task of the queue
    ///     that is not cancelled, while the operation still has its permit. An error that it throws becomes the
    ///     operation's error; that of the attempt stays in ``attempts``.
    /// - Returns: This operation.
    @discardableResult
    public final func retry(
        _ backoff: Backoff = .standard, attempts: Int, deadline: Duration? = nil, file: StaticString = #fileID,
        line: UInt = #line,
        if isRetryable: @escaping @Sendable (_ error: OperationError) async throws -> Bool
    ) -> Self {
        retry(backoff, attempts, deadline, CallSite(file: file, line: line)) { _, error in try await isRetryable(error)
        }
        return self
    }

    /// Runs the body again whenever it has failed, up to `attempts` times in all.
    ///
    /// Every error is worth another attempt. Otherwise this method does what
    /// ``retry(_:attempts:deadline:file:line:if:)`` does.
    ///
    /// - Parameters:
    ///   - backoff: How long to wait before each further attempt. The default is ``Backoff/standard``.
    ///   - attempts: How often the body may run, including the first time.
    ///   - deadline: How long all attempts and delays may take together, from the start of the first attempt.
    /// - Returns: This operation.
    @discardableResult
    @inlinable
    public final func retry(
        _ backoff: Backoff = .standard, attempts: Int, deadline: Duration? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) -> Self {
        retryAlways(backoff, attempts, deadline, file, line)
        return self
    }

    /// A function of its own, so that callers which discard the returned operation do not pay for returning it.
    @usableFromInline
    final func retryAlways(
        _ backoff: consuming Backoff, _ attempts: Int, _ deadline: Duration?, _ file: StaticString, _ line: UInt
    ) {
        retry(backoff, attempts, deadline, CallSite(file: file, line: line), if: nil)
    }

    /// Runs the body again when it has failed, as long as `decide` returns true.
    ///
    /// There is no delay between the attempts, but `decide` may take its time. Otherwise this method does what
    /// ``retry(_:attempts:deadline:file:line:if:)`` does.
    ///
    /// - Parameter decide: Returns whether the body runs again. Called with the number of failures before this one, 0
    ///   for the first, and with the error. Called on a task of the queue that is not cancelled, while the operation
    ///   still has its permit. An error that it throws becomes the operation's error.
    /// - Returns: This operation.
    @discardableResult
    public final func retryOnFailure(
        file: StaticString = #fileID, line: UInt = #line,
        _ decide: @escaping @Sendable (_ failures: Int, _ error: OperationError) async throws -> Bool
    ) -> Self {
        retry(.immediately, .max, nil, CallSite(file: file, line: line), if: decide)
        return self
    }

    /// The failed attempts that were followed by another one, in order, and then the attempt that runs or was the last.
    ///
    /// The array is empty if the body has not run. For a repeating operation it holds the attempts of the newest
    /// repetition, so it does not count repetitions, and is empty during the pause before one. Of the failed attempts
    /// only the first ten and the newest hundred are kept; ``OperationAttempt/number`` tells which ones.
    ///
    /// - Complexity: O(n), where n is the number of attempts that are kept.
    public final var attempts: [OperationAttempt] {
        let (failures, number, hasEnded) = withLifecycle { life in
            let timing = life.optionalState?.timing
            let last = life.hasBegun && timing?.isPaused != true ? Int(timing?.attempt ?? 1) : 0
            return (timing?.rareTimedState?.failures ?? FailedAttempts(), last, life.phase == .finished)
        }
        if number <= failures.count { return failures.all }
        return failures.all + [OperationAttempt(number: number, error: hasEnded ? failure : nil, delay: nil)]
    }

    private final func retry(
        _ backoff: consuming Backoff, _ attempts: Int, _ deadline: Duration?, _ place: CallSite,
        if mayRetry: consuming RetryPredicate?
    ) {
        if refusesToRunAgain(place) { return }
        reportIfPassing("a retry", place)
        if attempts < 1 { report(Misuse(.invalidAttempts(attempts), operation: reference, callSite: place)) }
        if backoff.isNegative {
            report(Misuse(.negativeDuration("a backoff"), operation: reference, callSite: place))
        }
        if backoff.hasInvalidFactor {
            report(Misuse(.invalidBackoffFactor, operation: reference, callSite: place))
        }
        var mayRetry = consume mayRetry
        let maxAttempts = Int32(clamping: max(1, attempts))
        let deadline = deadline.map { checked($0, "a deadline", place) }
        if mayRetry == nil, deadline == nil, let curve = backoff.unmodifiedCurve,
            changeSharedLimits({ ($0.backoff, $0.maxAttempts) = (curve, maxAttempts) })
        {
            return
        }
        // The former closures are released after unlocking.
        var backoff = Optional(consume backoff)
        changeTiming("a retry", place) { timing in
            swap(&timing.backoff, &backoff)
            timing.maxAttempts = maxAttempts
            if mayRetry != nil || deadline != nil || timing.rareTimedState != nil {
                let rare = timing.ensureRareTimedState()
                swap(&rare.mayRetry, &mayRetry)
                rare.deadline = deadline
            }
        }
        withExtendedLifetime((backoff, mayRetry)) {}
    }

    final func refusesToRunAgain(_ place: CallSite) -> Bool {
        guard fallbackName.type == GroupOperation.self else { return false }
        report(Misuse(.groupRunsOnce, operation: reference, callSite: place))
        return true
    }

    /// Reports a setting of an operation whose body cannot fail, or fails the same way each time, and does not suspend.
    final func reportIfPassing(_ setting: String, _ place: CallSite) {
        guard fallbackName.onlyPassesOn else { return }
        report(Misuse(.settingOfPassingOperation(setting), operation: reference, callSite: place))
    }
}

extension AnyOperation {
    /// The number of the attempt, from 1, and the number of the run, which counts all runs of the body.
    final var currentRun: (attempt: Int, run: Int32) {
        withLifecycle { life in
            (max(1, Int(life.optionalState?.timing?.attempt ?? 1)), life.optionalState?.run ?? 0)
        }
    }
}

// MARK: - Repetition

extension AsyncOperation {
    /// Runs the body repeatedly. The output of the operation is that of the last run.
    ///
    /// ```swift
    /// let status = AsyncOperation(JobStatus(job)).repeat(every: .seconds(1)) { $0 == .done }
    /// ```
    ///
    /// The body runs again after it has succeeded. A failure ends the operation, unless it has a
    /// ``AnyOperation/retry(_:attempts:deadline:file:line:if:)``, whose attempts and deadline begin again with each
    /// repetition, and so do ``OperationContext/attempt`` and ``AnyOperation/attempts``. Dependents and handlers see
    /// only the final outcome.
    ///
    /// Between two runs the operation holds no permit and no exclusion. Each run starts behind the operations that wait
    /// in the queue, as if the operation had just become ready, and not while the queue is suspended. A cancellation
    /// during a pause ends the operation at once. A run that is cancelled, also by a
    /// ``AnyOperation/timeout(_:file:line:)``, is the last one, even if it returns a value.
    ///
    /// A ``GroupOperation`` cannot be repeated, because its children run only once: that is ``Misuse`` and changes
    /// nothing, and so is a call after the add. If this method is called more than once, the last call counts.
    ///
    /// - Parameters:
    ///   - interval: The time from the start of one run to the start of the next. A run that takes longer is followed
    ///     by the next one at once, and missed runs are not made up for. A negative interval is ``Misuse`` and counts
    ///     as zero.
    ///   - count: The maximum number of runs; nil to repeat until `isDone` returns true or a cancellation comes. A
    ///     count below 1 is ``Misuse`` and counts as 1.
    ///   - isDone: Returns whether this output is the last. Called after each run on its task, while the operation
    ///     still has its permit. An error that it throws becomes the operation's error.
    /// - Returns: This operation.
    @discardableResult
    public final func `repeat`(
        every interval: Duration, count: Int? = nil, file: StaticString = #fileID, line: UInt = #line,
        until isDone: @escaping @Sendable (_ output: Output) async throws -> Bool = { _ in false }
    ) -> Self {
        let place = CallSite(file: file, line: line)
        if refusesToRunAgain(place) { return self }
        reportIfPassing("a repetition", place)
        if let count, count < 1 { report(Misuse(.invalidCount(count), operation: reference, callSite: place)) }
        let repetition = Repetition(
            interval: checked(interval, "an interval", place), count: count.map { max(1, $0) },
            // The closure is called only with this operation, so the downcast is safe.
            isDone: { try await isDone($0.withOutput(Output.self).storedOutput) })
        // The former repetition is released after unlocking.
        var former: Repetition?
        changeTiming("a repetition", place) { timing in
            let rare = timing.ensureRareTimedState()
            former = rare.repetition
            rare.repetition = repetition
        }
        withExtendedLifetime(former) {}
        return self
    }
}

/// The interval and the end of an operation that repeats.
struct Repetition: Sendable {
    let interval: Duration
    /// The maximum number of runs, or nil if there is none.
    let count: Int?
    /// Called when a run has succeeded.
    let isDone: @Sendable (AnyOperation) async throws -> Bool
}
