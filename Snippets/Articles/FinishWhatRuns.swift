import Baton

extension AsyncOperationQueue {
    /// Cancels every operation that has not begun. Operations that run go on.
    func cancelWhatWaits() {
        isSuspended = true  // so that nothing begins meanwhile
        for operation in operations where operation.state != .executing {
            operation.cancel(reason: .because("the program ends"))
        }
        isSuspended = false
    }
}

let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
let running = AsyncOperation("running") { context in try await context.sleep(for: .milliseconds(50)) }
let waiting = AsyncOperation("waiting") { print("never printed") }
running.didStart {
    // In a program: shutdown(on: .interrupt, within: .seconds(5), onSignal: { _ in queue.cancelWhatWaits() })
    queue.cancelWhatWaits()
}
queue.add([running, waiting])
await queue.shutdown(within: .seconds(5))
print(running.result!)  // success()
print(waiting.result!)  // failure(cancelled because the program ends)
