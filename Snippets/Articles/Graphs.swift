import Baton
import BatonTrace

let queue = AsyncOperationQueue(name: "print shop", isSuspended: true)
let recorder = TraceRecorder(of: queue)
let pages = ["one", "two"].map { name in AsyncOperation("page \(name)") { name } }
AsyncOperation.collect(pages).name("book").add(to: queue)
print(queue.snapshot().mermaid().split(separator: "\n")[0])  // a graph of what waits: flowchart LR
queue.isSuspended = false
await queue.waitUntilIdle()

let trace = await recorder.trace()
print(trace.operations.map(\.name).sorted())  // ["book", "page one", "page two"]
print(trace.criticalPath().operations.last!)  // ‘book’
print(trace.dot().hasPrefix("digraph"))  // true
