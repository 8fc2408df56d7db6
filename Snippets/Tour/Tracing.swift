import Baton
import BatonTrace

let queue = AsyncOperationQueue(name: "pages")
let recorder = TraceRecorder(of: queue)
let view = LiveView(of: queue)  // bars on standard error, or plain lines if it is not a terminal
let pages = (1...3).map { number in AsyncOperation("page \(number)") { number } }
let book = AsyncOperation.collect(pages).map { pages in pages.count }
print(try await queue.run(book))  // 3
await view.finish()

let trace = await recorder.trace()  // a value, Codable
print(trace.summary())  // the waits, the critical path, and what to make faster first
try await trace.write(.timeline, to: "pages.html")  // or .chromeTrace, .dot, .mermaid, .svg
