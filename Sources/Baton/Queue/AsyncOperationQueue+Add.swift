extension AsyncOperationQueue {
    /// Adds an operation, together with the operations that it takes its inputs from, directly or not, and that nobody
    /// has added.
    ///
    /// Other dependencies (``AnyOperation/addDependency(_:file:line:)``) are left to their owner, who adds them to this
    /// queue or to another one, in any order. ``run(_:)`` and `includingDependencies` add them, too.
    ///
    /// Adding an operation twice is ``Misuse``, and the second add changes nothing. An input that was added together
    /// with its reader may be added once more to the same queue; that is not misuse.
    ///
    /// A queue that was shut down refuses the operation. This call then returns as usual, and the operation has
    /// finished with ``OperationError/queueShutDown(refused:queue:)``. That is not misuse, because an add may race with
    /// a shutdown: read the error of the operation, or call ``submit(_:file:line:)``, which throws it.
    ///
    /// - Parameters:
    ///   - operation: The operation to add.
    ///   - includingDependencies: Whether to add every dependency, direct or not, instead of the inputs alone.
    /// - Returns: The operation.
    /// - Complexity: O(m + n) for m inputs of the operation and n operations that are added with it, including the
    ///   inputs of those.
    @discardableResult
    @inlinable
    public func add<Operation: AnyOperation>(
        _ operation: Operation, includingDependencies: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) -> Operation {
        add(operation, includingDependencies, file, line)
        return operation
    }

    /// Separate from the public method, so that its result costs nothing where the caller discards it.
    @usableFromInline
    func add(_ operation: AnyOperation, _ includingDependencies: Bool, _ file: StaticString, _ line: UInt) {
        let place = CallSite(file: file, line: line)
        if includingDependencies {
            core.addWithUpstream(operation, place)
        } else {
            core.add(operation, place)
        }
    }

    /// Adds several operations, each as ``add(_:includingDependencies:file:line:)`` does.
    ///
    /// - Parameters:
    ///   - first: The first operation to add.
    ///   - second: The second operation to add.
    ///   - more: Further operations to add, in their order.
    ///   - includingDependencies: Whether to add every dependency, direct or not, instead of the inputs alone.
    /// - Complexity: O(n) for n operations, the operations that are added with them, and the inputs of all of these.
    @_disfavoredOverload  // The compiler would not report a mistake in the closure of `add("name") { … }`.
    public func add(
        _ first: AnyOperation, _ second: AnyOperation, _ more: AnyOperation..., includingDependencies: Bool = false,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        let operations = [first, second] + more
        if includingDependencies {
            for operation in operations { add(operation, true, file, line) }
        } else {
            add(operations, file: file, line: line)
        }
    }

    /// Adds several operations in their order. This is the fastest way to add many operations.
    ///
    /// Each operation is added as ``add(_:includingDependencies:file:line:)`` adds it.
    ///
    /// - Parameter operations: The operations to add.
    /// - Complexity: O(n) for n operations, the operations that are added with them, and the inputs of all of these.
    public func add(_ operations: [AnyOperation], file: StaticString = #fileID, line: UInt = #line) {
        core.add(operations, CallSite(file: file, line: line), withInputs: true)
    }

    /// Adds several operations of one type, in their order.
    ///
    /// This overload avoids converting the array to one of ``AnyOperation``, which would retain each operation once
    /// more.
    ///
    /// If there is a mistake in a body in `add(urls.map { url in AsyncOperation(url) { … } })`, the compiler may take
    /// ten seconds or more to report it. Add the operations in a loop, or see <doc:Troubleshooting>.
    ///
    /// - Parameter operations: The operations to add.
    /// - Complexity: O(n) for n operations, the operations that are added with them, and the inputs of all of these.
    public func add<Operation: AnyOperation>(
        _ operations: [Operation], file: StaticString = #fileID, line: UInt = #line
    ) {
        core.add(operations.asOperations, CallSite(file: file, line: line), withInputs: true)
    }

    /// Makes an operation from a closure, adds it, and returns it.
    ///
    /// - Parameter body: Called at most once, on a task of the queue. An error that it throws becomes
    ///   ``OperationError/failed(_:)``.
    /// - Returns: The operation.
    @discardableResult
    public func add<Output: Sendable>(
        _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        add(nil, body, file: file, line: line)
    }

    /// Makes an operation with a name from a closure, adds it, and returns it.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    /// - Returns: The operation.
    @discardableResult
    public func add<Output: Sendable>(
        _ name: String?, _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        let operation = AsyncOperation(name, body).recordOrigin(file, line)
        core.add(operation, nil)
        return operation
    }

    /// Adds an operation, with everything it needs that nobody has added yet. Nothing happens, and no misuse is
    /// reported, if the operation was added before.
    package func addUnlessAdded(_ operation: AnyOperation) { core.addWithUpstream(operation, nil) }

    /// Adds an operation, with everything it needs that nobody has added yet, and returns its output when it has
    /// finished.
    ///
    /// The operation may have been added before. Cancelling the calling task cancels the operation, also for other
    /// callers, whose errors then have the reason ``CancellationReason/otherCaller``. It also cancels each operation
    /// that this call has added, unless another unfinished operation needs it or somebody else awaits it. Even then,
    /// this returns only when the operation has finished, so that no work goes on after the caller has continued.
    ///
    /// A body that calls this, itself or in a child task, releases its permit while it waits, as it does with
    /// ``OperationContext/run(_:file:line:)``. A call from an unstructured task (`Task { }`) of a body does not release
    /// the permit.
    ///
    /// - Parameter operation: The operation to add and await.
    /// - Returns: The output of the operation.
    /// - Throws: The error of the operation's outcome.
    /// - Complexity: O(n) for n operations and dependencies that come before the operation and are not yet known to
    ///   have been added.
    public func run<Output>(_ operation: AsyncOperation<Output>) async throws(OperationError) -> Output {
        let scope = RunScope(operation, on: core)
        try await scope.outcome()
        let result = operation.finishedResult
        // The operation does not know which one of its callers was cancelled.
        if case .failure(.cancelled(.caller)) = result, !scope.isCancelled { throw .cancelled(reason: .otherCaller) }
        return try result.get()
    }
}

