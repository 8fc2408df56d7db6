internal import Baton

/// A closed door that holds tasks back until the test opens it.
///
/// ```swift
/// let gate = Gate()
/// let download = queue.add { await gate.wait() }
/// await gate.waitForWaiters(count: 1)     // the download has begun
/// gate.open()
/// ```
///
/// A gate that has been opened stays open.
public final class Gate: Sendable {
    private let machine: Locked<GateStateMachine<Wait>>

    /// A gate, closed unless said otherwise.
    public init(isOpen: Bool = false) {
        machine = Locked(GateStateMachine(isOpen: isOpen))
    }

    /// Whether the gate has been opened.
    public var isOpen: Bool { machine.withLock { $0.isOpen } }

    /// How many tasks wait for the gate to open.
    public var waiterCount: Int { machine.withLock { $0.waiterCount } }

    /// Suspends until the gate is open; returns at once if it is.
    ///
    /// Ignores cancellation: a cancelled task waits, too, like a body that pays no heed to being cancelled. Use
    /// ``waitUnlessCancelled()`` for one that does.
    public func wait() async {
        let wait = Wait()
        if enter(wait) != nil { await wait.suspend() }
    }

    /// Suspends until the gate is open or the task is cancelled; returns at once if it is open.
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

    /// Opens the gate for good and lets those who wait go on, in the order in which they came.
    ///
    /// They are resumed by the calling thread and have not yet run when this returns.
    public func open() {
        for waiter in machine.withLock({ $0.open() }) { waiter.end() }
    }

    /// Suspends until at least `count` tasks wait for the gate to open.
    ///
    /// Returns at once, whatever the number, if the gate is open, and as soon as it is: nobody waits then any more. The
    /// same holds when the waiting task is cancelled.
    public func waitForWaiters(count: Int) async {
        let wait = Wait()
        guard let ticket = machine.withLock({ $0.watch(wait, count: count) }) else { return }
        _ = await wait.suspend(forgottenWhenCancelled: {
            machine.withLock { $0.removeWatcher(ticket) }
        })
    }

    /// Nil if the gate is open.
    private func enter(_ wait: Wait) -> GateStateMachine<Wait>.Ticket? {
        switch machine.withLock({ $0.arrive(wait) }) {
        case .pass:
            return nil
        case .wait(let ticket, let watchers):
            for watcher in watchers { watcher.end() }
            return ticket
        }
    }
}
