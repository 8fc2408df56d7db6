/// Waiting through the public handle of the queue, and the release of the last handle.
extension QueueCore {
    /// Waits until the queue is idle. If a body calls this, an operation stands for the idleness, so that the body
    /// releases its permit and explanations say what it waits for.
    ///
    /// - Parameter closedBefore: Whether to wait until the queue is closed first.
    func waitUntilIdleReleasingPermit(closedBefore: Bool = false) async {
        guard let body = WorkerTaskContext.current?.running, let queue = body.core else {
            return await waitUntilIdle(closedBefore: closedBefore)
        }
        let idleness = AsyncOperation<Void>("idleness of \(name.map { "‘\($0)’" } ?? "a queue")") {
            await self.waitUntilIdle(closedBefore: closedBefore)
        }
        AsyncOperationQueue(name: "idleness", executor: queue.services.executor).add(idleness)
        _ = try? await idleness.value
    }

    private func waitUntilIdle(closedBefore: Bool) async {
        if closedBefore { await waitUntilClosed() }
        await waitUntilIdle()
    }

    /// Ends the operations that nobody can start any more, because the last handle of the queue was released while the
    /// queue was suspended.
    func lastHandleWasReleased() {
        let stranded = state.withLock { state in
            state.isReleased = true
            return state.members().filter { state.strands($0) }
        }
        for operation in stranded { operation.endUnlessRetried(with: .queueReleased)?.complete() }
    }
}
