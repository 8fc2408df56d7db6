import Testing

@testable import Baton

@Suite("How many threads serve") struct ServiceJobsTests {
    private typealias Jobs = ServiceJobs<Int>

    /// Threads that have been started ask for their turn, at this time.
    private func take(_ jobs: inout Jobs, since sleepStart: Int64? = nil, at now: Int64 = 0) -> String {
        switch jobs.nextAction(since: sleepStart, now: now) {
        case .run(let job): "\(job)"
        case .sleep(let nanoseconds): nanoseconds.map { "sleep \($0)" } ?? "sleep"
        case .end: "end"
        }
    }

    @Test("The first jobs start the threads that stay, and the next one is watched")
    func firstJobs() {
        var jobs = Jobs(processors: 2)
        #expect(jobs.append(1) == Jobs.Action(startsThread: true))
        #expect(jobs.append(2) == Jobs.Action(startsThread: true))
        #expect(jobs.append(3) == Jobs.Action(watches: true))
        #expect(jobs.append(4) == Jobs.Action())
    }

    @Test("A thread that sleeps is woken, and a second job does not count on it")
    func sleepingThread() {
        var jobs = Jobs(processors: 2)
        _ = (jobs.append(1), jobs.append(2))
        #expect((take(&jobs), take(&jobs)) == ("1", "2"))
        #expect(take(&jobs) == "sleep")
        #expect(jobs.append(3) == Jobs.Action(wakesThread: true))
        #expect(jobs.append(4) == Jobs.Action(wakesThread: true, watches: true))
        #expect(take(&jobs, since: 0) == "3")
    }

    @Test("Another thread comes when none gets on, up to a limit")
    func blockedThreads() {
        var jobs = Jobs(processors: 2)
        for job in 1...100 { _ = jobs.append(job) }
        _ = (take(&jobs), take(&jobs))
        // The two have begun something since then.
        #expect(jobs.look() == Jobs.Action(watches: true))
        for count in 3...Jobs.most {
            #expect(jobs.look() == Jobs.Action(startsThread: true, watches: true))
            #expect(jobs.threadCount == count)
        }
        #expect(jobs.look() == Jobs.Action(watches: true))
    }

    @Test("As many threads as processors come also when the others get on")
    func processors() {
        var jobs = Jobs(processors: 4)
        for job in 1...10 { _ = jobs.append(job) }
        _ = take(&jobs)
        #expect(jobs.look() == Jobs.Action(startsThread: true, watches: true))
    }

    @Test("Threads that are not needed end after a while, and those that stay do not")
    func patience() {
        var jobs = Jobs(processors: 3)
        for job in 1...3 { _ = jobs.append(job) }
        #expect(jobs.look().startsThread)
        for _ in 1...3 { _ = take(&jobs) }
        #expect(take(&jobs, at: 5) == "sleep \(Jobs.patience)")
        #expect(take(&jobs, since: 5, at: 6) == "sleep \(Jobs.patience - 1)")
        #expect(take(&jobs, since: 5, at: 5 + Jobs.patience) == "end")
        #expect(take(&jobs) == "sleep")
    }

    @Test("Jobs are not lost when the system gives no threads")
    func noThreads() {
        var jobs = Jobs(processors: 2)
        _ = (jobs.append(1), jobs.append(2))
        #expect(jobs.threadFailed() == [])
        #expect(jobs.threadFailed() == [1, 2])
    }
}
