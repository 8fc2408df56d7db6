import Baton

let queue = AsyncOperationQueue()
let heartbeat = AsyncOperation("heartbeat") {}.repeat(every: .seconds(60)).add(to: queue)
let report = AsyncOperation("report") {}.addDependency(AsyncOperation("figures") {})  // which nobody adds
queue.add(report)

for operation in queue.operations { print(operation.explain()) }
// ‘heartbeat’ repeats, and waits 59.998 seconds for its next run. (Or it is about to start for the first time.)
// ‘report’ waits for ‘figures’. ‘figures’ was not added to any queue: add it, or use `run` or `add(to:)`.
queue.cancelAll()  // or cancel the one, and add the other
await queue.waitUntilIdle()
print(queue.operationCount)  // 0
