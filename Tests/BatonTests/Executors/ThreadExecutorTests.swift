import BatonTesting
import Foundation
import Testing

@testable import Baton
@testable import BatonTesting

@Suite(.timeLimit(.minutes(10))) struct ThreadExecutorTests {
    private let threads = Threads()
    private let log = EventLog<Int>()

    // MARK: Where bodies run

    @Test func bodiesRunOnItsThreadsAndOnNoOthers() async {
        let used = EventLog<ThreadIdentity>()
        @Sendable func note() { used(.current()) }
        let queue = AsyncOperationQueue(executor: threads.make(threads: 3))
        for _ in 0..<300 {
            queue.add {
                note()
                await Task.yield()
                note()
            }
        }
        await queue.waitUntilIdle()
        #expect(used.count == 600)
        #expect(used.events.allSatisfy(threads.began.events.contains))
    }

    @Test func aBodyThatSuspendsComesBackToOneOfItsThreads() async {
        let used = EventLog<ThreadIdentity>()
        @Sendable func note() { used(.current()) }
        let gate = Gate()
        let queue = AsyncOperationQueue(executor: threads.make(threads: 2))
        queue.add {
            await gate.wait()
            note()
            await MainActor.run {}
            note()
            await Task.detached {}.value
            note()
        }
        await gate.waitForWaiters(count: 1)
        gate.open()
        await queue.waitUntilIdle()
        #expect(used.count == 3)
        #expect(used.events.allSatisfy(threads.began.events.contains))
    }

    // MARK: How many block at a time

    @Test(arguments: [1, 2, 9]) func asManyBodiesBlockAtATimeAsThereAreThreads(count: Int) async {
        let executor = threads.make(threads: count)
        let queue = AsyncOperationQueue(executor: executor)
        for _ in 0..<20 {
            // Nobody passes before all are there.
            let barrier = Barrier(threads: count)
            for number in 0..<count {
                queue.add {
                    barrier.block()
                    log(number)
                }
            }
            await queue.waitUntilIdle()
        }
        #expect(log.count == 20 * count)
    }

    @Test func withAllThreadsBlockedTheNextBodyWaits() async {
        let barrier = Barrier()
        let queue = AsyncOperationQueue(executor: threads.make(threads: 3))
        for number in 1...4 {
            queue.add {
                log(number)
                barrier.block()
            }
        }
        await log.waitForCount(3)
        #expect(queue.operationCount == 4)
        #expect(log.count == 3)
        barrier.open()
        await queue.waitUntilIdle()
        #expect(log.count == 4)
        #expect(threads.began.count == 3)
    }

    @Test func blockedThreadsHoldUpNobodyElse() async {
        let barrier = Barrier()
        let blocking = AsyncOperationQueue(executor: threads.make(threads: 8))
        for number in 0..<8 {
            blocking.add {
                log(number)
                barrier.block()
            }
        }
        await log.waitForCount(8)
        let others = AsyncOperationQueue()
        let ran = EventLog<Int>()
        for number in 0..<1000 { others.add { ran(number) } }
        await others.waitUntilIdle()
        #expect(ran.count == 1000)
        #expect(blocking.operationCount == 8, "They still block.")
        barrier.open()
        await blocking.waitUntilIdle()
    }

    // MARK: Order

    @Test("A single thread runs jobs in their order")
    func oneThreadRunsJobsInTheirOrder() async {
        let barrier = Barrier()
        let executor = threads.make(threads: 1)
        let blocker = Task(executorPreference: executor) { barrier.block() }
        let tasks = (0..<3000).map { number in
            Task(executorPreference: executor, priority: number % 2 == 0 ? .low : .high) { log(number) }
        }
        barrier.open()
        await blocker.value
        for task in tasks { await task.value }
        #expect(log.events == Array(0..<3000))
    }

    // MARK: Threads there are not

    @Test(arguments: [0, -1, Int.min]) func fewerThanOneThreadIsMisuseAndGivesOne(count: Int) async throws {
        let queue = AsyncOperationQueue(executor: threads.make(threads: count))
        #expect(try await queue.run(AsyncOperation { 7 }) == 7)
        #expect(threads.misuses.events.map(\.kind) == [.invalidThreadCount(count)])
        #expect(threads.began.count == 1)
    }

    @Test("An executor works with the threads that the system grants")
    func itWorksWithTheThreadsThatTheSystemGives() async {
        let used = EventLog<ThreadIdentity>()
        @Sendable func note() { used(.current()) }
        let barrier = Barrier(threads: 2)
        let queue = AsyncOperationQueue(executor: threads.make(threads: 5, limit: 2))
        for _ in 0..<10 {
            queue.add {
                barrier.block()
                note()
            }
        }
        await queue.waitUntilIdle()
        #expect(threads.began.count == 2)
        #expect(used.count == 10)
        #expect(used.events.allSatisfy(threads.began.events.contains))
        #expect(threads.misuses.count == 0)
    }

    @Test func withoutAThreadEverythingRunsOnTheGlobalExecutor() async {
        let queue = AsyncOperationQueue(executor: threads.make(threads: 5, limit: 0))
        let first = queue.add { [log] in
            log(1)
            await Task.yield()
            return 2
        }
        let second = first.then { [log] in log($0) }
        queue.add(second)
        second.didFinish { [log] _ in log(3) }
        await queue.waitUntilIdle()
        #expect(log.events == [1, 2, 3])
        #expect(threads.began.count == 0)
    }

    #if os(Linux)
        @Test(arguments: [
            ("files", "files"), ("sixteen letters!", "sixteen letters"), ("thirteen lett·", "thirteen lett·"),
            ("fourteen lette·", "fourteen lette"),
        ]) func itsThreadsBearItsName(name: String, seen: String) async throws {
            let queue = AsyncOperationQueue(executor: ThreadExecutor(name: name, threads: 1))
            let found = try await queue.run(
                AsyncOperation { try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) })
            #expect(found == seen + "\n")
        }
    #endif
}
