import Baton

let threads = ThreadExecutor(threads: 2)  // for bodies that block their thread
let queue = AsyncOperationQueue(name: "pages", maxConcurrentOperationCount: 2, executor: threads)
queue.maxWaitingOperationCount = 4  // then `submit` waits for room
queue.around { context, body in try await body() }  // tracing, logging
let cover = AsyncOperation("cover") { print("cover") }
cover.priority = .high  // before other pages that are ready
try await queue.submit(cover)
for number in 1...9 { try await queue.submit(AsyncOperation { print("page \(number)") }) }
queue.addBarrier("bind") { print("bound") }  // after all of them, before what comes later
await queue.shutdown(within: .seconds(5))  // then cancels what is left; `drain()` never does, `shutdown(on:)` on Ctrl-C
