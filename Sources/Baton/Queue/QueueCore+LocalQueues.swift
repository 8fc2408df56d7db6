/// How operations come into the local queues of workers, and back.
///
/// Under the lock of a queue two workers with short bodies spend more time on one another's cache lines than on their
/// operations. A local queue makes it one lock for many of them. Local queues are out only while nothing comes before
/// what is in them, which is looked at after every change of the queue; so all that are out are of one priority.
extension QueueCore.State {
    /// What the worker does next, with more of the same in its local queue.
    @inline(__always)
    mutating func deal(to localQueue: LocalQueue) -> Scheduler.WorkerAction {
        let action = nextAction { $0.nextAction() }
        if localQueue.reach > 1, scheduler.width > 1, case .run(let first) = action {
            deal(to: localQueue, after: first)
        }
        return action
    }

    @inline(never)
    private mutating func deal(to localQueue: LocalQueue, after first: Unmanaged<AnyOperation>) {
        let level = first._withUnsafeGuaranteedRef { $0.level }
        guard scheduler.allowsLocalQueues(at: level), admission.isEmpty, let second = scheduler.popReady(at: level)
        else { return }
        localQueue.clear()
        localQueue.append(second)
        while localQueue.count + 1 < localQueue.reach, let next = scheduler.popReady(at: level) {
            localQueue.append(next)
        }
        localQueue.open()
        localQueues.append(localQueue, of: level)
        scheduler.note(localQueues)
    }

    /// The worker goes on with this, which what it has run made ready: what it runs from here on can leave by its local
    /// queue.
    @inline(never)
    mutating func goOn(with follower: Unmanaged<AnyOperation>, _ localQueue: LocalQueue) {
        if let position = localQueue.close() {
            for place in localQueue.placesLeft(at: position) { registry.leave(place: place) }
            localQueue.goOn(from: position)
            return
        }
        let level = follower._withUnsafeGuaranteedRef { $0.level }
        guard scheduler.allowsLocalQueues(at: level), admission.isEmpty,
            localQueues.isEmpty || localQueues.level == level
        else { return }
        localQueue.clear()
        localQueue.open()
        localQueues.append(localQueue, of: level)
    }

    /// The worker's own, before it asks for more. See ``LocalQueue/giveBack(isPlain:isNeeded:)``.
    @inline(__always)
    mutating func reclaim(own localQueue: LocalQueue, isPlain: Bool) {
        let isNeeded = localQueue.isOut && reclaim(localQueue)
        localQueue.giveBack(isPlain: isPlain, isNeeded: isNeeded)
    }

    /// True: something was left in it, or somebody has closed it before.
    @discardableResult
    @inline(never)
    private mutating func reclaim(_ localQueue: LocalQueue) -> Bool {
        guard let position = localQueue.close() else { return true }
        localQueues.remove(localQueue)
        for place in localQueue.placesLeft(at: position) { registry.leave(place: place) }
        for waiting in stride(from: localQueue.count - 1, through: position.next, by: -1) {
            scheduler.reclaim(localQueue[waiting], at: localQueues.level)
        }
        scheduler.note(localQueues)
        return position.next < localQueue.count
    }

    @inline(never)
    mutating func reclaimAll() {
        while let localQueue = localQueues.last { reclaim(localQueue) }
    }

    /// What the scheduler says a worker does next. What waits in the local queues of others comes first if nothing else
    /// of its priority does, and if they are stuck; and none stays out beside those of a higher priority.
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

    /// One that has ended before its run leaves whatever list it is in. True: nobody else lets go of it.
    mutating func unlist(_ operation: AnyOperation) -> Bool {
        if operation.listing == .localQueue || operation.listing == .releasedLocalQueue { reclaimAll() }
        return scheduler.remove(.passUnretained(operation))
    }

    /// Those that have not left, retained.
    mutating func members() -> [AnyOperation] {
        reclaimAll()
        return registry.members()
    }

    /// As above, of those that have entered at these places.
    mutating func members(at places: [UInt32]) -> [AnyOperation] {
        reclaimAll()
        return registry.members(at: places)
    }

    /// How many there are.
    mutating func count() -> Int {
        reclaimAll()
        return registry.count
    }
}
