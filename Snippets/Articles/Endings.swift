import Baton

let queue = AsyncOperationQueue(name: "letters")
queue.add("one") { print("one") }
await queue.waitUntilIdle()  // returns after ‘one’, and changes nothing

queue.add("two") { print("two") }
await queue.drain()  // returns after ‘two’, and closes the queue
let late = queue.add("three") { print("never printed") }
print(late.error!)
// the queue ‘letters’ had been shut down before ‘three’ was added. Add it earlier, or to another queue

let other = AsyncOperationQueue()
let endless = AsyncOperation("endless") { context in try await context.sleep(for: .seconds(3_600)) }.add(to: other)
await other.shutdown(within: .milliseconds(10))  // closes the queue, and cancels what is left after that time
print(endless.isCancelled, endless.state)  // true finished
