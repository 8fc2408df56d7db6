/// The suspension or resumption of a queue. No ``OperationEvent`` reports it, because those concern operations.
package struct SuspensionChange: Sendable, Hashable {
    /// The time since the queue was made, on its clock.
    package let time: Duration
    package let isSuspended: Bool

    package init(time: Duration, isSuspended: Bool) {
        self.time = time
        self.isSuspended = isSuspended
    }
}

extension OperationEvents {
    /// True if the queue is suspended. Always false for the events of one operation.
    package var isQueueSuspended: Bool { subscription.broadcaster.state.withLock { $0.isSuspended } }

    /// Records suspensions and resumptions of the queue from now on, for as long as there is a reader. If the queue is
    /// suspended already, the first change says that it was suspended now.
    package func beginRecordingSuspensions() { subscription.broadcaster.recordSuspensions(for: subscription.id) }

    /// Returns the changes that were recorded since the last call.
    package func takeSuspensions() -> [SuspensionChange] {
        subscription.broadcaster.takeSuspensions(for: subscription.id)
    }
}

extension EventBroadcaster {
    /// - Parameter number: The number of the change, given under the lock of the queue, because two threads may report
    ///   their changes out of order.
    func queueIsSuspended(_ isSuspended: Bool, number: UInt64) {
        // The clock is the user's, so it is read outside the lock.
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
