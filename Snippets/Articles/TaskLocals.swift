import Baton

enum Request {
    @TaskLocal static var id = "none"
}

let queue = AsyncOperationQueue(name: "requests", taskLocals: Request.$id)
try await Request.$id.withValue("7f3a") {
    let page = AsyncOperation { "index for request \(Request.id)" }
        .didFinish { _ in print("request \(Request.id) is done") }
    print(try await queue.run(page))  // index for request 7f3a
}
await queue.waitUntilIdle()
