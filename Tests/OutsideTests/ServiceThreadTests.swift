import Baton
import BatonFoundation
import BatonTesting
import Synchronization
import Testing

internal import Foundation

/// The executor of bodies that block all of its threads.
enum BusyExecutor: CaseIterable, Sendable {
    case oneThread
    case twoThreads
    /// Swift's own pool has as many threads as the machine has processors.
    case global

    var threads: Int {
        switch self {
        case .oneThread: 1
        case .twoThreads: 2
        case .global: ProcessInfo.processInfo.activeProcessorCount
        }
    }

    func queue(_ width: Int? = nil) -> AsyncOperationQueue {
        let executor: ThreadExecutor? = self == .global ? nil : ThreadExecutor(threads: threads)
        return AsyncOperationQueue(maxConcurrentOperationCount: width ?? threads, executor: executor)
    }
}

/// Blocks threads until it is opened. A thread waits for at most 20 seconds, and `blockThread` then returns false.
final class Barricade: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func blockThread() -> Bool {
        let wasOpened = semaphore.wait(timeout: .now() + 20) == .success
        if wasOpened { semaphore.signal() }
        return wasOpened
    }
}

@Suite("Bodies that block all threads do not delay the services of the queue", .serialized)
struct ServiceThreadTests {
    /// Runs bodies that block all threads until `open` is called. `arrange` has to cause that call while they are
    /// blocked.
    private func blocked(
        _ executor: BusyExecutor, width: Int? = nil,
        _ arrange:
            @escaping @Sendable (AsyncOperationQueue, AsyncOperation<Bool>, _ open: @escaping @Sendable () -> Void)
            -> Void
    ) async throws {
        try await within {
            let queue = executor.queue(width)
            let barricade = Barricade()
            let blockers = (0..<executor.threads).map { number in
                AsyncOperation("blocker \(number)") { barricade.blockThread() }
            }
            arrange(queue, blockers[0]) { barricade.open() }
            queue.add(blockers)
            for blocker in blockers {
                let wasOpened = try await blocker.value
                #expect(wasOpened)
            }
            await queue.waitUntilIdle()
        }
    }

    @Test("A limit for waiting ends an operation", arguments: BusyExecutor.allCases)
    func G20_aLimitForWaitingEndsWhileBodiesBlock(executor: BusyExecutor) async throws {
        try await blocked(executor) { queue, blocker, open in
            blocker.didStart {
                let late = AsyncOperation("late") {}.timeout(waiting: .milliseconds(20))
                late.didFinish { _ in open() }
                queue.add(late)
            }
        }
    }

    @Test("A stall is reported, with the operations that get no thread", arguments: BusyExecutor.allCases)
    func stall(executor: BusyExecutor) async throws {
        let text = Guarded("")
        try await blocked(executor, width: 64) { queue, blocker, open in
            queue.onStall(after: .milliseconds(20)) { report in
                text.withLock { $0 = "\(report)" }
                if "\(report)".contains("‘victim’") { open() }
            }
            blocker.didStart { queue.add("victim") {} }
        }
        let report = text.withLock { $0 }
        #expect(report.contains("‘victim’ is about to start."))
        #expect(report.contains("No thread is free for operations that are about to start"))
    }

    @Test(
        "A time limit cancels bodies that check Task.isCancelled and never suspend", arguments: BusyExecutor.allCases)
    func G20_aTimeLimitCutsBodiesThatKeepTheirThreads(executor: BusyExecutor) async throws {
        try await within {
            let queue = executor.queue()
            let bodies = (0..<executor.threads).map { number in
                AsyncOperation("\(number)") {
                    let end = ContinuousClock.now + .seconds(20)
                    while !Task.isCancelled, ContinuousClock.now < end {}
                    try Task.checkCancellation()
                }.timeout(.milliseconds(50))
            }
            queue.add(bodies)
            for body in bodies {
                let error = await #expect(throws: OperationError.self) { try await body.value }
                guard case .timedOut = error else {
                    Issue.record("\(error as Any)")
                    continue
                }
            }
        }
    }

    @Test(
        "Handlers for the start and for a cancellation are called before the body has returned",
        arguments: BusyExecutor.allCases)
    func G28_startAndCancelAreToldWhileBodiesBlock(executor: BusyExecutor) async throws {
        try await blocked(executor) { _, blocker, open in
            blocker.didStart { blocker.cancel() }
            blocker.didCancel { _ in open() }
        }
    }

    @Test("Observers of the queue and of an operation are notified", arguments: BusyExecutor.allCases)
    func observers(executor: BusyExecutor) async throws {
        try await blocked(executor) { queue, blocker, open in
            let count = Atomic<Int>(0)
            let observer = StartObserver {
                if count.add(1, ordering: .relaxed).newValue == 2 { open() }
            }
            queue.addObserver(observer)
            blocker.addObserver(observer)
        }
    }

