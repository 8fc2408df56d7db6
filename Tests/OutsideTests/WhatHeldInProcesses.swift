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
                func residentKilobytes() -> Int {
                    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
                    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4
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
