import Baton

struct Download: Procedure {
    let page: String
    func execute(in context: OperationContext) async throws -> String { "the text of \(page)" }
}

let queue = AsyncOperationQueue(name: "pages", maxConcurrentOperationCount: 4)
let pages = ["one", "two", "three"].map { page in AsyncOperation(Download(page: page)) }
let book = AsyncOperation.collect(pages).map { texts in texts.joined(separator: ", ") }
book.didFinish { result in print(result) }  // success("the text of one, the text of two, the text of three")

_ = try await queue.run(book)  // adds the three pages, too: nothing else has to be listed
await queue.waitUntilIdle()  // until the handlers have returned
