/// Moves operations between the queue and the local queues of its workers.
///
/// Workers with short bodies that take the queue's lock for each operation spend more time on moving cache lines than
/// on operations. With local queues they take the lock once for many operations. Local queues are
/// reclaimed as soon as an operation of another priority becomes ready, so all operations in them have one priority.
extension QueueCore.State {
    /// Returns what the worker does next, and fills its local queue with more operations of the same priority.
    @inline(__always)
    mutating func nextAction(refilling localQueue: LocalQueue) -> Scheduler.WorkerAction {
        let action = nextAction { $0.nextAction() }
        if localQueue.batchLimit > 1, scheduler.width > 1, case .run(let first) = action {
            refill(localQueue, after: first)
        }
        return action
    }

    @inline(never)
    private mutating func refill(_ localQueue: LocalQueue, after first: Unmanaged<AnyOperation>) {
        let level = first._withUnsafeGuaranteedRef { $0.currentPriority }
        guard scheduler.allowsLocalQueues(at: level), admission.isEmpty, let second = scheduler.popReady(at: level)
        else { return }
        localQueue.clear()
        localQueue.append(second)
        while localQueue.count + 1 < localQueue.batchLimit, let next = scheduler.popReady(at: level) {
            localQueue.append(next)
        }
        localQueue.open()
        localQueues.append(localQueue, of: level)
        scheduler.note(localQueues)
    }

    /// Opens the local queue of a worker that continues with `follower`, which its last operation has made ready, or
    /// empties its list of removed operations. The worker can then record finished operations in it instead of taking
    /// the queue's lock.
    @inline(never)
    mutating func open(_ localQueue: LocalQueue, continuingWith follower: Unmanaged<AnyOperation>) {
        if let position = localQueue.close() {
            for place in localQueue.removedPlaces(at: position) { registry.remove(at: place) }
            localQueue.reopen(at: position)
            return
        }
        let level = follower._withUnsafeGuaranteedRef { $0.currentPriority }
        guard scheduler.allowsLocalQueues(at: level), admission.isEmpty,
            localQueues.isEmpty || localQueues.level == level
        else { return }
        localQueue.clear()
        localQueue.open()
        localQueues.append(localQueue, of: level)
    }

    /// Reclaims the worker's own local queue before the worker asks for more. See
    /// ``LocalQueue/endBatch(isPlain:isNeeded:)``.
    @inline(__always)
    mutating func reclaim(own localQueue: LocalQueue, isPlain: Bool) {
        let isNeeded = localQueue.isInUse && reclaim(localQueue)
        localQueue.endBatch(isPlain: isPlain, isNeeded: isNeeded)
    }

    /// Closes a local queue, removes from the registry the operations that its worker has removed from the queue, and
    /// makes those that wait in it ready again.
    ///
    /// - Returns: True if operations were waiting in it, or if another thread had closed it before.
    @discardableResult
    @inline(never)
    private mutating func reclaim(_ localQueue: LocalQueue) -> Bool {
        guard let position = localQueue.close() else { return true }
        localQueues.remove(localQueue)
        for place in localQueue.removedPlaces(at: position) { registry.remove(at: place) }
        for waiting in stride(from: localQueue.count - 1, through: position.next, by: -1) {
            scheduler.reclaim(localQueue[waiting], at: localQueues.level)
        }
        scheduler.note(localQueues)
        return position.next < localQueue.count
    }

    @inline(never)
    mutating func reclaimAll() {
        while let localQueue = localQueues.last {
            assert(localQueue.position != nil, "A local queue that is listed is open.")
            reclaim(localQueue)
        }
    }

    /// Returns the next action of the worker.
    ///
    /// This first reclaims the local queue of a worker that has not moved since the last look, and all local queues if
    /// the next operation that could start has another priority. So a worker that finds nothing else of that priority
    /// takes over the operations that wait behind other workers' bodies.
    @inline(__always)
    mutating func nextAction(_ ask: (inout Scheduler) -> Scheduler.WorkerAction) -> Scheduler.WorkerAction {
        if !localQueues.isEmpty { lookAtLocalQueues() }
        return ask(&scheduler)
    }

    @inline(never)
    private mutating func lookAtLocalQueues() {
        if let stuck = localQueues.findStuck() { reclaim(stuck) }
        while let localQueue = localQueues.last, scheduler.highestStartable != localQueues.level { reclaim(localQueue) }
    }

    /// Removes from its list an operation that ended before it ran.
    ///
    /// - Returns: True if it was in a list. The caller then releases it, because nobody else will.
    mutating func unlist(_ operation: AnyOperation) -> Bool {
        if operation.listing == .localQueue || operation.listing == .releasedLocalQueue { reclaimAll() }
        return scheduler.remove(.passUnretained(operation))
    }

    /// Returns the operations that have not left the queue.
    ///
    /// - Complexity: O(n) for n operations in the queue.
    mutating func members() -> [AnyOperation] {
        reclaimAll()
        return registry.members()
    }

    /// Returns the operations that occupy these places of the registry.
    mutating func members(at places: [UInt32]) -> [AnyOperation] {
        reclaimAll()
        return registry.members(at: places)
    }

    /// Returns the number of operations that have not left the queue.
    mutating func count() -> Int {
        reclaimAll()
        return registry.count
    }
}
