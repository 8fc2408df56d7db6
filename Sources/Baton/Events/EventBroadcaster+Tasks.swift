/// How those who have a subscription get their events: readers come for them, observers are called.
extension EventBroadcaster {
    // MARK: Readers

    func next(for reader: UInt64) -> EventReader<Waiter>.Next {
        state.withLock { $0.withReader(reader) { $0.next() } } ?? .end
    }

    func takeAll(for reader: UInt64) -> [OperationEvent] {
        state.withLock { $0.withReader(reader) { $0.takeAll() } }.map { Array($0) } ?? []
    }

    /// Returns when there may be something, or the task is cancelled.
    nonisolated(nonsending) func wait(_ id: UInt64, of reader: UInt64) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                let waits = state.withLock { $0.withReader(reader) { $0.wait(id, waiter) } }
                if waits != true {
                    wake(waiter)
                } else if Task.isCancelled {
                    // Cancelled before it waited: the handler may have come too early.
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

    /// Starts the task that calls an observer until there is nothing more to tell.
    func serve(_ call: Subscriptions.Call, on taskFactory: TaskFactory) {
        taskFactory.spawn {
            var slice = TimeSlice(byCount: taskFactory.executor is any DeterministicTaskExecutor)
            while true {
                // An observer, or something of the user's in an event, has cancelled the task: the next call is not to
                // notice.
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

    /// Returns when this observer has been called with everything that was told before.
    func delivered(to observer: UInt64) async {
        await withUnsafeContinuation { waiter in
            let waits = state.withLock { $0.withListener(observer) { $0.wait(waiter) } }
            if waits != true { wake(waiter) }
        }
        TSanAnnotations.didAwait(self)
    }
}
