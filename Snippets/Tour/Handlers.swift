import Baton

var shown = ""  // at the top level, so it belongs to the main actor
let queue = AsyncOperationQueue()
let answer = AsyncOperation("answer") { 42 }
    .didStart { print("begins") }
    .willFinish { result in print("so far nobody else sees \(result)") }  // published when this returns
    .didFinish { @MainActor result in shown = "\(result)" }
    .didCancel { reason in print("never printed") }
    .add(to: queue)
await queue.waitUntilIdle()  // waits for handlers, too
print(shown)  // success(42)
