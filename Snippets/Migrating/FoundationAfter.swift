import Baton
import Dispatch

let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
let load = AsyncOperation<String>.callback { finish in
    DispatchQueue.global().async { finish("so much depends upon") }
}
let count = load.then { text in text.split(separator: " ").count }
do {
    print("\(try await queue.run(count)) words")  // 4 words
} catch {
    print("no text: \(error)")
}
