import Synchronization

/// One `run`: adds an operation with all that it needs, awaits it, and takes it all back when the caller is cancelled.
final class RunScope: Sendable {
    private struct Progress {
        var reason: CancellationReason?
        /// What this run has added itself, sources first. Not retained: an output lives as long as somebody needs it.
        var added: [OperationRegistry.Entry] = []
    }

    private static let lastNumber = Atomic<UInt32>(0)

    let operation: AnyOperation
    private let core: QueueCore
    private let parent: AnyOperation?
    /// What the operations that it adds know it by. Never 0.
    private let number: UInt32
    private let progress = Locked(Progress())

    /// `parent`: the operation whose `context.run` this is.
    init(_ operation: AnyOperation, on core: QueueCore, parent: AnyOperation? = nil) {
        self.operation = operation
        self.core = core
        self.parent = parent
        number = max(1, Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Returns when the operation has finished, cancelled or not: no work goes on behind the caller.
    nonisolated(nonsending) func outcome() async throws(OperationError) {
        let body = parent ?? WorkerTaskContext.current?.running
        // `withTaskCancellationHandler` does not pass a typed error on.
        let outcome: Result<Void, OperationError> = await withTaskCancellationHandler {
            do throws(OperationError) {
                try await operation.awaitOutcome(for: body, asChild: parent != nil) { add(from: origin(of: body)) }
                return .success(())
            } catch { return .failure(error) }
        } onCancel: {
            cancel(reason: parent.map { .parent($0.reference) } ?? .caller)
        }
        try outcome.get()
    }

    private func origin(of body: AnyOperation?) -> SubmissionSource {
        if let parent { return .child(of: parent, inside: parent.nameScope) }
        return body != nil ? .awaited : .outside
    }

    /// One that was cancelled before is not added.
    func add(from origin: SubmissionSource) {
        if progress.withLock({ $0.reason }) != nil { return }
        let added = core.addWithUpstream(operation, from: origin, run: number, nil)
        // Others may have added some of them in between.
        let entries = added.compactMap { added in
            added !== operation && added.withLife { $0.runNumber == number } ? OperationRegistry.Entry(of: added) : nil
        }
        let reason = progress.withLock { progress in
            progress.added = entries
            return progress.reason
        }
        if let reason { reclaim(reason) }
    }

    func cancel(reason: CancellationReason) {
        progress.withLock { $0.reason = reason }
        reclaim(reason)
    }

    /// Cancels the operation, and of what this run has added whatever nobody else needs: those that come first in the
    /// graph are looked at last, when what needed them has gone.
    private func reclaim(_ reason: CancellationReason) {
        operation.cancel(reason: reason)
        let added = progress.withLock { $0.added }
        if added.isEmpty { return }
        for unfinished in core.unfinished(of: added, addedBy: number).reversed() {
            unfinished.cancelIfUnneeded(reason: reason)
        }
    }
}

extension QueueCore {
    /// Retained, in that order. One that has left may have gone, and another one may be in its place, at the same
    /// address even; that one was not added by this run.
    fileprivate func unfinished(of entries: [OperationRegistry.Entry], addedBy run: UInt32) -> [AnyOperation] {
        state.withLock { state in
            state.reclaimAll()
            return entries.compactMap { entry in
                state.registry.member(at: entry).flatMap { $0.runNumber == run ? $0 : nil }
            }
        }
    }
}

extension AnyOperation {
    final var hasFinished: Bool { withLife { $0.phase == .finished } }
}
