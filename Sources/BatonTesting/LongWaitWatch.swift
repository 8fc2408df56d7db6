internal import Baton

/// Writes one line to standard error about each wait of a test that takes more than some seconds: such a test may wait
/// forever, and a test runner does not say what for.
///
/// One timer serves all waits of the process. It runs only while there are waits that no line was written about.
final class LongWaitWatch: Sendable {
    typealias Ticket = Int

    /// Returns the line about a wait, or nil if there is nothing to say about it. Then the next check asks again.
    typealias Text = @Sendable () -> String?

    private struct Watched {
        let text: Text
        /// True if the wait had begun before the latest check.
        var wasSeen = false
    }

    private struct State {
        var waits: [Ticket: Watched] = [:]
        var lastTicket: Ticket = 0
        var isScheduled = false
    }

    /// The watch of all clocks, gates and logs that users make.
    static let shared = LongWaitWatch(
        schedule: { LateCall.schedule(after: .seconds(period), $0) }, write: { StandardErrorLine.write($0) })

    /// The time between two checks, in seconds. The second check that sees a wait writes the line.
    private static let period = 5

    private let state = Locked(State())
    private let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - schedule: Calls its argument after the time between two checks.
    ///   - write: Writes a line.
    init(
        schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.schedule = schedule
        self.write = write
    }

    /// Begins to watch a wait. The caller ends it with ``end(_:)``.
    ///
    /// - Parameter text: Called on another thread, without a lock. It does not retain what the wait belongs to.
    func begin(_ text: @escaping Text) -> Ticket {
        let (ticket, mustSchedule) = state.withLock { state in
            state.lastTicket += 1
            state.waits[state.lastTicket] = Watched(text: text)
            defer { state.isScheduled = true }
            return (state.lastTicket, !state.isScheduled)
        }
        if mustSchedule { scheduleCheck() }
        return ticket
    }

    /// Ends the watch of a wait. It is not an error if a line was written about it.
    func end(_ ticket: Ticket) {
        _ = state.withLock { $0.waits.removeValue(forKey: ticket) }
    }

    /// The number of waits that no line was written about, for tests.
    var count: Int { state.withLock { $0.waits.count } }

    private func scheduleCheck() { schedule { self.check() } }

    private func check() {
        let long = state.withLock { state in
            let long = state.waits.filter(\.value.wasSeen)
            for ticket in state.waits.keys { state.waits[ticket]?.wasSeen = true }
            return long
        }
        for (ticket, wait) in long.sorted(by: { $0.key < $1.key }) {
            guard let text = wait.text() else { continue }
            end(ticket)
            write(text)
        }
        let mustSchedule = state.withLock { state in
            state.isScheduled = !state.waits.isEmpty
            return state.isScheduled
        }
        if mustSchedule { scheduleCheck() }
    }
}

extension LongWaitWatch {
    /// The beginning of a line about a call that waits.
    static func beginning(_ call: String, _ file: StaticString, _ line: UInt) -> String {
        "\(call) has waited for more than \(period) seconds (\(file):\(line))"
    }

    /// The line about a clock that nobody has moved, on which tasks sleep.
    static func standstill(at now: TestClock.Instant, sleepers: Int, until next: TestClock.Instant) -> String {
        "a TestClock has stood at \(now) for more than \(period) seconds, and \(tasks(sleepers, "sleep")) on it, "
            + "\(sleepers == 1 ? "" : "the first ")until \(next). If the test hangs, move the clock with `advance(by:)`"
    }

    /// The line about a gate that nobody has opened, at which tasks wait.
    static func closed(waiters: Int) -> String {
        "a Gate has been closed for more than \(period) seconds, and \(tasks(waiters, "wait")) at it. If the test "
            + "hangs, open the gate with `open()`"
    }

    /// The line about a call that should wait for a negative number of things.
    static func negative(
        _ call: String, _ count: Int, _ things: String, _ file: StaticString, _ line: UInt
    ) -> String {
        "\(call) cannot wait for \(count) \(things); it returned at once. Ask for 1 or more (\(file):\(line))"
    }

    /// The number of tasks with a verb, as in "1 task sleeps".
    static func tasks(_ count: Int, _ verb: String) -> String {
        switch count {
        case 0: "no task \(verb)s"
        case 1: "1 task \(verb)s"
        default: "\(count) tasks \(verb)"
        }
    }
}