extension AnyOperation {
    /// Adds this operation to a queue, as ``AsyncOperationQueue/add(_:includingDependencies:file:line:)`` does.
    ///
    /// Added as the last operation of a chain of inputs, it adds the whole chain.
    ///
    /// ```swift
    /// let text = data.then(Decoding()).then(Formatting()).add(to: queue)
    /// ```
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operation.
    ///   - includingDependencies: Whether to add every dependency, direct or not, instead of the inputs alone.
    /// - Returns: This operation.
    /// - Complexity: O(m + n) for m inputs of the operation and n operations that are added with it, including the
    ///   inputs of those.
    @discardableResult
    @inlinable
    public final func add(
        to queue: AsyncOperationQueue, includingDependencies: Bool = false, file: StaticString = #fileID,
        line: UInt = #line
    ) -> Self {
        queue.add(self, includingDependencies, file, line)
        return self
    }
}

// MARK: - Runs

/// One call of `run(_:)`. It adds an operation with everything that the operation needs, awaits it, and cancels what it
/// has added when the caller is cancelled.
final class RunScope: Sendable {
    private struct Progress {
        var reason: CancellationReason?
        /// The operations that this run has added itself, sources first. They are not retained: an output lives only as
        /// long as somebody needs it.
        var added: [OperationRegistry.Entry] = []
    }

    private static let numbers = NumberGenerator()

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
        number = max(1, UInt32(truncatingIfNeeded: Self.numbers.next()))
    }

    /// Returns when the operation has finished, even if the caller is cancelled, so that no work continues without a
    /// caller.
    nonisolated(nonsending) func outcome() async throws(OperationError) {
        let task = parent == nil ? WorkerTaskContext.current : nil
        let body = parent ?? task?.running
        // `withTaskCancellationHandler` does not rethrow typed errors.
        let outcome: Result<Void, OperationError> = await withTaskCancellationHandler {
            do throws(OperationError) {
                try await operation.awaitOutcome(for: body, upstreamOf: task?.iteration, asChild: parent != nil) {
                    add(from: origin(of: body))
                }
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
            added !== operation && added.withLifecycle { $0.runNumber == number }
                ? OperationRegistry.Entry(of: added) : nil
        }
        let reason = progress.withLock { progress in
            progress.added = entries
            return progress.reason
        }
        if let reason { reclaim(reason) }
    }

    /// True if this caller has been cancelled.
    var isCancelled: Bool { progress.withLock { $0.reason != nil } }

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
            entries.compactMap { entry in
                state.registry.member(at: entry).flatMap { $0.runNumber == run ? $0 : nil }
            }
        }
    }
}
