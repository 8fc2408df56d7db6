import Synchronization

/// One call of `run(_:)`. It adds an operation with everything that the operation needs, awaits it, and cancels what it
/// has added when the caller is cancelled.
final class RunScope: Sendable {
    private struct Progress {
        var reason: CancellationReason?
        /// The operations that this run has added itself, sources first. They are not retained: an output lives only as
        /// long as somebody needs it.
        var added: [OperationRegistry.Entry] = []
    }

    private static let lastNumber = Atomic<UInt32>(0)

    let operation: AnyOperation
    private let core: QueueCore
    private let parent: AnyOperation?
    /// The number with which the operations that this run adds are marked. It is never 0.
    private let number: UInt32
    private let progress = Locked(Progress())

    /// Makes the scope of one run.
    ///
    /// - Parameter parent: The operation that has called `context.run`, or nil for any other caller.
    init(_ operation: AnyOperation, on core: QueueCore, parent: AnyOperation? = nil) {
        self.operation = operation
        self.core = core
        self.parent = parent
        number = max(1, Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Returns when the operation has finished, even if the caller is cancelled, so that no work continues without a
    /// caller.
    nonisolated(nonsending) func outcome() async throws(OperationError) {
        let body = parent ?? WorkerTaskContext.current?.running
        // `withTaskCancellationHandler` does not rethrow typed errors.
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
        if let parent { return .child(of: parent, inside: parent.exclusionHolderForChildren) }
        return body != nil ? .awaited : .outside
    }

    /// Adds the operation with everything that it needs, unless the run has been cancelled.
    func add(from origin: SubmissionSource) {
        if progress.withLock({ $0.reason }) != nil { return }
        let added = core.addWithUpstream(operation, from: origin, run: number, nil)
        // Another thread may have added some of them at the same time.
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

    /// Cancels the operation, and those operations that this run has added and nobody else needs. Sources come last, so
    /// that their dependents have ended before they are looked at.
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
    /// Returns the unfinished operations of `entries`, retained and in the same order. An entry may be stale: its
    /// operation may have been freed, and another one may have its place and even its address. The run number tells
    /// them apart, because this run has not added the other one.
    fileprivate func unfinished(of entries: [OperationRegistry.Entry], addedBy run: UInt32) -> [AnyOperation] {
        state.withLock { state in
            state.reclaimAll()
            return entries.compactMap { entry in
                state.registry.member(at: entry).flatMap { $0.runNumber == run ? $0 : nil }
            }
        }
    }
}
