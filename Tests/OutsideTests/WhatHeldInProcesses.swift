import Baton
import BatonTesting
import Foundation
import Testing

/// Tests that need a process of their own.
@Suite("Programs in processes of their own", .serialized, .timeLimit(.minutes(10)))
struct WhatHeldInProcesses {
    @Test("A program may exit while its operations run")
    func exitInTheMiddle() async {
        for _ in 0..<3 {
            await #expect(processExitsWith: .exitCode(7)) {
                let queues = [
                    AsyncOperationQueue(), AsyncOperationQueue(executor: ThreadExecutor(threads: 2)),
                ]
                for queue in queues {
                    queue.add(
                        (0..<2_000).map { number in
                            AsyncOperation<Int> { context in try await context.run(AsyncOperation { number }) }
                        })
                }
                _ = try? await queues[0].run(AsyncOperation { 1 })
                exit(7)
            }
        }
    }

    #if os(Linux) && !BATON_SANITIZED
        @Test("Names of cancelled operations leave no memory behind")
        func namesOfCancelledOnes() async {
            await #expect(processExitsWith: .success) {
                let queue = AsyncOperationQueue()
                let gate = Gate()
                let holder = AsyncOperation { await gate.wait() }.addCondition(.mutuallyExclusive("held"))
                queue.add(holder)
                await gate.waitForWaiters(count: 1)
                /// Cancels operations that wait for the holder, each with a name of its own that nobody holds.
                @Sendable func play(_ range: Range<Int>) async {
                    for number in range {
                        let waiting = AsyncOperation {}
                            .addCondition(.limited("a name of its own, which is long, \(number)", to: 2))
                            .addCondition(.mutuallyExclusive("held", mode: .shared))
                        queue.add(waiting)
                        if number % 20 == 0 { await eventually { !waiting.explain().waits.isEmpty } }
                        waiting.cancel()
                    }
                    while queue.operationCount > 1 { await Task.yield() }
                }
                await play(0..<1_000)
                let before = residentKilobytes()
                await play(1_000..<26_000)
                let after = residentKilobytes()
                // 80 bytes for each name would be 2 MB.
                precondition(before > 0 && after < before + 1_200, "\(before) kB, then \(after) kB")
                gate.open()
                await queue.waitUntilIdle()
            }
        }

        @Test("A group that is given children again and again stores those that have not ended")
        func groupOfManyChildren() async {
            await #expect(processExitsWith: .success) {
                let queue = AsyncOperationQueue()
                let gate = Gate()
                let group = GroupOperation("group", AsyncOperation { await gate.wait() })
                queue.add(group)
                await gate.waitForWaiters(count: 1)
                @Sendable func play(_ count: Int) async throws {
                    for number in 0..<count {
                        let child = AsyncOperation("child \(number)") { number }
                        try group.add(child)
                        if number % 100 == 0 { _ = try await child.value }
                    }
                    while queue.operationCount > 2 { await Task.yield() }
                }
                try await play(5_000)
                let before = residentKilobytes()
                try await play(40_000)
                let after = residentKilobytes()
                // An operation takes about 400 bytes, which would be 16 MB.
                precondition(before > 0 && after < before + 4_000, "\(before) kB, then \(after) kB")
                gate.open()
                try await group.value
            }
        }

        @Test("Memory does not grow in a queue that is never idle")
        func memorySettles() async {
            await #expect(processExitsWith: .success) {
                struct Oops: Error {}
                let queue = AsyncOperationQueue(maxConcurrentOperationCount: 8)
                let gate = Gate()
                // This operation keeps the queue from becoming idle.
                queue.add { await gate.wait() }
                @Sendable func play(_ count: Int) async {
                    for number in 0..<count {
                        let first = AsyncOperation("first \(number)") { number }
                            .addCondition(.limited("a name of \(number % 100)", to: 2))
                            .unique(by: number % 50, policy: .join)
                        let second = first.map { $0 + 1 }.timeout(.seconds(60)).timeout(waiting: .seconds(60))
                            .addCondition(.mutuallyExclusive("a name of its own \(number)"))
                        let third = AsyncOperation<Int>(second) { number, context in
                            if context.attempt == 1 { throw Oops() }
                            return try await context.run(AsyncOperation { number }, weight: 1)
                        }.retry(.immediately, attempts: 2)
                        third.didFinish { _ in }
                        let group = GroupOperation(AsyncOperation {}.addDependency(third), AsyncOperation {})
                        if number % 5 == 0 { second.cancel() }
                        queue.add([first, second, third, group])
                        if number % 50 == 0 { _ = try? await queue.run(AsyncOperation {}.addDependency(group)) }
                    }
                    while queue.operationCount > 1 { await Task.yield() }
                }
                await play(1_500)
                let before = residentKilobytes()
                await play(3_000)
                let after = residentKilobytes()
                // If 12,000 operations stayed alive, they would take more than 8 MB.
                precondition(before > 0 && after < before + 4_000, "\(before) kB, then \(after) kB")
                gate.open()
                await queue.waitUntilIdle()
            }
        }
    #endif
}

#if os(Linux)
    /// Returns the memory that this process uses.
    private func residentKilobytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4
    }
#endif
