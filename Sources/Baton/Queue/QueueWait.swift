/// A wait of a body for something that another queue decides: that it is idle, or that a submission is admitted. The
/// wait ends if it can never end otherwise, because the operations of that queue wait for the body.
///
/// Such a wait is rare, and may be one for every operation of a queue. So the searches that each add and each wait
/// makes do not follow it. Instead, while a wait lasts, a background task simulates how the operations finish: after a
/// second, and then each time after twice as long, because a deadlock does not disappear.
final class QueueWait: Sendable {
    enum Goal {
        /// The queue is idle, for which all of its operations have to finish. In a deadlock the call is a misuse, and
        /// returns.
        case idleness
        /// The queue admits the submission with this number, for which one of its operations has to begin. In a
        /// deadlock the submission is admitted beyond the limit.
        case admission(UInt64)
    }

    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(64)

    /// The waits that have not ended, by the operation that stands for the wait.
    private static let underWay = Locked<[ObjectIdentifier: QueueWait]>([:])

    /// The queue that decides.
    private let core: QueueCore
    /// The operation whose body waits.
    private let body: AnyOperation
    private let goal: Goal
    /// Stands for what the queue decides: the body awaits this operation, and thereby releases its permit.
    private let placeholder: AnyOperation

    /// Called before the body awaits the placeholder.
    ///
    /// - Parameters:
    ///   - placeholder: The operation that the body awaits. It has not been added yet.
    ///   - queue: The queue of the body.
    init(of body: AnyOperation, in queue: QueueCore, for goal: Goal, of core: QueueCore, _ placeholder: AnyOperation) {
        self.body = body
        self.core = core
        self.goal = goal
        self.placeholder = placeholder
        AsyncOperationQueue(name: "waits for queues", executor: queue.services.executor).add(placeholder)
        Self.underWay.withLock { $0[ObjectIdentifier(placeholder)] = self }
        // A seeded schedule does not know timers of the system. It ends when nothing can go on.
        if !queue.slicesByCount, !core.slicesByCount { scheduleSearch(after: Self.firstPause) }
    }

    /// Called when the body has got the outcome of the placeholder.
    ///
    /// - Parameter error: The error, if the wait did not end by itself.
    func didEnd(_ error: OperationError?) {
        _ = Self.underWay.withLock { $0.removeValue(forKey: ObjectIdentifier(placeholder)) }
        guard case .idleness = goal, case .dependencyCycle(let path)? = error else { return }
        core.report(Misuse(.idlenessCycle(path), operation: body.reference, queue: core.name))
    }

    private func scheduleSearch(after pause: Duration) {
        // Captures `self` weakly on this thread. If the timer thread did so, it could hold the last strong reference,
        // and would run the deinitializers of the user's objects.
        let search: @Sendable () async -> Void = { [weak self] in
            guard let self, isUnderWay else { return }
            core.sweepLater(.init(queueWaits: [self]))
            scheduleSearch(after: min(pause * 2, Self.longestPause))
        }
        TimerThread.shared.call(after: pause) { TaskFactory.services.spawn(search) }
    }

    private var isUnderWay: Bool { Self.underWay.withLock { $0[ObjectIdentifier(placeholder)] != nil } }

    /// Ends the wait if it is part of a deadlock. Called by a sweep of the queue that decides.
    func endIfDeadlocked() {
        let first = FinishSimulation(from: placeholder, Self.underWay.withLock { $0 })
        guard let cycle = first.cycle() else { return }
        // The waits were read one after another. If a second simulation finds the same operations stuck, all of these
        // waits existed at the same time.
        guard isUnderWay, FinishSimulation(from: placeholder, Self.underWay.withLock { $0 }).findsStuck(first) else {
            return
        }
        switch goal {
        case .idleness:
            let path = CycleMember.path(cycle.map { CycleMember($0) })
            CycleFinder.Suspect(operation: placeholder, body: body).refuse(path)
        case .admission(let number): core.admitBeyondLimit(number)
        }
    }

    /// The operations of the queue one or all of which have to go on before the wait ends.
    fileprivate func operationsThatDecide() -> (operations: [AnyOperation], oneSuffices: Bool) {
        let members = core.state.withLock { $0.registry.members() }
        switch goal {
        case .idleness: return (members, false)
        case .admission: return (members.filter(\.isPending), true)
        }
    }
}

/// Finds the operations, among those that a wait for a queue directly or indirectly waits for, that can never finish.
///
/// An operation can finish when all that it waits for can, and a submission is admitted when one operation of its queue
/// can go on. What the simulation does not know for certain to wait is assumed to finish: claims behind others in the
/// wait queue of an exclusion, and those with very many holders in their way.
///
/// - Complexity: O(n + e) for n operations and e waits; a claim is asked again for each of its holders that finishes.
private struct FinishSimulation {
    private struct Node {
        let operation: AnyOperation
        /// The nodes that this one waits for, other than through exclusions.
        var sources: [Int] = []
        /// The nodes that have this one among their sources.
        var dependents: [Int] = []
        /// The number of sources that still have to finish.
        var missing = 0
        /// The holders of the exclusions that the operation waits for; nil if it waits for none.
        var holders: [Int]?
        /// The nodes that have this one among their holders.
        var claimants: [Int] = []
        var isFinishable = false
    }

