import Baton

let queue = AsyncOperationQueue(name: "uploads", maxConcurrentOperationCount: 2, isSuspended: true)
let later = queue.add("later") { print("second") }
let urgent = AsyncOperation("urgent") { print("first") }
urgent.priority = .high
queue.add(urgent)
queue.maxConcurrentOperationCount = 1  // at any time; .unlimited exists, too
queue.isSuspended = false
await queue.waitUntilIdle()
