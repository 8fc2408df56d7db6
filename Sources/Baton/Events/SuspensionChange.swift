/// A queue was suspended or resumed. Events say nothing of it, because they are those of operations.
package struct SuspensionChange: Sendable, Hashable {
    /// On the clock of the queue, since that was made.
    package let time: Duration
    package let isSuspended: Bool

    package init(time: Duration, isSuspended: Bool) {
        self.time = time
        self.isSuspended = isSuspended
    }
}

extension OperationEvents {
    /// Whether the queue is suspended. False for the events of one operation.
    package var isQueueSuspended: Bool { subscription.hub.state.withLock { $0.isSuspended } }

    /// Notes from now on when the queue is suspended and resumed, until the reader has gone; for recorders. A queue
    /// that is suspended already counts as suspended now.
    package func beginRecordingSuspensions() { subscription.hub.recordSuspensions(for: subscription.id) }

    /// What was noted and not taken yet.
    package func takeSuspensions() -> [SuspensionChange] { subscription.hub.takeSuspensions(for: subscription.id) }
}

extension EventBroadcaster {
    /// - Parameter number: That of the change, given under the lock of the queue: two threads may bring theirs out of
    ///   order.
    func queueIsSuspended(_ isSuspended: Bool, number: UInt64) {
        // The clock is the user's, and asked outside the lock.
        let now = isObserved ? self.now : .zero
        state.withLock { $0.noteSuspension(isSuspended, number: number, at: now) }
    }

    fileprivate func recordSuspensions(for reader: UInt64) {
        let now = self.now
        state.withLock { $0.recordSuspensions(for: reader, at: now) }
    }

    fileprivate func takeSuspensions(for reader: UInt64) -> [SuspensionChange] {
        state.withLock { $0.withReader(reader) { $0.takeSuspensions() } } ?? []
    }
}
