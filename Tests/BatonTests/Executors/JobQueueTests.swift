import Testing

@testable import Baton

@Suite struct JobQueueTests {
    private enum Step: Equatable {
        case run(Int)
        case sleep
        case end
    }

    private func next(_ queue: inout JobQueue<Int>) -> Step {
        switch queue.nextAction() {
        case .run(let job): .run(job)
        case .sleep: .sleep
        case .end: .end
        }
    }

    @Test func jobsComeInTheirOrder() {
        var queue = JobQueue<Int>()
        for job in 1...3 { _ = queue.append(job) }
        #expect([next(&queue), next(&queue)] == [.run(1), .run(2)])
        _ = queue.append(4)
        #expect([next(&queue), next(&queue), next(&queue)] == [.run(3), .run(4), .sleep])
    }

    @Test func onlySleepersAreWoken() {
        var queue = JobQueue<Int>()
        var wakes = [queue.append(1)]
        #expect(next(&queue) == .run(1))
        #expect(next(&queue) == .sleep)
        wakes.append(queue.append(2))
        queue.wokeUp()
        wakes.append(queue.append(3))
        #expect(wakes == [false, true, false])
    }

    /// Two jobs may come before the first sleeper gets up: the second must not count on it.
    @Test func eachJobWakesASleeper() {
        var queue = JobQueue<Int>()
        #expect([next(&queue), next(&queue)] == [.sleep, .sleep])
        let wakes = [queue.append(1), queue.append(2)]
        #expect(wakes == [true, true])
    }

    @Test func aThreadWokenForNothingSleepsAgain() {
        var queue = JobQueue<Int>()
        #expect(next(&queue) == .sleep)
        queue.wokeUp()
        #expect(next(&queue) == .sleep)
        let wakes = queue.append(1)
        #expect(wakes)
    }

    @Test func closedItGivesOutWhatIsLeftAndEndsEachThread() {
        var queue = JobQueue<Int>()
        _ = queue.append(1)
        queue.close()
        #expect([next(&queue), next(&queue), next(&queue)] == [.run(1), .end, .end])
    }
}
