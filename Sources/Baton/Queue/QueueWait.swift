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

    /// A decision of a queue for which many bodies may wait at once: that it is idle, or that it admits submissions.
    struct Decision: Hashable {
        let core: ObjectIdentifier
        let isIdleness: Bool
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

    var decision: Decision { Decision(core: ObjectIdentifier(core), isIdleness: goal == .idleness) }

    /// The operations of the queue on which the decision depends: all unfinished ones for its idleness, and those that
    /// have not begun for an admission.
    var membersThatDecide: [AnyOperation] {
        let members = core.state.withLock { $0.registry.members() }
        return switch goal {
        case .idleness: members.filter { !$0.hasFinished }
        case .admission: members.filter(\.isPending)
        }
    }

    /// Called when the body has received the outcome of the placeholder.
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
    /// - Parameter end: The event that ends the wait.
    func waitUntilIdleReleasingPermit(_ end: IdleWaitEnd = .idle) async {
        guard let body = WorkerTaskContext.current?.running, let queue = body.coreIfUnderWay else {
            return await waitUntilIdle(end)
        }
        let idleness = AsyncOperation("idleness of \(name?.quoted ?? "a queue")") { await self.waitUntilIdle(end) }
        let wait = QueueWait(of: body, in: queue, for: .idleness, of: self, idleness)
        do throws(OperationError) {
            try await idleness.value
            wait.didEnd(nil)
        } catch { wait.didEnd(error) }
    }

    private func waitUntilIdle(_ end: IdleWaitEnd) async {
        if end == .endOfLaterShutdown { await waitUntilClosed() }
        repeat { await waitUntilIdle() } while end != .idle && !closeIfIdle()
    }
}

/// Reports waits for the idleness of a queue that nobody resumes, because they would not end without a message.
extension QueueCore {
    /// The time within which a queue whose idleness is awaited has to be resumed.
    private static let timeToBeResumed = Duration.seconds(1)

    /// Starts a check of whether the queue has been resumed in time. Call this before a wait for its idleness.
    ///
    /// Seeded schedules are left out, because the timer would be one more job of theirs.
    ///
    /// - Parameter call: The name of the method that waits.
    /// - Returns: The task of the check, which the caller cancels when the wait has ended. Nil if the queue is not
    ///   suspended, or has no operations.
    func checkSuspension(during call: String) -> Task<Void, Never>? {
        let isSuspended = state.withLock { $0.scheduler.isSuspended && $0.registry.count > 0 }
        if !isSuspended || slicesByCount { return nil }
        let time = time
        return taskFactory.background.spawn { [weak self] in
            if (try? await time.sleep(for: Self.timeToBeResumed)) != nil { self?.reportIfSuspended(during: call) }
        }
    }

    private func reportIfSuspended(during call: String) {
        let waitsForResumption = holding {
            let (isSuspended, members) = state.withLock { ($0.scheduler.isSuspended, $0.registry.members()) }
            return isSuspended && members.contains { $0.waitsForResumption }
        }
        if waitsForResumption { report(Misuse(.waitedForSuspendedQueue(call), queue: name)) }
    }
}

extension AnyOperation {
    /// True if the operation has not begun and does not start while its queue is suspended.
    fileprivate final var waitsForResumption: Bool {
        !isFence && withLifecycle { $0.phase == .added && !goesFirst }
    }
}

/// The event that ends a wait for the idleness of a queue.
enum IdleWaitEnd {
    case idle
    /// The queue is idle, and is then closed: its shutdown has ended.
    case endOfShutdown
    /// Like ``endOfShutdown``, after a wait until the shutdown begins.
    case endOfLaterShutdown
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

    /// Returns the wait for which an operation stands, or nil for other operations.
    static func wait(of placeholder: AnyOperation) -> QueueWait? {
        state.withLock { $0.waits[ObjectIdentifier(placeholder)]?.wait }
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
        let (result, cores) = endDeadlocks()
        for core in cores { core.endHold() }
        return result
    }

    /// Returns the waits to search, and holds their queues: these are not idle before the caller has released the
    /// operations that the search has seen. The holds begin under the lock, before the bodies of these waits can end.
    /// Waits on seeded schedules are left out, because the end of a hold would bring them a job from outside.
    private static func holdWaits() -> (waits: [QueueWait], cores: [QueueCore]) {
        state.withLock { state in
            let waits = state.waits.values.filter(\.wait.isSearched).sorted { $0.number < $1.number }.map(\.wait)
            let cores = waits.flatMap { [$0.core, $0.queue] }
            for core in cores { core.holds.begin() }
            return (waits, cores)
        }
    }

    /// Returns what the search has found, and the queues whose holds the caller ends. The waits are released before.
    private static func endDeadlocks() -> (Pass, [QueueCore]) {
        let (waits, cores) = holdWaits()
        return (endDeadlocks(among: waits), cores)
    }

    private static func endDeadlocks(among waits: [QueueWait]) -> Pass {
        let origins = waits.map(\.placeholder)
        guard let first = WaitSimulation(from: origins, through: QueueDecisions(waits)), !first.isClear,
            let second = WaitSimulation(from: origins, through: QueueDecisions(waits))
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
    private var waits: [ObjectIdentifier: QueueWait]
    /// The waits of the operations that are to be admitted.
    private var submissions: [ObjectIdentifier: QueueWait]
    private var keys: [ObjectIdentifier: (wait: QueueWait, isIdleness: Bool)] = [:]
    private var shared: [QueueWait.Decision: AnyOperation] = [:]

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
        let decision = wait.decision
        if let operation = shared[decision] { return operation }
        let operation = AsyncOperation<Void> {}
        shared[decision] = operation
        keys[ObjectIdentifier(operation)] = (wait, decision.isIdleness)
        return operation
    }
}
