import BatonTesting
import Foundation
import Testing

@testable import Baton

/// Nothing of an executor is left when nobody needs it. What a test waits for is the last thing that a thread says.
@Suite(.timeLimit(.minutes(10))) struct ThreadExecutorReleaseTests {
    private let threads = Threads()
    private let log = EventLog<Int>()

    @Test func idleItsThreadsEnd() async {
        weak var released: ThreadExecutor?
        do {
            let executor = threads.make(threads: 4)
            released = executor
            await threads.began.waitForCount(4)
            #expect(threads.ended.count == 0)
            withExtendedLifetime(executor) {}
        }
        #expect(released == nil)
        await threads.ended.waitForCount(4)
    }

    @Test func afterSomeWorkItsThreadsEnd() async {
        do {
            let queue = AsyncOperationQueue(executor: threads.make(threads: 4))
            for number in 0..<100 { queue.add { log(number) } }
            await queue.waitUntilIdle()
        }
        await threads.ended.waitForCount(4)
    }

    @Test func whileItWorksEverythingStillFinishes() async {
        let barrier = Barrier()
        do {
            let queue = AsyncOperationQueue(executor: threads.make(threads: 3))
            for number in 0..<300 {
                queue.add {
                    barrier.block()
                    await Task.yield()
                    log(number)
                }
            }
        }
        #expect(log.count == 0)
        barrier.open()
        await log.waitForCount(300)
        await threads.ended.waitForCount(3)
        #expect(log.events.sorted() == Array(0..<300))
    }

    /// Tasks that wait for something keep it without having a job in it.
    @Test func anUnfinishedTaskHoldsIt() async {
        let gate = Gate()
        weak var held: ThreadExecutor?
        do {
            let executor = threads.make(threads: 2)
            held = executor
            Task.detached(executorPreference: executor) { [log] in
                await gate.wait()
                log(1)
            }
        }
        await gate.waitForWaiters(count: 1)
        #expect(held != nil)
        gate.open()
        await log.waitForCount(1)
        await threads.ended.waitForCount(2)
        #expect(held == nil)
    }

    @Test func theLastOperationMayReleaseItOnItsOwnThread() async {
        let barrier = Barrier()
        do {
            let queue = AsyncOperationQueue(executor: threads.make(threads: 1))
            queue.add {
                barrier.block()
                log(1)
            }
        }
        // Only its own thread still holds it.
        barrier.open()
        await threads.ended.waitForCount(1)
        #expect(log.events == [1])
    }

    /// Like Swift's own jobs for actors, this one is of no task that would hold the executor.
    @Test func aJobHoldsItUntilItHasRun() async {
        let barrier = Barrier()
        let steps = StepExecutor()
        let seen = EventLog<Bool>()
        let held: Held
        do {
            let executor = threads.make(threads: 1)
            held = Held(executor: executor)
            // Not async: that might begin by going to the executor that its task prefers.
            let body: @Sendable () -> Void = {
                barrier.block()
                seen(held.executor != nil)
            }
            Task(executorPreference: steps, operation: body)
            steps.handOver(to: executor)
        }
        barrier.open()
        await threads.ended.waitForCount(1)
        #expect(seen.events == [true])
        #expect(held.executor == nil)
        // The task has gone back to its own executor, and would never end.
        steps.runAll()
    }

    /// The one who resumes the last task is still inside `enqueue` when that ends and everything is released.
    @Test func theLastTaskMayEndBeforeTheCallThatResumedIt() async {
        for round in 1...500 {
            let gate = Gate()
            Task.detached(executorPreference: threads.make(threads: 1)) { await gate.wait() }
            await gate.waitForWaiters(count: 1)
            gate.open()
            await threads.ended.waitForCount(round)
        }
    }

    @Test func aThousandLeaveNoThreadBehind() async throws {
        let name = "a thousand"
        for round in 0..<1000 {
            let queue = AsyncOperationQueue(executor: threads.make(name, threads: 2))
            queue.add { log(round) }
        }
        await threads.ended.waitForCount(2000)
        #expect(log.count == 1000)
        #if os(Linux)
            // A thread that has said its last word still needs a moment.
            while try livingThreads().contains(name) { await Task.yield() }
            // Were it not found alive, nothing was looked for. A listing may miss one while another ends.
            let executor = threads.make(name, threads: 1)
            while try !livingThreads().contains(name) { await Task.yield() }
            withExtendedLifetime(executor) {}
        #endif
    }

    #if os(Linux)
        private func livingThreads() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").map(nameOfThread)
        }

        /// Empty if it has ended meanwhile. Not with Foundation, which leaks a buffer when a file cannot be read.
        private func nameOfThread(_ number: String) -> String {
            guard let file = fopen("/proc/self/task/\(number)/comm", "r") else { return "" }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = fread(&bytes, 1, bytes.count, file)
            return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
    #endif
}

private struct Held: Sendable {
    weak let executor: ThreadExecutor?
}
