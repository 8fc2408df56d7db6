import Baton

let queue = AsyncOperationQueue()
let chicken = AsyncOperation("chicken") {}
let egg = AsyncOperation("egg") {}
chicken.addDependency(egg)
egg.addDependency(chicken)
queue.add(chicken, egg)  // found here; both fail, nothing hangs
await queue.waitUntilIdle()
print(egg.result!)
