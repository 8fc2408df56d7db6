/// A wait of a body for the idleness of another queue. The wait ends if it is part of a cycle.
///
/// Such a wait is rare, and waits for every operation of the queue. So the searches that each add and each wait makes
/// do not follow it. Instead, while a wait lasts, a background task looks for a cycle through it: after a second, and
/// then each time after twice as long, because a cycle does not disappear.
final class IdlenessWait: Sendable {
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(64)

    /// The waits that have not ended, by the operation that stands for the idleness.
    private static let underWay = Locked<[ObjectIdentifier: IdlenessWait]>([:])

    /// The queue that is to become idle.
    private let core: QueueCore
    /// The operation whose body waits.
    private let body: AnyOperation
    /// Stands for the idleness: the body awaits this operation, and thereby releases its permit.
    private let idleness: AsyncOperation<Void>

    init(of body: AnyOperation, for core: QueueCore, afterClosing: Bool) {
        self.body = body
        self.core = core
        idleness = AsyncOperation("idleness of \(core.name.map { "‘\($0)’" } ?? "a queue")") {
            await core.waitUntilIdle(afterClosing: afterClosing)
        }
    }

    /// Waits on behalf of the body. If the wait is part of a cycle, reports that, and returns although the queue is not
    /// idle.
    ///
    /// - Parameter queue: The queue of the body.
    func run(from queue: QueueCore) async {
        AsyncOperationQueue(name: "idleness", executor: queue.services.executor).add(idleness)
        Self.underWay.withLock { $0[ObjectIdentifier(idleness)] = self }
        // A seeded schedule does not know timers of the system. It ends when nothing can go on.
        if !queue.slicesByCount, !core.slicesByCount { scheduleSearch(after: Self.firstPause) }
        let refusal: OperationError?
        do throws(OperationError) {
            try await idleness.value
            refusal = nil
        } catch { refusal = error }
        _ = Self.underWay.withLock { $0.removeValue(forKey: ObjectIdentifier(idleness)) }
        guard case .dependencyCycle(let path)? = refusal else { return }
        core.report(Misuse(.idlenessCycle(path), operation: body.reference, queue: core.name))
    }

    private func scheduleSearch(after pause: Duration) {
        // Captures `self` weakly on this thread. If the timer thread did so, it could hold the last strong reference,
        // and would run the deinitializers of the user's objects.
        let search: @Sendable () async -> Void = { [weak self] in
            guard let self, isUnderWay else { return }
            core.sweepLater(.init(idlenessWaits: [self]))
            scheduleSearch(after: min(pause * 2, Self.longestPause))
        }
        TimerThread.shared.call(after: pause) { TaskFactory.services.spawn(search) }
    }

    private var isUnderWay: Bool { Self.underWay.withLock { $0[ObjectIdentifier(idleness)] != nil } }

    /// Ends the wait if it is part of a cycle. Called by a sweep of the queue that is to become idle.
    func endIfOnCycle() {
        let waits = Self.underWay.withLock { $0 }
        func neighbours(_ operation: AnyOperation) -> [AnyOperation] {
            guard let wait = waits[ObjectIdentifier(operation)] else { return operation.waitsFor }
            return wait.core.state.withLock { $0.registry.members() }
        }
        guard let cycle = CycleFinder.cycle(through: idleness, waitsFor: neighbours) else { return }
        // The waits were read one after another. If each of them still exists, all of them existed at the same time.
        for (operation, next) in zip(cycle, cycle.dropFirst() + cycle.prefix(1)) {
            if !neighbours(operation).contains(where: { $0 === next }) { return }
        }
        let path = CycleMember.path(cycle.map { CycleMember($0) })
        CycleFinder.Suspect(operation: idleness, body: body).refuse(path)
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
        await IdlenessWait(of: body, for: self, afterClosing: afterClosing).run(from: queue)
    }

    fileprivate func waitUntilIdle(afterClosing: Bool) async {
        if afterClosing { await waitUntilClosed() }
        await waitUntilIdle()
    }
}
