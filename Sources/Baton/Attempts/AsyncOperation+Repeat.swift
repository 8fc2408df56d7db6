extension AsyncOperation {
    /// Runs the body again and again, and has the output of the last run.
    ///
    /// ```swift
    /// let status = AsyncOperation(JobStatus(job)).repeat(every: .seconds(1)) { $0 == .done }
    /// ```
    ///
    /// It repeats what has succeeded; a failure ends it, unless it has a
    /// ``AnyOperation/retry(_:attempts:deadline:file:line:if:)``, whose attempts and deadline are counted anew for each
    /// repetition. Between two runs it holds no permit and no exclusion. Each run begins at the end of the line, as if
    /// the operation had just become ready, and not while the queue is suspended. A cancel during a pause ends it at
    /// once; a run that is cancelled, by a ``AnyOperation/timeout(_:file:line:)``, too, is the last, also if it returns
    /// a value. Dependents and handlers see the end only.
    ///
    /// A ``GroupOperation`` cannot be repeated, because its children run once: that is ``Misuse``, and changes nothing.
    /// So is a call after the add. Called again, the last call counts.
    ///
    /// - Parameters:
    ///   - interval: From the start of one run to the start of the next. One that takes longer is followed at once, and
    ///     what was missed is not made up for. Negative is ``Misuse`` and counts as zero.
    ///   - count: How many runs at most; nil: until `isDone` or a cancel. Less than 1 is ``Misuse`` and counts as 1.
    ///   - isDone: Whether this output is the last. Called after each run on its task, while the operation still has
    ///     its permit. What it throws becomes the operation's error.
    @discardableResult
    public final func `repeat`(
        every interval: Duration, count: Int? = nil, file: StaticString = #fileID, line: UInt = #line,
        until isDone: @escaping @Sendable (_ output: Output) async throws -> Bool = { _ in false }
    ) -> Self {
        let place = CallSite(file: file, line: line)
        if refusesToRunAgain(place) { return self }
        if let count, count < 1 { report(Misuse(.invalidCount(count), operation: reference, callSite: place)) }
        let repetition = Repetition(
            interval: checked(interval, "an interval", place), count: count.map { max(1, $0) },
            // Asked with this operation alone.
            isDone: { try await isDone(unsafeDowncast($0, to: AsyncOperation<Output>.self).storedOutput) })
        // Released after unlocking.
        var former: Repetition?
        changeTiming("a repetition", place) { timing in
            let rare = timing.madeRareTiming()
            former = rare.repetition
            rare.repetition = repetition
        }
        withExtendedLifetime(former) {}
        return self
    }
}

/// How an operation repeats.
struct Repetition: Sendable {
    let interval: Duration
    /// Runs at most.
    let count: Int?
    /// Asked when a run has succeeded.
    let isDone: @Sendable (AnyOperation) async throws -> Bool
}
