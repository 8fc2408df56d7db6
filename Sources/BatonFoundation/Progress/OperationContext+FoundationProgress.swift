public import Baton
public import Foundation

extension OperationContext {
    /// Reports a Foundation `Progress` as the progress of this operation while `body` runs.
    ///
    /// ```swift
    /// let archive = AsyncOperation("archive") { context in
    ///     try await context.follow(zip.progress) { try await zip.finish() }
    /// }
    /// ```
    ///
    /// Foundation does not report changes of a `Progress` on Linux. It is therefore read once in each `interval`, on a
    /// task that no body can block, and once more when `body` has ended. Its values replace the counts of
    /// ``OperationContext/progress``. If children of the `Progress` have completed a part of a unit, the counts are
    /// 1000 times as fine. While it is indeterminate, there is no total.
    ///
    /// Cancelling the operation, or the calling task, cancels the `Progress`, and so the work that honours it. If the
    /// `Progress` was cancelled, the operation is cancelled the next time that it is read. The `Progress` is not
    /// retained after `body` has ended.
    ///
    /// - Parameters:
    ///   - progress: The progress of the work.
    ///   - interval: The time between two reads. Less than a millisecond counts as one.
    ///   - clock: The clock that measures the interval.
    ///   - body: The work. It is called once, on the calling task.
    /// - Returns: The value that `body` returns.
    /// - Throws: Any error that `body` throws.
    public func follow<Value: Sendable>(
        _ progress: Foundation.Progress, every interval: Duration = .milliseconds(100),
        clock: some Clock<Duration> = ContinuousClock(), while body: () async throws -> Value
    ) async rethrows -> Value {
        try await withTaskCancellationHandler {
            // This is not a child task, because the body may block the threads of its executor.
            let reader = operation.services.spawn {
                await poll(progress, every: max(interval, .milliseconds(1)), clock)
            }
            let value: Value
            do { value = try await body() } catch {
                await end(reader, at: progress)
                throw error
            }
            await end(reader, at: progress)
            return value
        } onCancel: {
            progress.cancel()
        }
    }

    /// Stops the reader before the final report, so that no older report can follow it.
    private func end(_ reader: Task<Void, Never>, at progress: Foundation.Progress) async {
        reader.cancel()
        await reader.value
        report(progress)
    }

    private func poll(
        _ progress: Foundation.Progress, every interval: Duration, _ clock: some Clock<Duration>
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
            fraction: progress.fractionCompleted, isComplete: true)
        self.progress.report(
            completed: Int(clamping: counts.completed), of: counts.total < 0 ? nil : Int(clamping: counts.total))
    }
}
