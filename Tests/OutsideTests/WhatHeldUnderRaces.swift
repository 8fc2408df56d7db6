import Baton
import BatonTesting
import Synchronization
import Testing

/// Tests changes from other threads while a queue is busy.
@Suite("Changes to a busy queue from elsewhere", .timeLimit(.minutes(10)))
struct WhatHeldUnderRaces {
    @Test("Its width and its suspension change all the time under nested, limited operations")
    func widthRace() async throws {
        let count = reduced(1_500)
        let ran = Atomic<Int>(0)
        try await within {
            let name = "limited \(UInt64.random(in: 0...(.max)))"
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
            let isOver = Atomic<Bool>(false)
            async let changes: Void = Task.detached {
                var width = 1
                while !isOver.load(ordering: .relaxed) {
                    queue.maxConcurrentOperationCount = width
                    queue.isSuspended = width % 3 == 0
                    width = width % 7 + 1
                    await Task.yield()
                }
                queue.isSuspended = false
            }.value
            queue.add(
                (0..<count).map { _ in
                    AsyncOperation<Void> { context in
                        try await context.run(
                            AsyncOperation { _ = ran.add(1, ordering: .relaxed) }.addCondition(.limited(name, to: 3)))
                    }.addCondition(.limited(name, to: 3))
                })
            await queue.waitUntilIdle()
            isOver.store(true, ordering: .relaxed)
            await changes
        }
        #expect(ran.load(ordering: .relaxed) == count)
    }

    @Test(
        "A queue with retries, conditions, exclusions and children is released, suspended or running",
        arguments: [false, true])
    func released(suspended: Bool) async throws {
        struct Oops: Error {}
        let living = LiveTokens()
        try await within {
            for round in 0..<reduced(150) {
                let gate = Gate()
                var queue: AsyncOperationQueue? = AsyncOperationQueue(maxConcurrentOperationCount: 1 + round % 3)
                let name = "released \(round) \(UInt64.random(in: 0...(.max)))"
                let operations: [AnyOperation] = (0..<6).map { number in
                    let token = living.token()
                    return AsyncOperation<Void>("\(number)") { context in
                        token.touch()
                        await gate.wait()
                        if context.attempt < 2 { throw Oops() }
                        try await context.run(AsyncOperation { token.touch() })
                    }
                    .retry(.immediately, attempts: 3)
                    .addCondition("yields") { _ in
                        await Task.yield()
                        return .satisfied
                    }
                    .addCondition(.mutuallyExclusive(name))
                }
                queue?.add(operations)
                if round % 2 == 0 { await gate.waitForWaiters(count: 1) }
                queue?.isSuspended = suspended
                queue = nil
                gate.open()
                for operation in operations {
                    while operation.state != .finished { await Task.yield() }
                }
            }
        }
        try await living.waitUntilNone()
    }

    @Test("Another queue's body shuts it down, twice at once, with a limit that never ends")
    func shutdownFromElsewhere() async throws {
        try await within {
            let gate = Gate()
            let (queue, other) = (AsyncOperationQueue(), AsyncOperationQueue())
            let last = queue.add {
                await gate.wait()
                return 5
            }
            let shutdowns = (0..<2).map { number in
                other.add { await queue.shutdown(within: number == 0 ? .seconds(Int64.max) : .seconds(1_000_000)) }
            }
            let refused = AsyncOperation {}
            while true {
                let probe = AsyncOperation {}
                queue.add(probe)
                if case .queueShutDown = probe.error { break }
                await Task.yield()
            }
            queue.add(refused)
            gate.open()
            for shutdown in shutdowns { try await shutdown.value }
            #expect(try await last.value == 5)
            if case .queueShutDown = refused.error {} else { Issue.record("\(refused)") }
        }
    }
}
