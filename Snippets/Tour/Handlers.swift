import Baton

@MainActor final class Screen {
    var text = ""
}

let screen = Screen()
let queue = AsyncOperationQueue()
let answer = queue.add("answer") { 42 }
answer.didFinish { @MainActor result in screen.text = "\(result)" }
await queue.waitUntilIdle()  // waits for handlers, too
print(screen.text)  // success(42)
