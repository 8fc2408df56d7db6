internal import Baton

/// A gate that holds tasks back until a test opens it.
///
/// ```swift
/// let gate = Gate()
/// let download = queue.add { await gate.wait() }
/// await gate.waitForWaiters(count: 1)     // the body of the download waits
/// gate.open()
/// ```
///
/// A gate that has been opened stays open.
public final class Gate: Sendable {
    private let machine: Locked<GateStateMachine<Wait>>
    private let watch: LongWaitWatch
    /// Writes a line about a number that makes no sense.
    private let report: @Sendable (String) -> Void

    /// Makes a gate, which is closed by default.
    ///
    /// - Parameter isOpen: True if the gate is to be open from the start.
    public init(isOpen: Bool = false) {
        machine = Locked(GateStateMachine(isOpen: isOpen))
        watch = .shared
        report = { StandardErrorLine.write($0) }
    }

    init(
        watchedBy watch: LongWaitWatch, report: @escaping @Sendable (String) -> Void = { StandardErrorLine.write($0) }
    ) {
        machine = Locked(GateStateMachine(isOpen: false))
        self.watch = watch
        self.report = report
    }

    /// True if the gate is open.
    public var isOpen: Bool { machine.withLock { $0.isOpen } }

    /// The number of tasks that wait for the gate to open.
    public var waiterCount: Int { machine.withLock { $0.waiterCount } }

    /// Suspends until the gate is open. Returns at once if it is open already.
    ///
    /// The method ignores cancellation, like a body that does not check for it: a cancelled task goes on waiting. Use
    /// ``waitUnlessCancelled()`` for a wait that a cancellation ends.
    ///
    /// If nobody has opened the gate after 5 to 10 seconds of real time, one line on standard error says how many tasks
    /// wait at it.
    public func wait() async {
        let wait = Wait()
        guard enter(wait) != nil else { return }
        let watched = watchClosedGate()
        defer { if let watched { watch.end(watched) } }
        await wait.suspend()
    }

    /// Suspends until the gate is open or the task is cancelled. Returns at once if the gate is open already.
    ///
    /// If nobody has opened the gate after 5 to 10 seconds of real time, one line on standard error says how many tasks
    /// wait at it.
    ///
    /// - Throws: `CancellationError`, at once, when the task is cancelled, even if it was cancelled before.
    public func waitUnlessCancelled() async throws {
        try Task.checkCancellation()
        let wait = Wait()
        guard let ticket = enter(wait) else { return }
        let watched = watchClosedGate()
        defer { if let watched { watch.end(watched) } }
        let passed = await wait.suspend(forgottenWhenCancelled: {
            machine.withLock { $0.removeWaiter(ticket) }
        })
        if !passed { throw CancellationError() }
    }

    /// Opens the gate and resumes the waiting tasks in the order of their arrival.
    ///
    /// The gate stays open. The calling thread resumes the tasks, which have not run yet when this method returns.
    public func open() {
        for waiter in machine.withLock({ $0.open() }) { waiter.resume() }
    }

    /// Suspends until at least `count` tasks wait for the gate to open.
    ///
    /// The method also returns if the gate is open or is opened, since no task will wait then, and if the calling task
    /// is cancelled. After 5 to 10 seconds of real time it writes a line to standard error, with the number of tasks
    /// that do wait.
    ///
    /// - Parameters:
    ///   - count: The number of waiting tasks to wait for. If it is negative, the method returns at once, and a line on
    ///     standard error says so.
    ///   - file: The file that the line names.
    ///   - line: The line in that file.
    public func waitForWaiters(count: Int, file: StaticString = #fileID, line: UInt = #line) async {
        if count < 0 { report(LongWaitWatch.negative("Gate.waitForWaiters", count, "tasks", file, line)) }
        let wait = Wait()
        guard let ticket = machine.withLock({ $0.watch(wait, count: count) }) else { return }
        let watched = watch.begin { [weak self] in
            guard let self else { return nil }
            let beginning = LongWaitWatch.beginning("Gate.waitForWaiters(count: \(count))", file, line)
            return "\(beginning): \(LongWaitWatch.tasks(waiterCount, "wait")) at this gate. Print `explain()` of the "
                + "operation that should reach it"
        }
        defer { watch.end(watched) }
        _ = await wait.suspend(forgottenWhenCancelled: {
            machine.withLock { $0.removeWatcher(ticket) }
        })
    }

    /// Watches a task that is about to wait. A gate is reported only once, so later waiters are not watched.
    private func watchClosedGate() -> LongWaitWatch.Ticket? {
        if machine.withLock({ $0.hasReportedWaiters }) { return nil }
        return watch.begin { [weak self] in
            self?.machine.withLock { $0.reportWaiters() }.map { LongWaitWatch.closed(waiters: $0) }
        }
    }

    /// Registers a waiter. Returns nil if the gate is open.
    private func enter(_ wait: Wait) -> GateStateMachine<Wait>.Ticket? {
        switch machine.withLock({ $0.arrive(wait) }) {
        case .pass:
            return nil
        case .wait(let ticket, let watchers):
            for watcher in watchers { watcher.resume() }
            return ticket
        }
    }
}
