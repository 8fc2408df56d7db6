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

    /// Makes a gate, which is closed by default.
    ///
    /// - Parameter isOpen: True if the gate is to be open from the start.
    public init(isOpen: Bool = false) {
        machine = Locked(GateStateMachine(isOpen: isOpen))
    }

    /// True if the gate is open.
    public var isOpen: Bool { machine.withLock { $0.isOpen } }

    /// The number of tasks that wait for the gate to open.
    public var waiterCount: Int { machine.withLock { $0.waiterCount } }

    /// Suspends until the gate is open. Returns at once if it is open already.
    ///
    /// The method ignores cancellation, like a body that does not check for it: a cancelled task goes on waiting. Use
    /// ``waitUnlessCancelled()`` for a wait that a cancellation ends.
    public func wait() async {
        let wait = Wait()
        if enter(wait) != nil { await wait.suspend() }
    }

    /// Suspends until the gate is open or the task is cancelled. Returns at once if the gate is open already.
    ///
    /// - Throws: `CancellationError`, at once, when the task is cancelled; also if it was cancelled before.
    public func waitUnlessCancelled() async throws {
        try Task.checkCancellation()
        let wait = Wait()
        guard let ticket = enter(wait) else { return }
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
    /// is cancelled.
    ///
    /// - Parameter count: The number of waiting tasks to wait for.
    public func waitForWaiters(count: Int) async {
        let wait = Wait()
        guard let ticket = machine.withLock({ $0.watch(wait, count: count) }) else { return }
        _ = await wait.suspend(forgottenWhenCancelled: {
            machine.withLock { $0.removeWatcher(ticket) }
        })
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
