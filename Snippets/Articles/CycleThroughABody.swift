import Baton

let queue = AsyncOperationQueue()
let second = AsyncOperation("second") { "never made" }
let first = AsyncOperation("first") { "\(try await second.value), and read" }
second.addDependency(first)  // but ‘first’ awaits it
queue.add(first, second)
await queue.waitUntilIdle()
for operation in [first, second] { print(operation.result!) }  // the same for both:
// failure(waits for itself: ‘first’ → ‘second’ → ‘first’. Do not await ‘second’ in the body of ‘first’: an operation
// that depends on both can use its output)
