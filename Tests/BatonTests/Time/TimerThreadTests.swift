import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct TimerThreadTests {
    @Test("Timers fire even if the system provides no thread for them", arguments: [1, 3])
    func withoutAThread(_ count: Int) async throws {
        let attempts = Locked(0)
        let timers = TimerThread { _ in
            attempts.withLock { $0 += 1 }
            return false
        }
        for _ in 0..<count {
            try await timers.sleep(until: TimerThread.now + 1_000_000)
        }
        #expect(attempts.withLock { $0 } >= 1)
    }

    @Test("A timer that is removed does not fire, and the others do, on a thread that is started once")
    func withAThread() async throws {
        let starts = Locked(0)
        let timers = TimerThread { body in
            starts.withLock { $0 += 1 }
            return PosixThread.start("timers", body)
        }
        let removed = timers.call(at: TimerThread.now + 60_000_000_000) { Issue.record("It was removed.") }
        #expect(timers.remove(removed))
        #expect(!timers.remove(removed))
        try await timers.sleep(until: TimerThread.now + 1_000_000)
        #expect(starts.withLock { $0 } == 1)
    }
}
