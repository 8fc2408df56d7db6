/// A wait of a body for something that another queue decides: that it is idle, or that a submission is admitted. The
/// wait ends if it can never end otherwise, because the operations of that queue wait for the body.
///
/// Such a wait is rare, and may be one for every operation of a queue. So the searches that each add and each wait
/// makes do not follow it. Instead, ``QueueWaits`` searches in the background for as long as there are waits.
final class QueueWait: Sendable {
    enum Goal: Hashable {
        /// The queue is idle, for which all of its operations have to finish. In a deadlock the call is a misuse, and
        /// returns.
        case idleness
        /// The queue admits a submission, for which one of its operations has to begin. In a deadlock the submission is
        /// admitted beyond the limit.
        case admission(UInt64)
    }

    /// The queue that decides.
    let core: QueueCore
    /// The queue of the body.
    let queue: QueueCore
    /// The operation whose body waits.
    private let body: AnyOperation
    let goal: Goal
    /// The operation that is to be admitted.
    let submitted: AnyOperation?
    /// Stands for what the queue decides: the body awaits this operation, and thereby releases its permit.
    let placeholder: AnyOperation
    /// False on a seeded schedule, which does not know timers of the system. It ends when nothing can go on.
    let isSearched: Bool

    /// Called before the body awaits the placeholder.
    ///
    /// - Parameters:
    ///   - placeholder: The operation that the body awaits. It has not been added yet.
    ///   - queue: The queue of the body.
    init(
        of body: AnyOperation, in queue: QueueCore, for goal: Goal, of core: QueueCore, _ placeholder: AnyOperation,
        submitting submitted: AnyOperation? = nil
    ) {
        self.body = body
        self.queue = queue
        self.core = core
        self.goal = goal
        self.submitted = submitted
        self.placeholder = placeholder
        isSearched = !queue.slicesByCount && !core.slicesByCount
        AsyncOperationQueue(name: "waits for queues", executor: queue.services.executor).add(placeholder)
        QueueWaits.add(self)
    }

    /// Called when the body has got the outcome of the placeholder.
    ///
    /// - Parameter error: The error, if the wait did not end by itself.
    func didEnd(_ error: OperationError?) {
        QueueWaits.remove(self)
        guard case .idleness = goal, case .dependencyCycle(let path)? = error else { return }
        core.report(Misuse(.idlenessCycle(path), operation: body.reference, queue: core.name))
    }

