import Baton
import BatonTesting

let queue = AsyncOperationQueue()
let gate = Gate()
let deaf = queue.add("deaf") { await gate.wait() }  // goes on when it is cancelled
await gate.waitForWaiters(count: 1)
deaf.cancel()
print(deaf.explain())
// ‘deaf’ is executing, although it was cancelled: let its body look at `Task.isCancelled`.
gate.open()

let attentive = AsyncOperation("attentive") { context in
    for row in 1...1_000 {
        try Task.checkCancellation()  // in loops that compute
        try await context.sleep(for: .milliseconds(row))  // sleeps end at once when they are cancelled
    }
}
attentive.didStart { attentive.cancel() }.add(to: queue)
await queue.waitUntilIdle()
print(attentive.result!)  // failure(cancelled on request)