    @Test("A willFinish handler of a cancelled operation is called", arguments: BusyExecutor.allCases)
    func G28_willFinishIsCalledWhileBodiesBlock(executor: BusyExecutor) async throws {
        try await blocked(executor) { queue, blocker, open in
            let waiting = AsyncOperation("waiting") {}.addDependency(blocker)
            waiting.willFinish { _ in open() }
            queue.add(waiting)
            blocker.didStart { waiting.cancel() }
        }
    }

    @Test("A shutdown with a limit cancels bodies when the limit is over", arguments: BusyExecutor.allCases)
    func shutdown(executor: BusyExecutor) async throws {
        try await within {
            let queue = executor.queue()
            let started = (0..<executor.threads).map { _ in Gate() }
            let bodies = started.map { gate in
                queue.add { () -> Bool in
                    gate.open()
                    let end = ContinuousClock.now + .seconds(20)
                    while !Task.isCancelled, ContinuousClock.now < end {}
                    return Task.isCancelled
                }
            }
            // The caller of `shutdown` needs a thread of its own.
            let caller = ThreadExecutor(threads: 1)
            await Task(executorPreference: caller) { await queue.shutdown(within: .milliseconds(50)) }.value
            for body in bodies {
                // An operation that had not started was cancelled before its body ran.
                guard case .success(let wasCancelled)? = body.result else { continue }
                #expect(wasCancelled)
            }
        }
    }

    @Test("An operation that waits for a Foundation operation runs", arguments: BusyExecutor.allCases)
    func foundationDependency(executor: BusyExecutor) async throws {
        try await blocked(executor) { _, blocker, open in
            let foundation = BlockOperation {}
            let ours = AsyncOperation("ours") { open() }.addDependency(foundation)
            AsyncOperationQueue(executor: ThreadExecutor(threads: 1)).add(ours)
            blocker.didStart { OperationQueue().addOperation(foundation) }
        }
    }

    @Test("A progress that a blocking body follows is polled", arguments: BusyExecutor.allCases)
    func followedProgress(executor: BusyExecutor) async throws {
        try await blocked(executor) { queue, blocker, open in
            let progress = Progress(totalUnitCount: 10)
            let barricade = Barricade()
            let following = AsyncOperation<Void>("following") { context in
                await context.follow(progress, every: .milliseconds(1)) {
                    progress.cancel()
                    #expect(barricade.blockThread())
                }
            }
            following.didCancel { _ in
                barricade.open()
                open()
            }
            blocker.didStart { AsyncOperationQueue(executor: ThreadExecutor(threads: 1)).add(following) }
        }
    }

    @Test("A retry continues after its delay, although handlers block threads")
    func manyBlockingHandlers() async throws {
        try await within {
            let queue = AsyncOperationQueue()
            let count = 10
            let called = Atomic<Int>(0)
            let barricade = Barricade()
            let allWereThere = Atomic<Int>(0)
            for number in 0..<count {
                let operation = AsyncOperation("\(number)") {}
                operation.didFinish { _ in
                    // Each handler blocks its thread until all handlers have been called.
                    if called.add(1, ordering: .acquiringAndReleasing).newValue == count { barricade.open() }
                    if barricade.blockThread() { allWereThere.add(1, ordering: .acquiringAndReleasing) }
                }
                queue.add(operation)
            }
            await queue.waitUntilIdle()
            let result = allWereThere.load(ordering: .acquiring)
            #expect(result == count)
        }
    }
}

@Suite("Handlers that block all threads for handlers do not delay timers", .serialized)
struct BlockedHandlerTests {
    @Test("Delays, timeouts and limits for waiting end while 600 handlers block")
    func manyHandlersThatBlock() async throws {
        try await within {
            let barricade = Barricade()
            let called = Atomic<Int>(0)
            let blocked = AsyncOperationQueue(name: "blocked")
            for number in 0..<600 {
                blocked.add(
                    AsyncOperation("\(number)") {}.didFinish { _ in
                        called.add(1, ordering: .relaxed)
                        #expect(barricade.blockThread())
                    })
            }
            // The service executor has 512 threads for handlers.
            while called.load(ordering: .relaxed) < 512 { await Task.yield() }
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
            let cut = AsyncOperation<Void> { try await Task.sleep(for: .seconds(600)) }.timeout(.milliseconds(20))
            let never = AsyncOperation {}.addDependency(AsyncOperation {}).timeout(waiting: .milliseconds(20))
            queue.add([AsyncOperation<Void>.delay(.milliseconds(20)), cut, never])
            await queue.waitUntilIdle()
            #expect(cut.error != nil && never.error != nil)
            barricade.open()
            await blocked.waitUntilIdle()
        }
    }
}

private struct StartObserver: OperationObserver {
    let body: @Sendable () -> Void

    func observe(_ event: OperationEvent) async {
        if case .started = event.kind { body() }
    }
}
