internal import Baton

/// A clock that stands still until a test moves it.
///
/// Give it to the code under test in place of `ContinuousClock`. The test then decides when time passes:
///
/// ```swift
/// let clock = TestClock()
/// let nap = Task { try await clock.sleep(for: .seconds(3600)) }
/// await clock.waitForSleepers(count: 1)
/// clock.advance(by: .seconds(3600))
/// try await nap.value
/// ```
///
/// The design follows the manual clocks of swift-async-algorithms and of Point-Free's swift-clocks.
public final class TestClock: Clock, Sendable {
    fileprivate struct State {
        var now = Instant.start
        var sleepers = TimerHeap<Instant, Wait>()
        var tickets: [ObjectIdentifier: TimerHeap<Instant, Wait>.Ticket] = [:]
        /// The watchers, by the number of sleepers that they wait for.
        var watchers = TimerHeap<Int, Wait>()
    }

    private let state = Locked(State())

    /// Makes a clock that stands at ``Instant/start``.
    public init() {}

    /// The moment at which the clock stands.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero, because a test clock can be moved by any amount.
    public var minimumResolution: Duration { .zero }

    /// The moment at which the next sleeper wakes, or nil if no task sleeps.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.next } }

    /// The number of tasks that sleep on this clock.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Suspends until the clock has been moved to `deadline` or beyond.
    ///
    /// Returns at once if the clock has reached that moment already.
    ///
    /// - Parameters:
    ///   - deadline: The moment at which the task wakes.
    ///   - tolerance: Not used.
    /// - Throws: `CancellationError`, at once, when the task is cancelled; also if it was cancelled before.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let wait = Wait()
        let woken = await wait.suspend {
            // From here on a cancellation removes the sleeper before the cancelling thread returns, so a test that sees
            // the sleeper can rely on it.
            let watchers = state.withLock { $0.add(wait, until: deadline) }
            guard let watchers else { return wait.resume() }
            for watcher in watchers { watcher.resume() }
        } forgottenWhenCancelled: {
            state.withLock { $0.remove(wait) }
        }
        if !woken { throw CancellationError() }
    }

    /// Moves the clock forward and wakes the sleepers whose deadlines have come.
    ///
    /// See ``advance(to:)`` for the order in which they wake.
    ///
    /// - Parameter duration: The time to move the clock by. If it is zero or negative, the clock does not move.
    public func advance(by duration: Duration) {
        advance { $0.advanced(by: duration) }
    }

    /// Moves the clock forward to `instant` and wakes the sleepers whose deadlines have come.
    ///
    /// The calling thread resumes the sleepers in the order of their deadlines, and those with equal deadlines in the
    /// order of their arrival. They have not run yet when this method returns. The clock then stands at `instant` for
    /// all of them, so to test a task that sleeps in a loop, move the clock from one ``nextDeadline`` to the next.
    ///
    /// - Parameter instant: The moment to move the clock to. If it is earlier than ``now``, the clock does not move.
    /// - Complexity: O(*k* log *n*), where *k* of *n* sleepers wake.
    public func advance(to instant: Instant) {
        advance { _ in instant }
    }

    /// Suspends until at least `count` tasks sleep on this clock, so that a test can wait for its subject.
    ///
    /// The delays of a queue are one sleeper, however many there are: the queue sleeps until the first of them. To wait
    /// for a certain one, compare ``nextDeadline``.
    ///
    /// When the waiting task is cancelled, the method returns at once, whatever the number.
    ///
    /// - Parameter count: The number of sleeping tasks to wait for.
    public func waitForSleepers(count: Int) async {
        let wait = Wait()
        let ticket = state.withLock { state in
            state.sleepers.count < count ? state.watchers.add(wait, at: count) : nil
        }
        guard let ticket else { return }
        _ = await wait.suspend(forgottenWhenCancelled: {
            _ = state.withLock { $0.watchers.remove(ticket) }
        })
    }

    private func advance(_ target: (Instant) -> Instant) {
        let woken = state.withLock { state in
            state.now = max(state.now, target(state.now))
            return state.takeDue()
        }
        for sleeper in woken { sleeper.resume() }
    }
}

extension TestClock.State {
    /// Adds a sleeper, unless its task is cancelled. Returns the watchers that have waited for it, or nil if the
    /// deadline has passed.
    fileprivate mutating func add(_ sleeper: Wait, until deadline: TestClock.Instant) -> [Wait]? {
        if deadline <= now { return nil }
        if Task.isCancelled { return [] }
        tickets[ObjectIdentifier(sleeper)] = sleepers.add(sleeper, at: deadline)
        return watchers.takeDue(at: sleepers.count)
    }

    /// Removes a sleeper. It is not an error if the sleeper has been woken, or was not added.
    fileprivate mutating func remove(_ sleeper: Wait) {
        if let ticket = tickets.removeValue(forKey: ObjectIdentifier(sleeper)) { _ = sleepers.remove(ticket) }
    }

    fileprivate mutating func takeDue() -> [Wait] {
        let due = sleepers.takeDue(at: now)
        for sleeper in due { tickets[ObjectIdentifier(sleeper)] = nil }
        return due
    }
}

/// A timer on a virtual clock sleeps until its deadline, without waking in between.
extension TestClock: VirtualClock {}
