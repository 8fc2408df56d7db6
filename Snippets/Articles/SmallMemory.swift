import Baton

let queue = AsyncOperationQueue(name: "pages")
let recent = queue.events(buffering: .newest(100))  // `events` keeps all that has not been read

// Eight pages at a time are in memory, and no operation is kept.
var letters = 0
let pages = (1...1_000).deliver(on: queue, width: 8) { number in String(repeating: "a", count: number) }
for try await page in pages { letters += page.count }
print(letters)  // 500500

// To keep an output out of a long-lived variable, keep what is made of it.
let size = try await queue.run(AsyncOperation("page") { [UInt8](repeating: 0, count: 1_000_000) }.map { $0.count })
print(size)  // 1000000
_ = recent
