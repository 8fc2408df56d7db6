/// One run of an operation's body.
public struct OperationAttempt: Sendable {
    /// Which one, from 1.
    public let number: Int
    /// Why it has failed; nil while it runs, and if it has succeeded.
    public let error: OperationError?
    /// How long the operation waits before the next one; nil if there is none.
    public let delay: Duration?
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
    /// It stays the same operation, with the same inputs: dependents and handlers see the final outcome only, which is
    /// that of the last attempt. Between two attempts it holds no permit and no exclusion. It takes exclusions again,
    /// ahead of first attempts that wait for them, and starts before operations of its priority that have not begun
    /// (not more than 16 in a row while others wait), also while the queue is suspended, unless
    /// ``AsyncOperationQueue/suspendsFurtherAttempts`` is set. From the 17th failure on it waits for exclusions behind
    /// the others. Conditions are not evaluated again, but a ``Rate`` counts each attempt. Nothing is retried after a
    /// cancel; one that comes during the delay ends the operation at once. What keeps the body from running at all
    /// (dependencies, conditions) is no attempt: the retry of an operation that passes an output on, such as one that
    /// ``AsyncOperation/delayed(by:file:line:)`` has made, does not run its source again, and its error says so. Each
    /// attempt counts its ``progress`` from zero.
    ///
    /// What the body runs with ``OperationContext/run(_:)`` it has to make anew each time: an operation runs once. For
    /// the same reason a ``GroupOperation`` cannot be retried: that is ``Misuse``. So are fewer attempts than 1, which
    /// count as 1, and a negative duration, which counts as zero. Called again, or together with
    /// ``retryOnFailure(file:line:_:)``, the last call counts. After the add this is ``Misuse`` and changes nothing.
    ///
    /// - Parameters:
    ///   - backoff: How long to wait before the next attempt; ``Backoff/standard`` unless given.
    ///   - attempts: How often the body may run, the first time included.
    ///   - deadline: How long all attempts and delays may take together, from the start of the first attempt. An
    ///     attempt that runs then is cancelled as by ``timeout(_:file:line:)``, and is the last one; one whose delay
    ///     ends later is not made, and the operation ends with the error of the last. One that still waits then for a
    ///     permit, an exclusion or a rate is not made either, and the operation ends at once with
    ///     ``OperationError/timedOut(after:)``.
    ///   - isRetryable: Whether this error is worth another attempt. Called on a task of the queue that is not
    ///     cancelled, while the operation still has its permit. What it throws becomes the operation's error.
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
    /// See ``retry(_:attempts:deadline:file:line:if:)``; here every error is worth another attempt.
    @discardableResult
    @inlinable
    public final func retry(
        _ backoff: Backoff = .standard, attempts: Int, deadline: Duration? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) -> Self {
        retryAlways(backoff, attempts, deadline, file, line)
        return self
    }

    /// Apart, so that returning `self` costs nothing where nobody wants it.
    @usableFromInline
    final func retryAlways(
        _ backoff: consuming Backoff, _ attempts: Int, _ deadline: Duration?, _ file: StaticString, _ line: UInt
    ) {
        retry(backoff, attempts, deadline, CallSite(file: file, line: line), if: nil)
    }

    /// Runs the body again when it has failed, as long as `decide` says so.
    ///
    /// There is no delay; `decide` may take its time. Otherwise it is as
    /// ``retry(_:attempts:deadline:file:line:if:)`` says.
    ///
    /// - Parameter decide: Called with the number of failures before this one, 0 for the first, and with its error.
    @discardableResult
    public final func retryOnFailure(
        file: StaticString = #fileID, line: UInt = #line,
        _ decide: @escaping @Sendable (_ failures: Int, _ error: OperationError) async throws -> Bool
    ) -> Self {
        retry(.immediately, .max, nil, CallSite(file: file, line: line), if: decide)
        return self
    }

    /// The runs of the body, in order: those that have failed and were followed by another, and the one that runs or
    /// was the last.
    ///
    /// A repeating operation tells those since its last repetition. There are none if the body has not run. Of very
    /// many that have failed, the first ten and the newest hundred are kept; ``OperationAttempt/number`` tells which
    /// ones.
    public final var attempts: [OperationAttempt] {
        let (failures, number, hasEnded) = withLife { life in
            let timing = life.optionalState?.timing
            let last = life.hasBegun && timing?.isPaused != true ? Int(timing?.attempt ?? 1) : 0
            return (timing?.rareTiming?.failures ?? FailedAttempts(), last, life.phase == .finished)
        }
        if number <= failures.count { return failures.all }
        return failures.all + [OperationAttempt(number: number, error: hasEnded ? failure : nil, delay: nil)]
    }

    private final func retry(
        _ backoff: consuming Backoff, _ attempts: Int, _ deadline: Duration?, _ place: CallSite,
        if mayRetry: consuming RetryPredicate?
    ) {
        if refusesToRunAgain(place) { return }
        if attempts < 1 { report(Misuse(.invalidAttempts(attempts), operation: reference, callSite: place)) }
        if backoff.isNegative {
            report(Misuse(.negativeDuration("a backoff"), operation: reference, callSite: place))
        }
        var mayRetry = consume mayRetry
        let maxAttempts = Int32(clamping: max(1, attempts))
        let deadline = deadline.map { checked($0, "a deadline", place) }
        if mayRetry == nil, deadline == nil, let plain = backoff.plain,
            changeSharedLimits({ ($0.backoff, $0.maxAttempts) = (plain, maxAttempts) })
        {
            return
        }
        // What they were before is released after unlocking.
        var backoff = Optional(consume backoff)
        changeTiming("a retry", place) { timing in
            swap(&timing.backoff, &backoff)
            timing.maxAttempts = maxAttempts
            if mayRetry != nil || deadline != nil || timing.rareTiming != nil {
                let rare = timing.madeRareTiming()
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
}

extension AnyOperation {
    /// Which run of the body this is, from 1.
    final var currentRun: (attempt: Int, run: Int32) {
        withLife { life in
            (max(1, Int(life.optionalState?.timing?.attempt ?? 1)), life.optionalState?.run ?? 0)
        }
    }
}
