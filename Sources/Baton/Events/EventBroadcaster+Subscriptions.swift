extension EventBroadcaster {
    /// The subscriptions of a broadcaster, and the numbers of its events. A pure value: the broadcaster locks it, asks
    /// it, unlocks it, and performs the actions.
    struct Subscriptions {
        struct Call {
            let id: UInt64
            let observer: any OperationObserver
        }

        /// An effect that the broadcaster performs after unlocking. The `release…` cases carry observers and events,
        /// whose release may run user code, out of the lock.
        enum Action {
            case wake(Waiter)
            /// Start a task that calls the observer.
            case start(Call)
            case releaseReader(EventReader<Waiter>)
            case releaseObserver(ObserverSubscription)
            case releaseEvent(OperationEvent)
        }

        typealias Actions = [Action]

        struct ObserverSubscription {
            let call: Call
            var listener = EventListener<Waiter>()
        }

        private struct Delegate {
            let id: UInt64
            weak let object: (any OperationDelegate)?
        }

        private var readers = SubscriptionTable<EventReader<Waiter>>()
        private var observers = SubscriptionTable<ObserverSubscription>()
        private var lastID: UInt64 = 0
        private var delegateSubscription: Delegate?
        private var lastNumber: UInt64 = 0
        private var lastTime = Duration.zero
        /// The number of operations that have not published `finished` yet.
        private var operationCount = 0
        private var isReleased = false
        private var hasEnded = false
        /// The `finished` event of the one operation, kept for subscribers that come after it. `nil` for a queue.
        private var last: OperationEvent?
        private(set) var isSuspended: Bool
        private var suspensionNumber: UInt64 = 0

        /// - Parameter isSuspended: True if the queue is suspended from the start.
        init(isSuspended: Bool = false) { self.isSuspended = isSuspended }

        var isEmpty: Bool { readers.isEmpty && observers.isEmpty }

        // MARK: Publishing

        mutating func numbered(
            _ kind: consuming OperationEvent.Kind, of subject: consuming EventSubject, at time: Duration
        ) -> OperationEvent {
            lastNumber += 1
            // The clock was read before the lock was taken, so another thread may have published a later time since.
            lastTime = max(lastTime, time)
            return OperationEvent(number: lastNumber, time: lastTime, subject: subject, kind: kind)
        }

        mutating func deliver(_ event: consuming OperationEvent, _ actions: inout Actions) {
            if hasEnded { return }
            if !observers.isEmpty {
                observers.forEach { subscription in
                    if subscription.listener.append(copy event) { actions.append(.start(subscription.call)) }
                }
            }
            readers.forEach(with: event) { reader, event in
                if let dropped = reader.append(event) { actions.append(.releaseEvent(dropped)) }
                for waiter in reader.takeWaiters() { actions.append(.wake(waiter)) }
            }
        }

        // MARK: Suspensions

        mutating func noteSuspension(_ isSuspended: Bool, number: UInt64, at time: Duration) {
            if number <= suspensionNumber { return }
            suspensionNumber = number
            if isSuspended == self.isSuspended { return }
            self.isSuspended = isSuspended
            lastTime = max(lastTime, time)
            let change = SuspensionChange(time: lastTime, isSuspended: isSuspended)
            readers.forEach { $0.noteSuspension(change) }
        }

        mutating func recordSuspensions(for reader: UInt64, at time: Duration) {
            lastTime = max(lastTime, time)
            let change = isSuspended ? SuspensionChange(time: lastTime, isSuspended: true) : nil
            _ = readers.with(reader) { reader in
                reader.recordSuspensions()
                if let change { reader.noteSuspension(change) }
            }
        }

        // MARK: Operations and the end of events

        mutating func expectFinished(_ actions: inout Actions) {
            operationCount += 1
            endIfDone(&actions)
        }

        /// - Parameter isLast: True if the broadcaster serves a single operation, so no events follow.
        mutating func operationEnded(isLast: Bool, _ event: OperationEvent, _ actions: inout Actions) {
            if isLast {
                if !hasEnded { last = event }
                return end(&actions)
            }
            operationCount -= 1
            endIfDone(&actions)
        }

        mutating func queueWasReleased(_ actions: inout Actions) {
            isReleased = true
            endIfDone(&actions)
        }

        private mutating func endIfDone(_ actions: inout Actions) {
            if isReleased, operationCount == 0 { end(&actions) }
        }

        mutating func end(_ actions: inout Actions) {
            if hasEnded { return }
            hasEnded = true
            readers.forEach { reader in
                for waiter in reader.end() { actions.append(.wake(waiter)) }
            }
            observers.forEach { $0.listener.end() }
            actions += observers.removeAll(where: \.listener.isDone).map { .releaseObserver($0) }
        }

        // MARK: Adding and removing subscriptions

        mutating func addReader(limit: Int?) -> UInt64 {
            lastID += 1
            var reader = EventReader<Waiter>(limit: limit)
            if let last { _ = reader.append(last) }
            if hasEnded { _ = reader.end() }
            readers.append(reader, lastID)
            return lastID
        }

        mutating func add(_ observer: any OperationObserver, _ actions: inout Actions) -> UInt64 {
            lastID += 1
            var subscription = ObserverSubscription(call: Call(id: lastID, observer: observer))
            if let last, subscription.listener.append(last) { actions.append(.start(subscription.call)) }
            if hasEnded { subscription.listener.end() }
            if !subscription.listener.isDone { observers.append(subscription, lastID) }
            return lastID
        }

        mutating func remove(_ id: UInt64, _ actions: inout Actions) {
            if let reader = readers.remove(id) { actions.append(.releaseReader(reader)) }
            if var subscription = observers.remove(id) {
                actions += subscription.listener.takeWaiters().map { .wake($0) }
                actions.append(.releaseObserver(subscription))
            }
        }

        /// The delegate, or `nil` if there is none or it was released.
        var delegate: (any OperationDelegate)? { delegateSubscription?.object }

        mutating func setDelegate(_ delegate: (any OperationDelegate)?, _ actions: inout Actions) {
            if let former = delegateSubscription { remove(former.id, &actions) }
            delegateSubscription = delegate.map { delegate in
                Delegate(id: add(DelegateObserver(delegate: delegate), &actions), object: delegate)
            }
        }

        // MARK: Access to one subscription

        mutating func withReader<Result>(
            _ id: UInt64, _ body: (inout EventReader<Waiter>) -> Result
        ) -> Result? {
            readers.with(id, body)
        }

        mutating func withListener<Result>(
            _ id: UInt64, _ body: (inout EventListener<Waiter>) -> Result
        ) -> Result? {
            let answer = observers.with(id) { (body(&$0.listener), isDone: $0.listener.isDone) }
            // The task that calls the observer still retains it, so the observer is not released under the lock.
            if answer?.isDone == true { _ = observers.remove(id) }
            return answer?.0
        }
    }
}

// MARK: - Suspensions of the queue

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
