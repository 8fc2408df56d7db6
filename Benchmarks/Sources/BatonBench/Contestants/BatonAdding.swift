import Baton

private let adders = 4

extension BatonContestant {
    /// Four tasks make operations and add them to a running queue, one by one.
    func adding(_ job: Job) async -> Nanoseconds {
        let share = job.count / adders
        let stopwatch = Stopwatch()
        let queue = AsyncOperationQueue()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<adders {
                group.addTask {
                    var operations: [AsyncOperation<Void>] = []
                    operations.reserveCapacity(share)
                    for _ in 0..<share {
                        let operation = AsyncOperation {}
                        queue.add(operation)
                        operations.append(operation)
                    }
                }
            }
        }
        await queue.waitUntilIdle()
        return stopwatch.nanoseconds
    }

    /// Four tasks alternately add the operations of one chain, from its end to its beginning; then the queue is
    /// resumed.
    func addingReversed(_ job: Job) async -> Nanoseconds {
        let stopwatch = Stopwatch()
        let queue = AsyncOperationQueue(isSuspended: true)
        var operations = makeGraph(job.graph)
        let chain = operations
        await withTaskGroup(of: Void.self) { group in
            for first in 0..<adders {
                group.addTask {
                    for index in stride(from: chain.count - 1 - first, through: 0, by: -adders) {
                        queue.add(chain[index])
                    }
                }
            }
        }
        queue.isSuspended = false
        await queue.waitUntilIdle()
        operations = []
        return stopwatch.nanoseconds
    }
}
