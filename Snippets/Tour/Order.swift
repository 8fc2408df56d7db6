import Baton

struct Offline: Error {}
let queue = AsyncOperationQueue()
let warmUp = AsyncOperation("warm up") { print("warming up") }
let fetch = AsyncOperation<Void>("fetch") { throw Offline() }.addDependency(warmUp)
let mirror = AsyncOperation("mirror") { print("asking the mirror") }.addDependency(fetch, on: .failure)
let praise = AsyncOperation("praise") { print("never printed") }.addDependency(fetch, on: .success)
let cleanUp = AsyncOperation("clean up") { print("cleaning up") }.addDependency(mirror)  // after any outcome
queue.add(cleanUp, praise, mirror, fetch, warmUp)  // in any order
await queue.waitUntilIdle()
print(praise.result!)  // failure(skipped, because ‘fetch’ failed, and the dependency asks for a success)
