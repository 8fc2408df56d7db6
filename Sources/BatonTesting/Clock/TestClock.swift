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
        /// The ticket and the deadline of each sleeper.
        var sleeping: [ObjectIdentifier: (ticket: TimerHeap<Instant, Wait>.Ticket, deadline: Instant)] = [:]
        /// The watchers, by the number of sleepers that they wait for.
        var watchers = TimerHeap<Int, Wait>()
        /// The watchers that wait for a sleeper with a certain deadline.
        var deadlineWatchers: [(wait: Wait, deadline: Instant)] = []
        /// The number of times that somebody has moved the clock.
        var moveCount = 0
        /// True if a line was written about the clock, because it stood still.
        var hasReportedStandstill = false
    }

    private let state = Locked(State())
    /// The watch of the waits on this clock. Nil if somebody else finds out that they do not end.
    private let watch: LongWaitWatch?
    /// Writes a line about a number that makes no sense.
    private let report: @Sendable (String) -> Void

    /// Makes a clock that stands at ``Instant/start``.
    public init() {
        watch = .shared
        report = { StandardErrorLine.write($0) }
    }

    init(
        watchedBy watch: LongWaitWatch?, report: @escaping @Sendable (String) -> Void = { StandardErrorLine.write($0) }
    ) {
        self.watch = watch
        self.report = report
    }

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
    /// - Throws: `CancellationError`, at once, when the task is cancelled, even if it was cancelled before.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let watched = watchStandstill()
        defer { if let watched { watch?.end(watched) } }
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
    /// - Parameter duration: The time to move the clock by. If it is negative, the clock does not move, and a line on
    ///   standard error says so.
    public func advance(by duration: Duration) {
        let now = move { $0.advanced(by: duration) }
        if duration < .zero { reportMove("advance(by:) cannot move the clock by \(duration)", now) }
    }

    /// Moves the clock forward to `instant` and wakes the sleepers whose deadlines have come.
    ///
    /// The calling thread resumes the sleepers in the order of their deadlines, and those with equal deadlines in the
    /// order of their arrival. They have not run yet when this method returns. The clock then stands at `instant` for
    /// all of them, so to test a task that sleeps in a loop, move the clock from one ``nextDeadline`` to the next.
    ///
    /// - Parameter instant: The moment to move the clock to. If it is earlier than ``now``, the clock does not move,
    ///   and a line on standard error says so.
    /// - Complexity: O(*k* log *n*), where *k* of *n* sleepers wake.
    public func advance(to instant: Instant) {
        let now = move { _ in instant }
        if instant < now { reportMove("advance(to:) cannot move the clock back to \(instant)", now) }
    }

    /// Suspends until at least `count` tasks sleep on this clock, so that a test can wait for its subject.
    ///
    /// The delays of a queue are one sleeper, however many there are: the queue sleeps until the first of them. To wait
    /// for a certain one, call ``waitForSleeper(until:file:line:)``.
    ///
    /// When the waiting task is cancelled, the method returns at once, whatever the number. After 5 to 10 seconds of
    /// real time it writes a line to standard error, with the number of tasks that do sleep.
    ///
    /// - Parameters:
    ///   - count: The number of sleeping tasks to wait for. If it is negative, the method returns at once, and a line
    ///     on standard error says so.
    ///   - file: The file that the line names.
    ///   - line: The line in that file.
    public func waitForSleepers(count: Int, file: StaticString = #fileID, line: UInt = #line) async {
        if count < 0 { report(LongWaitWatch.negative("TestClock.waitForSleepers", count, "tasks", file, line)) }
        let wait = Wait()
        let ticket = state.withLock { state in
            state.sleepers.count < count ? state.watchers.add(wait, at: count) : nil
        }
        guard let ticket else { return }
        let watched = watch?.begin { [weak self] in
            self?.lineAboutWait("TestClock.waitForSleepers(count: \(count))", file, line)
        }
        defer { if let watched { watch?.end(watched) } }
        _ = await wait.suspend(forgottenWhenCancelled: {
            _ = state.withLock { $0.watchers.remove(ticket) }
        })
    }

    /// Suspends until a task sleeps on this clock with exactly this deadline, so that a test can wait for a certain
    /// timer while others run.
    ///
    /// ```swift
    /// await clock.waitForSleeper(until: clock.now.advanced(by: .milliseconds(300)))
    /// clock.advance(by: .milliseconds(300))
    /// ```
    ///
    /// The delays of a queue are one sleeper, which sleeps until the first of them.
    ///
    /// The method also returns if the clock has reached that moment, because no task sleeps until then any more, and if
    /// the waiting task is cancelled. After 5 to 10 seconds of real time it writes a line to standard error, with the
    /// number of tasks that do sleep.
    ///
    /// - Parameters:
    ///   - deadline: The moment until which the task sleeps.
    ///   - file: The file that the line names.
    ///   - line: The line in that file.
    /// - Complexity: O(*n*), where *n* is the number of sleepers.
    public func waitForSleeper(until deadline: Instant, file: StaticString = #fileID, line: UInt = #line) async {
        let wait = Wait()
        let mustWait = state.withLock { state in
            if deadline <= state.now || state.sleeping.values.contains(where: { $0.deadline == deadline }) {
                return false
            }
            state.deadlineWatchers.append((wait, deadline))
            return true
        }
        if !mustWait { return }
        let watched = watch?.begin { [weak self] in
            self?.lineAboutWait("TestClock.waitForSleeper(until: \(deadline))", file, line)
        }
        defer { if let watched { watch?.end(watched) } }
        _ = await wait.suspend(forgottenWhenCancelled: {
            state.withLock { $0.deadlineWatchers.removeAll { $0.wait === wait } }
        })
    }

    /// Moves the clock, unless the target is in the past, and returns the moment at which it stands then.
    @discardableResult
    func move(to target: (Instant) -> Instant) -> Instant {
        let (woken, now) = state.withLock { state in
            state.now = max(state.now, target(state.now))
            state.moveCount += 1
            let sleepers = state.takeDue()
            return (sleepers + state.takeDeadlineWatchers { [now = state.now] in $0 <= now }, state.now)
        }
        for wait in woken { wait.resume() }
        return now
    }

    private func reportMove(_ problem: String, _ now: Instant) {
        report("TestClock.\(problem); it stays at \(now). Move it forward, or make a new one")
    }
}

