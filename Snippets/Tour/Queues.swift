import Baton

let threads = ThreadExecutor(threads: 2)  // for bodies that block their thread
let queue = AsyncOperationQueue(name: "pages", maxConcurrentOperationCount: 2, executor: threads)
queue.maxWaitingOperationCount = 4  // then `submit` waits for room
queue.around { context, body in try await body() }  // tracing, logging
let cover = AsyncOperation("cover") { print("cover") }
cover.priority = .high  // before other pages that are ready
try await queue.submit(cover)
for number in 1...9 { try await queue.submit(AsyncOperation { print("page \(number)") }) }
queue.addBarrier("bind") { print("bound") }  // runs after all earlier operations and before all later ones
// Cancels what is unfinished after 5 s. `drain()` waits without a limit, and `shutdown(on:)` shuts down on a signal.
await queue.shutdown(within: .seconds(5))
