extension AsyncOperationQueue {
    /// Adds an operation that starts when everything that is in the queue now has finished, and before everything added later.
    ///
    /// What a body of an earlier operation or of another queue awaits, by ``OperationContext/run(_:)`` or, on its own task,
    /// ``run(_:)``, goes before the barrier, with all that it needs; what the body produces comes after. What the barrier takes its inputs
    /// from is added with it. Its other dependencies must have been added before, or be added to another queue: one that is added
    /// later would wait for the barrier, and such a cycle fails with ``OperationError/dependencyCycle(_:)``.
    ///
    /// Takes time and memory for each operation in the queue, and so does each later add for each barrier that has not finished.
    /// Both are quadratic if barriers pile up, as in a suspended queue: 1,000 of them, each after one operation, take tens of
    /// megabytes, and 4,000 take hundreds. Where so many are wanted, let a ``GroupOperation`` or dependencies make the order.
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
        addAlone(barrier, callSite) { state in
            state.barriers.append(barrier)
            // Also what an earlier barrier waits for, which may yet be cancelled and then finishes before that.
            return state.members()
        }
    }

    /// It has finished. Whoever tells this holds it.
    func forget(barrier: AnyOperation) {
        state.withLock { state in
            if let place = state.barriers.firstIndex(where: { $0 === barrier }) { state.barriers.remove(at: place) }
        }
    }
}
