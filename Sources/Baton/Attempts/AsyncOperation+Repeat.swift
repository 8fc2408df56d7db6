extension AsyncOperation {
    /// Runs the body repeatedly. The output of the operation is that of the last run.
    ///
    /// ```swift
    /// let status = AsyncOperation(JobStatus(job)).repeat(every: .seconds(1)) { $0 == .done }
    /// ```
    ///
    /// The body runs again after it has succeeded. A failure ends the operation, unless it has a
    /// ``AnyOperation/retry(_:attempts:deadline:file:line:if:)``, whose attempts and deadline begin again with each
    /// repetition. Dependents and handlers see only the final outcome.
    ///
    /// Between two runs the operation holds no permit and no exclusion. Each run starts behind the operations that wait
    /// in the queue, as if the operation had just become ready, and not while the queue is suspended. A cancel during a
    /// pause ends the operation at once. A run that is cancelled, also by a ``AnyOperation/timeout(_:file:line:)``, is
    /// the last one, even if it returns a value.
    ///
    /// A ``GroupOperation`` cannot be repeated, because its children run only once: that is ``Misuse`` and changes
    /// nothing, and so is a call after the add. If this method is called more than once, the last call counts.
    ///
    /// - Parameters:
    ///   - interval: The time from the start of one run to the start of the next. A run that takes longer is followed
    ///     by the next one at once, and missed runs are not made up for. A negative interval is ``Misuse`` and counts
    ///     as zero.
    ///   - count: The maximum number of runs; nil to repeat until `isDone` returns true or a cancel comes. A count
    ///     below 1 is ``Misuse`` and counts as 1.
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
        if let count, count < 1 { report(Misuse(.invalidCount(count), operation: reference, callSite: place)) }
        let repetition = Repetition(
            interval: checked(interval, "an interval", place), count: count.map { max(1, $0) },
            // The closure is called only with this operation, so the downcast is safe.
            isDone: { try await isDone(unsafeDowncast($0, to: AsyncOperation<Output>.self).storedOutput) })
        // The former repetition is released after unlocking.
        var former: Repetition?
        changeTiming("a repetition", place) { timing in
            let rare = timing.ensureRareTiming()
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
