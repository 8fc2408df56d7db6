import Baton

struct NoPaper: Error {}

let queue = AsyncOperationQueue(name: "print shop")
let log = queue.observe { event in
    guard case .finished(.failure, let error?) = event.kind else { return }
    if case .dependencyFailed = error { return }  // the operation that failed first has its own line
    print("\(event.operation) failed after \(event.time): \(error)")
}

let paper = AsyncOperation("paper") { () -> Int in throw NoPaper() }
let book = paper.then { sheets in "a book of \(sheets) sheets" }.name("book")
queue.add(book)
await queue.waitUntilIdle()
await log.delivered()  // ‘paper’ failed after … seconds: NoPaper()
