extension AsyncOperationQueue {
    /// Adds an operation that starts when everything that is in the queue now has finished, and before everything added
    /// later.
    ///
    /// What a body of an earlier operation or of another queue awaits, by ``OperationContext/run(_:)`` or, on its own
    /// task, ``run(_:)``, is not held back by the barrier, nor is what it needs and nobody has added yet; what the body
    /// produces comes after. The barrier waits for the earlier operation, and so for what that awaits. It does not wait
    /// for what the body of another queue awaits, which may run beside it. An operation that was added behind the
    /// barrier waits for it whoever awaits it: a body before the barrier that does so closes a cycle.
    ///
    /// What the barrier takes its inputs from is added with it. Its other dependencies must have been added before, or
    /// be added to another queue: one that is added later would wait for the barrier, and such a cycle fails with
    /// ``OperationError/dependencyCycle(_:)``.
    ///
    /// Until the barrier starts or is cancelled, it keeps the operations that it waits for, with their outputs, as
    /// every operation keeps its dependencies.
    ///
    /// - Complexity: O(n) for the n operations in the queue if no earlier barrier is left, else for those added since
    ///   the last one. What is added later takes no longer for it.
    public func addBarrier(_ operation: AnyOperation, file: StaticString = #fileID, line: UInt = #line) {
        core.addBarrier(operation, CallSite(file: file, line: line))
    }

    /// Makes a barrier from a closure, adds it and returns it.
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
        // Inputs that are added after the barrier would wait for it.
        addInputs(of: barrier)
        add(barrier: barrier, callSite)
    }
}
