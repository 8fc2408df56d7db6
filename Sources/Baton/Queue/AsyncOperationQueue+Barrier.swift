extension AsyncOperationQueue {
    /// Adds an operation that starts after everything in the queue has finished, and before everything that is added
    /// later.
    ///
    /// ```swift
    /// queue.add(writes)
    /// queue.addBarrier(checkpoint)        // starts when all writes have finished
    /// queue.add(moreWrites)               // start when the checkpoint has finished
    /// ```
    ///
    /// - **Bodies that wait.** The barrier does not hold back an operation that the body of an earlier operation awaits
    ///   with ``OperationContext/run(_:)`` or, on its own task, ``run(_:)``. The barrier waits for that body, and so
    ///   for the operation. Operations that a body produces come after the barrier.
    /// - **Bodies of other queues.** The barrier does not hold back an operation that the body of another queue awaits
    ///   in this way, either. The barrier does not wait for that operation, so both may run at the same time.
    /// - **Inputs and dependencies.** The inputs of the barrier are added with it. Its other dependencies must have
    ///   been added before, or be added to another queue.
    /// - **Cycles.** An operation that was added after the barrier waits for the barrier. If the barrier, or an
    ///   operation before it, depends on that operation or awaits it, both fail with
    ///   ``OperationError/dependencyCycle(_:)``.
    /// - **Cancelled barriers.** A barrier that is cancelled before it starts has no effect on the others.
    /// - **Memory.** Until the barrier starts or is cancelled, it retains the operations that it waits for, with their
    ///   outputs, as every operation retains its dependencies.
    ///
    /// Adding an operation that was added before is ``Misuse`` and changes nothing.
    ///
    /// - Parameter operation: The operation that runs alone.
    /// - Complexity: O(n) for n operations in the queue if it has no unfinished barrier, otherwise for n operations
    ///   that have been added since the last one. The barrier adds no cost to operations that are added later.
    public func addBarrier(_ operation: AnyOperation, file: StaticString = #fileID, line: UInt = #line) {
        core.addBarrier(operation, CallSite(file: file, line: line))
    }

    /// Makes a barrier from a closure, adds it and returns it. See ``addBarrier(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - name: The name of the operation in explanations and events. Nil names it "barrier".
    ///   - body: The closure that runs as the body, on a task of the queue.
    /// - Returns: The barrier.
    /// - Complexity: O(n) for n operations in the queue if it has no unfinished barrier, otherwise for n operations
    ///   that have been added since the last one.
    @discardableResult
    public func addBarrier<Output: Sendable>(
        _ name: String? = nil, _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Output
    ) -> AsyncOperation<Output> {
        let operation = AsyncOperation(name ?? "barrier", body)
        core.addBarrier(operation, nil)
        return operation
    }
}

extension QueueCore {
    fileprivate func addBarrier(_ barrier: AnyOperation, _ callSite: CallSite?) {
        // Inputs that were added after the barrier would wait for the barrier.
        addInputs(of: barrier)
        add(barrier: barrier, callSite)
    }
}