    /// Ends the wait, which is part of a deadlock.
    ///
    /// - Parameter cycle: The operations on a cycle through the placeholder. Empty for an admission.
    func end(_ cycle: [AnyOperation]) {
        switch goal {
        case .idleness:
            let path = CycleMember.path(cycle.map { CycleMember($0) })
            CycleFinder.Suspect(operation: placeholder, body: body).refuse(path)
        case .admission(let number): core.admitBeyondLimit(number)
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

// MARK: - Searching

/// The waits of bodies for queues, and the search for deadlocks among them.
///
/// While there are waits, one search for all of them is made from time to time: a second after a wait has begun, and
/// then each time after twice as long, because a deadlock does not disappear. The pause is also ten times as long as
/// the search took, so that searches take no more than a tenth of one core.
enum QueueWaits {
    private struct State {
        /// The waits that have not ended, by the operation that stands for the wait, and with the order in which they
        /// began.
        var waits: [ObjectIdentifier: (wait: QueueWait, number: UInt64)] = [:]
        var lastNumber: UInt64 = 0
        /// The time of the next search. Nil if none is scheduled.
        var next: Int64?
        /// The earliest time of a search.
        var earliest: Int64 = 0
        var pause = firstPause
    }

    private static let firstPause: Int64 = 1_000_000_000
    private static let longestPause: Int64 = 64_000_000_000
    /// The number of times that a search is repeated at once because waits have changed meanwhile.
    private static let maxPasses = 8

    private static let state = Locked(State())

    fileprivate static func add(_ wait: QueueWait) {
        let now = TimerThread.now
        let time = state.withLock { state -> Int64? in
            state.lastNumber += 1
            state.waits[ObjectIdentifier(wait.placeholder)] = (wait, state.lastNumber)
            if !wait.isSearched { return nil }
            state.pause = firstPause
            return schedule(now + firstPause, &state)
        }
        if let time { search(at: time) }
    }

    fileprivate static func remove(_ wait: QueueWait) {
        // The waits are released outside the lock.
        _ = state.withLock { $0.waits.removeValue(forKey: ObjectIdentifier(wait.placeholder)) }
    }

    /// Returns the time for which the caller has to start a timer, or nil if an earlier search is scheduled.
    private static func schedule(_ time: Int64, _ state: inout State) -> Int64? {
        let time = max(time, state.earliest)
        if let next = state.next, next <= time { return nil }
        state.next = time
        return time
    }

    private static func search(at time: Int64) {
        TimerThread.shared.call(at: time) {
            // A later call has scheduled an earlier search.
            guard state.withLock({ $0.next == time }) else { return }
            TaskFactory.services.spawn { await search() }
        }
    }

    private static func search() async {
        let start = TimerThread.now
        let lastNumber = state.withLock { $0.lastNumber }
        var hasEnded = false
        for _ in 0..<maxPasses {
            switch pass() {
            case .foundNothing: break
            case .ended: hasEnded = true
            case .mustLookAgain:
                await Task.yield()
                continue
            }
            break
        }
        let end = TimerThread.now
        let time = state.withLock { state -> Int64? in
            state.next = nil
            state.earliest = end + 10 * (end - start)
            if !state.waits.values.contains(where: { $0.wait.isSearched }) { return nil }
            let isNews = hasEnded || state.lastNumber != lastNumber
            state.pause = isNews ? firstPause : min(2 * state.pause, longestPause)
            return schedule(end + state.pause, &state)
        }
        if let time { search(at: time) }
    }

    private enum Pass {
        case foundNothing
        /// Waits have ended.
        case ended
        /// Claims have left their wait queues, or waits have changed during the pass.
        case mustLookAgain
    }

    private static func pass() -> Pass {
        // The queues are not idle before the pass has released the operations that it has seen.
        let cores = state.withLock { state in
            let cores = state.waits.values.flatMap { [$0.wait.core, $0.wait.queue] }
            return Dictionary(cores.map { (ObjectIdentifier($0), $0) }) { first, _ in first }.values
        }
        for core in cores { core.addHolder() }
        let result = endDeadlocks()
        for core in cores { core.removeHolder() }
        return result
    }

    private static func endDeadlocks() -> Pass {
        let waits = state.withLock { $0.waits.values.sorted { $0.number < $1.number }.map(\.wait) }
        let origins = waits.lazy.filter(\.isSearched).map(\.placeholder)
        guard let first = WaitSimulation(from: Array(origins), through: QueueDecisions(waits)), !first.isClear,
            let second = WaitSimulation(from: Array(origins), through: QueueDecisions(waits))
        else { return .foundNothing }
        return switch first.resolve(confirmedBy: second) {
        case .unconfirmed, .queuesLeft: .mustLookAgain
        case .ended: .ended
        }
    }
}

/// The operations that waits for queues depend on, for one simulation.
///
/// All waits for the idleness of a queue share one operation that stands for it, and so do all waits for room in it. So
/// the number of edges grows with the operations of the queue and the waits, and not with their product.
struct QueueDecisions {
    private struct Key: Hashable {
        let core: ObjectIdentifier
        let isIdleness: Bool
    }

    private var waits: [ObjectIdentifier: QueueWait]
    /// The waits of the operations that are to be admitted.
    private var submissions: [ObjectIdentifier: QueueWait]
    private var keys: [ObjectIdentifier: (wait: QueueWait, isIdleness: Bool)] = [:]
    private var shared: [Key: AnyOperation] = [:]

    init(_ waits: [QueueWait] = []) {
        self.waits = Dictionary(waits.map { (ObjectIdentifier($0.placeholder), $0) }) { first, _ in first }
        let submissions = waits.compactMap { wait in wait.submitted.map { (ObjectIdentifier($0), wait) } }
        self.submissions = Dictionary(submissions) { first, _ in first }
    }

    var isEmpty: Bool { waits.isEmpty }

    func wait(of placeholder: AnyOperation) -> QueueWait? { waits[ObjectIdentifier(placeholder)] }

    /// True for an operation that stands for a queue, and that nobody but the simulation knows.
    func isShared(_ operation: AnyOperation) -> Bool { keys[ObjectIdentifier(operation)] != nil }

    /// Returns the operations that a placeholder, or an operation that is to be admitted, waits for. Returns nil for
    /// other operations.
    ///
    /// - Returns: The operations, and whether one of them suffices.
    mutating func sources(of operation: AnyOperation) -> (operations: [AnyOperation], oneSuffices: Bool)? {
        if isEmpty { return nil }
        if let wait = wait(of: operation) { return ([sharedOperation(for: wait)], false) }
        if let wait = submissions[ObjectIdentifier(operation)] { return ([wait.placeholder], false) }
        guard let (wait, isIdleness) = keys[ObjectIdentifier(operation)] else { return nil }
        let members = wait.core.state.withLock { $0.registry.members() }
        return isIdleness ? (members, false) : (members.filter(\.isPending), true)
    }

    private mutating func sharedOperation(for wait: QueueWait) -> AnyOperation {
        let key = Key(core: ObjectIdentifier(wait.core), isIdleness: wait.goal == .idleness)
        if let operation = shared[key] { return operation }
        let operation = AsyncOperation<Void> {}
        shared[key] = operation
        keys[ObjectIdentifier(operation)] = (wait, key.isIdleness)
        return operation
    }
}
