import Baton

let queue = AsyncOperationQueue()
let text = AsyncOperation("text") { "so much depends upon a red wheel barrow" }
let words = text.then { text in text.split(separator: " ") }
let count = words.then { words in words.count }
let longest = words.then { words in words.max { $0.count < $1.count } ?? "" }
let report = AsyncOperation(count, longest) { count, longest in
    "\(count) words, the longest is ‘\(longest)’"
}
report.didFinish { result in print("finished: \(result)") }

print(try await queue.run(report))  // adds what `report` needs, and awaits it
await queue.waitUntilIdle()
