import Baton

let queue = AsyncOperationQueue()
let forgotten = AsyncOperation("fetch") { "data" }
let parsed = forgotten.then { $0.count }
parsed.name = "parse"
let saved = parsed.then { print("saved \($0)") }
saved.name = "save"
queue.add(parsed, saved)
print(saved.explain())
// ‘save’ waits for ‘parse’. ‘fetch’ was not added to any queue: add it, or use `run` or `add(to:)`.
