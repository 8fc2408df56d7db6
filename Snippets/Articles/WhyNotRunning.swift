import Baton
import BatonTesting

let queue = AsyncOperationQueue(name: "pages", maxConcurrentOperationCount: 1)
let gate = Gate()
queue.add("first") { await gate.wait() }
await gate.waitForWaiters(count: 1)
let second = queue.add("second") {}
print(second.explain())
// ‘second’ is ready, and waits for its turn in ‘pages’, a queue of width 1, where ‘first’ runs.
queue.isSuspended = true
print(second.explain())
// ‘second’ is ready, and its queue ‘pages’ is suspended: set its `isSuspended` to false.

for operation in queue.operations { print(operation.explain()) }  // everything that has not finished
gate.open()
queue.isSuspended = false
await queue.waitUntilIdle()
