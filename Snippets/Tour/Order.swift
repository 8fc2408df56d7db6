import Baton

let queue = AsyncOperationQueue()
let warmUp = AsyncOperation("warm up") { print("warming up") }
let work = AsyncOperation("work") { print("working") }
work.addDependency(warmUp)  // after it, whatever its outcome
queue.add(work, warmUp)  // in any order
await queue.waitUntilIdle()