// MARK: - Waits that take long

extension TestClock {
    /// Watches a task that is about to sleep. A clock is reported only once, so later sleepers are not watched.
    private func watchStandstill() -> LongWaitWatch.Ticket? {
        guard let watch else { return nil }
        let (moveCount, isReported) = state.withLock { ($0.moveCount, $0.hasReportedStandstill) }
        if isReported { return nil }
        // The number of moves when the sleep began or the watch has looked last.
        let seenMoves = Locked(moveCount)
        return watch.begin { [weak self] in
            guard let self else { return nil }
            let moveCount = state.withLock { $0.moveCount }
            let stands = seenMoves.withLock { seen in
                defer { seen = moveCount }
                return seen == moveCount
            }
            return stands ? lineAboutStandstill() : nil
        }
    }

    /// Returns nil if there is or was another line about the clock.
    private func lineAboutStandstill() -> String? {
        state.withLock { state in
            guard let next = state.sleepers.next, !state.hasReportedStandstill, state.watchers.count == 0,
                state.deadlineWatchers.isEmpty
            else { return nil }
            state.hasReportedStandstill = true
            return LongWaitWatch.standstill(at: state.now, sleepers: state.sleepers.count, until: next)
        }
    }

    private func lineAboutWait(_ call: String, _ file: StaticString, _ line: UInt) -> String {
        let (count, next, now) = state.withLock { ($0.sleepers.count, $0.sleepers.next, $0.now) }
        let deadline = next.map { ", \(count == 1 ? "" : "the first ")until \($0)" } ?? ""
        return "\(LongWaitWatch.beginning(call, file, line)): \(LongWaitWatch.tasks(count, "sleep")) on this clock"
            + "\(deadline), and it stands at \(now). Give this clock to the queue and to all other code that sleeps; "
            + "the delays of one queue are one sleeper"
    }
}

extension TestClock.State {
    /// Adds a sleeper, unless its task is cancelled. Returns the watchers that have waited for it, or nil if the
    /// deadline has passed.
    fileprivate mutating func add(_ sleeper: Wait, until deadline: TestClock.Instant) -> [Wait]? {
        if deadline <= now { return nil }
        if Task.isCancelled { return [] }
        sleeping[ObjectIdentifier(sleeper)] = (sleepers.add(sleeper, at: deadline), deadline)
        return watchers.takeDue(at: sleepers.count) + takeDeadlineWatchers { $0 == deadline }
    }

    /// Removes and returns the watchers of certain deadlines, in the order of their arrival.
    fileprivate mutating func takeDeadlineWatchers(of isDue: (TestClock.Instant) -> Bool) -> [Wait] {
        if deadlineWatchers.isEmpty { return [] }
        defer { deadlineWatchers.removeAll { isDue($0.deadline) } }
        return deadlineWatchers.filter { isDue($0.deadline) }.map(\.wait)
    }

    /// Removes a sleeper. It is not an error if the sleeper has been woken, or was not added.
    fileprivate mutating func remove(_ sleeper: Wait) {
        if let (ticket, _) = sleeping.removeValue(forKey: ObjectIdentifier(sleeper)) { _ = sleepers.remove(ticket) }
    }

    fileprivate mutating func takeDue() -> [Wait] {
        let due = sleepers.takeDue(at: now)
        for sleeper in due { sleeping[ObjectIdentifier(sleeper)] = nil }
        return due
    }
}

/// A timer on a virtual clock sleeps until its deadline, without waking in between.
extension TestClock: VirtualClock {}
