import Baton

let queue = AsyncOperationQueue()
let fetch = AsyncOperation("fetch") { print("fetched") }
let save = AsyncOperation("save") { print("saved") }.addDependency(fetch)
queue.add(save)
print(save.explain())
// ‘save’ waits for ‘fetch’. ‘fetch’ was not added to any queue: add it, or use `run` or `add(to:)`.
fetch.addDependency(save)
queue.add(fetch)  // closes the cycle: both operations fail, and nothing hangs
print(save.result!)
// failure(waits for itself: ‘fetch’ → ‘save’ → ‘fetch’. Remove one of these dependencies)
