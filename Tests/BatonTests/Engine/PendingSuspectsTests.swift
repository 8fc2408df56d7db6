import Testing

@testable import Baton

@Suite("Suspects are kept until a sweep has looked at them") struct PendingSuspectsTests {
    @Test("A queue is not idle before every operation that was the last to leave during a sweep is released")
    func releases() {
        var suspects = PendingSuspects()
        let startsSweep = suspects.append(.init(deadlocks: [AsyncOperation {}]))
        #expect(startsSweep)
        let leavesFirst = suspects.queueDidEmpty()
        // Another operation has come and left before the thread that removed the first one has released it.
        let leavesSecond = suspects.queueDidEmpty()
        #expect(leavesFirst && leavesSecond)

        let found = suspects.take()
        #expect(found.deadlocks.count == 1)
        let rest = suspects.take()
        #expect(rest.isEmpty, "The sweep has ended.")
        #expect(!suspects.isIdle)
        suspects.didReleaseLastOperation()
        #expect(!suspects.isIdle)
        suspects.didReleaseLastOperation()
        #expect(suspects.isIdle)
    }
}
