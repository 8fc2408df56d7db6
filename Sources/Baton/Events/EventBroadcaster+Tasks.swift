/// How events reach their subscribers: readers ask for them, and tasks call the observers.
extension EventBroadcaster {
    // MARK: Readers

    func next(for reader: UInt64) -> EventReader<Waiter>.Next {
        state.withLock { $0.withReader(reader) { $0.next() } } ?? .end
    }

    func takeAll(for reader: UInt64) -> [OperationEvent] {
        state.withLock { $0.withReader(reader) { $0.takeAll() } }.map { Array($0) } ?? []
    }

    /// Returns when there may be an event, or when the task is cancelled.
    nonisolated(nonsending) func wait(_ id: UInt64, of reader: UInt64) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                let waits = state.withLock { $0.withReader(reader) { $0.wait(id, waiter) } }
                if waits != true {
                    wake(waiter)
                } else if Task.isCancelled {
                    // The task was cancelled before it began to wait, so `onCancel` may have found nothing to wake.
                    stopWaiting(id, of: reader)
                }
            }
            TSanAnnotations.didAwait(self)
        } onCancel: {
            stopWaiting(id, of: reader)
        }
    }

    private func stopWaiting(_ id: UInt64, of reader: UInt64) {
        if let waiter = state.withLock({ $0.withReader(reader) { $0.stopWaiting(id) } ?? nil }) { wake(waiter) }
    }

    // MARK: Observers

    /// Starts a task that calls the observer until no event is left.
    func serve(_ call: Subscriptions.Call, on taskFactory: TaskFactory) {
        taskFactory.spawn {
            var slice = TimeSlice(byCount: taskFactory.executor is any DeterministicTaskExecutor)
            while true {
                // The observer, or user code that ran when an event was released, has cancelled this task. A new task
                // makes the next call, so that the call does not find itself cancelled.
                if Task.isCancelled { return self.serve(call, on: taskFactory) }
                guard let event = self.state.withLock({ $0.withListener(call.id) { $0.nextCall() } ?? nil }) else {
                    return
                }
                await call.observer.observe(event)
                let waiters = self.state.withLock { $0.withListener(call.id) { $0.callReturned() } } ?? []
                for waiter in waiters { self.wake(waiter) }
                if slice.isOver() {
                    await Task.yield()
                    slice.restart()
                }
            }
        }
    }

    /// Returns when the observer has been called with every event published before this call.
    func delivered(to observer: UInt64) async {
        await withUnsafeContinuation { waiter in
            let waits = state.withLock { $0.withListener(observer) { $0.wait(waiter) } }
            if waits != true { wake(waiter) }
        }
        TSanAnnotations.didAwait(self)
    }
}
