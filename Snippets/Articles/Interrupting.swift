import Baton

let queue = AsyncOperationQueue()
AsyncOperation("report") { context in
    try await context.sleep(for: .milliseconds(100))
    print("written")
}.add(to: queue)
// For a program that ends by itself when all is done; a server leaves this out.
Task {
    await queue.waitUntilIdle()
    await queue.drain()
}

// After Ctrl-C what is in the queue has ten seconds; a second Ctrl-C, or the end of that time, cancels it.
if let signal = await queue.shutdown(on: .interrupt, .terminate, within: .seconds(10)) {
    print("ended by \(signal)")  // ended by SIGINT
} else {
    print("all is done")
}
