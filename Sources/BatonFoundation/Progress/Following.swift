public import Baton
public import Foundation

extension OperationContext {
    /// Reports the `Progress` of Foundation as this operation's while `body` runs, and returns what that returns.
    ///
    /// ```swift
    /// let archive = AsyncOperation("archive") { context in
    ///     try await context.follow(zip.progress) { try await zip.finish() }
    /// }
    /// ```
    ///
    /// It is looked at once in each `interval`, and when `body` has ended, because Foundation tells nobody of its
    /// changes on Linux; on a task that no body blocks. What it says replaces the counts of
    /// ``OperationContext/progress``: its units, or, when children of it count for a part of a unit, 1000 times as
    /// many; no total while it is indeterminate.
    ///
    /// Cancelling the operation, or the calling task, cancels the progress, and with it, if it is a good one, what it
    /// measures. A progress that is cancelled cancels the operation, when it is looked at. It is not retained
    /// afterwards.
    ///
    /// - Parameters:
    ///   - progress: What tells how far the work is.
    ///   - interval: How often it is looked at; less than a millisecond counts as one.
    ///   - clock: What measures the interval.
    ///   - body: The work, called once, on the task of the caller.
    /// - Throws: What `body` throws.
    public func follow<Value: Sendable>(
        _ progress: Foundation.Progress, every interval: Duration = .milliseconds(100),
        clock: some Clock<Duration> = ContinuousClock(), while body: () async throws -> Value
    ) async rethrows -> Value {
        try await withTaskCancellationHandler {
            // Not a child task: the body may block the threads of its executor.
            let looker = operation.services.spawn {
                await look(at: progress, every: max(interval, .milliseconds(1)), clock)
            }
            let value: Value
            do { value = try await body() } catch {
                await end(looker, at: progress)
                throw error
            }
            await end(looker, at: progress)
            return value
        } onCancel: {
            progress.cancel()
        }
    }

    /// What it has seen is older than what is reported then.
    private func end(_ looker: Task<Void, Never>, at progress: Foundation.Progress) async {
        looker.cancel()
        await looker.value
        report(progress)
    }

    private func look(
        at progress: Foundation.Progress, every interval: Duration, _ clock: some Clock<Duration>
    ) async {
        let time = TimeSource(clock)
        while !Task.isCancelled {
            report(progress)
            do { try await time.sleep(until: time.now + interval.bounded) } catch { return }
        }
    }

    private func report(_ progress: Foundation.Progress) {
        if progress.isCancelled { operation.cancel(reason: .because("the progress that it follows was cancelled")) }
        let counts = UnitCounts(
            completed: progress.completedUnitCount, total: progress.totalUnitCount,
            fraction: progress.fractionCompleted, isOver: true)
        self.progress.report(
            completed: Int(clamping: counts.completed), of: counts.total < 0 ? nil : Int(clamping: counts.total))
    }
}