    private static let maxHolders = 256

    private var nodes: [Node]
    private var places: [ObjectIdentifier: Int]

    init(from origin: AnyOperation, _ waits: [ObjectIdentifier: QueueWait]) {
        nodes = [Node(operation: origin)]
        places = [ObjectIdentifier(origin): 0]
        var next = 0
        while next < nodes.count {
            readWaits(of: next, waits)
            next += 1
        }
        for place in nodes.indices { finish(place) }
    }

    private mutating func readWaits(of place: Int, _ waits: [ObjectIdentifier: QueueWait]) {
        let operation = nodes[place].operation
        var (sources, oneSuffices) = (operation.waitsFor, false)
        if let wait = waits[ObjectIdentifier(operation)] { (sources, oneSuffices) = wait.operationsThatDecide() }
        nodes[place].sources = sources.map { node(of: $0) }
        nodes[place].missing = oneSuffices ? min(1, sources.count) : sources.count
        for source in nodes[place].sources { nodes[source].dependents.append(place) }
        let wait = ExclusionManager.wait(of: operation, upTo: Self.maxHolders)
        guard let wait, wait.holders.count < Self.maxHolders else { return }
        let holders = wait.holders.map { node(of: $0) }
        nodes[place].holders = holders
        for holder in holders { nodes[holder].claimants.append(place) }
    }

    private mutating func node(of operation: AnyOperation) -> Int {
        let place = places[ObjectIdentifier(operation), default: nodes.count]
        if place == nodes.count {
            places[ObjectIdentifier(operation)] = place
            nodes.append(Node(operation: operation))
        }
        return place
    }

    /// Finishes an operation if it can finish, and then all others that can finish because of that.
    private mutating func finish(_ first: Int) {
        var finishable: [Int] = []
        func note(_ place: Int) {
            if nodes[place].isFinishable || nodes[place].missing > 0 || !canClaim(place) { return }
            nodes[place].isFinishable = true
            finishable.append(place)
        }
        note(first)
        while let place = finishable.popLast() {
            for dependent in nodes[place].dependents {
                nodes[dependent].missing -= 1
                note(dependent)
            }
            for claimant in nodes[place].claimants { note(claimant) }
        }
    }

    /// Returns true if the operation waits for no exclusion that operations hold which may be stuck.
    private func canClaim(_ place: Int) -> Bool {
        guard let holders = nodes[place].holders else { return true }
        let remaining = holders.lazy.filter { !nodes[$0].isFinishable }.map { ObjectIdentifier(nodes[$0].operation) }
        return ExclusionManager.fits(nodes[place].operation, beside: Set(remaining))
    }

    /// Returns a shortest cycle of stuck operations, which begins with the origin. Returns nil if the origin can
    /// finish, or if it is stuck only because of others, which another search ends.
    func cycle() -> [AnyOperation]? {
        if nodes[0].isFinishable { return nil }
        return CycleFinder.cycle(through: nodes[0].operation) { operation in
            guard let place = places[ObjectIdentifier(operation)] else { return [] }
            let places = nodes[place].sources + (nodes[place].holders ?? [])
            return places.lazy.map { nodes[$0] }.filter { !$0.isFinishable }.map(\.operation)
        }
    }

    /// Returns true if everything that is stuck in the other simulation is stuck in this one.
    func findsStuck(_ other: FinishSimulation) -> Bool {
        other.nodes.allSatisfy { node in
            node.isFinishable || places[ObjectIdentifier(node.operation)].map { !nodes[$0].isFinishable } ?? false
        }
    }
}

extension QueueCore {
    /// Waits until the queue is idle. If a body calls this, an operation stands for the idleness, so that the body
    /// releases its permit and explanations say what it waits for.
    ///
    /// - Parameter afterClosing: Whether to wait first until the queue is closed.
    func waitUntilIdleReleasingPermit(afterClosing: Bool = false) async {
        guard let body = WorkerTaskContext.current?.running, let queue = body.core else {
            return await waitUntilIdle(afterClosing: afterClosing)
        }
        let idleness = AsyncOperation("idleness of \(name.map { "‘\($0)’" } ?? "a queue")") {
            await self.waitUntilIdle(afterClosing: afterClosing)
        }
        let wait = QueueWait(of: body, in: queue, for: .idleness, of: self, idleness)
        do throws(OperationError) {
            try await idleness.value
            wait.didEnd(nil)
        } catch { wait.didEnd(error) }
    }

    private func waitUntilIdle(afterClosing: Bool) async {
        if afterClosing { await waitUntilClosed() }
        await waitUntilIdle()
    }
}
