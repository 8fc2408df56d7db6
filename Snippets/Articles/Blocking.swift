import Baton

let files = ThreadExecutor(name: "files", threads: 2)  // bodies on it block these threads, and nobody else's
let queue = AsyncOperationQueue(maxConcurrentOperationCount: 8)  // the others run where Swift's tasks do

let read = AsyncOperation("read") { (1...1_000).reduce(0, +) }  // imagine a call that blocks
read.executor = files
read.priority = .high
print(try await queue.run(read.map { sum in "read \(sum)" }))  // read 500500

queue.maxWaitingOperationCount = 100
for number in 1...1_000 {
    try await queue.submit(AsyncOperation("line \(number)") {})  // waits while a hundred have not begun
}
await queue.shutdown(within: .seconds(10))  // takes nothing more; cancels what is left after ten seconds
print(queue.operationCount)  // 0
