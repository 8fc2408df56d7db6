import Baton

let queue = AsyncOperationQueue(isSuspended: true)
let doomed = queue.add("doomed") { print("never printed") }
let after = AsyncOperation("after") { print("runs all the same") }.addDependency(doomed).add(to: queue)
doomed.cancel(reason: .because("nobody wants it"))
queue.isSuspended = false
await queue.waitUntilIdle()
print(doomed.result!)  // failure(cancelled because nobody wants it)
