import Baton

let queue = AsyncOperationQueue()
let cached = AsyncOperation<String?>("cached title") { nil }
let title = cached.unwrapped().recover { error in "untitled" }.map { $0.uppercased() }
let squares = (1...4).map { number in AsyncOperation { number * number } }
let sum = AsyncOperation.collect(squares).map { $0.reduce(0, +) }
print(try await queue.run(title), try await queue.run(sum))  // UNTITLED 30
