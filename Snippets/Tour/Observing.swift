import Baton

let queue = AsyncOperationQueue()
let debugger = queue.addObserver(BatonDebugger { line in print(line) })  // or your own OperationObserver
let events = queue.events  // the same, as an AsyncSequence
let ink = AsyncOperation("ink") { 3 }  // ink added to queue, ink executed, ink finished (success after …)
_ = try await queue.run(ink)
await debugger.delivered()  // the queue does not wait for observers
for await event in events {
    print(event)  // ‘ink’ was added, ‘ink’ is ready, ‘ink’ started, ‘ink’ finished: success
    if case .finished = event.kind { break }
}
