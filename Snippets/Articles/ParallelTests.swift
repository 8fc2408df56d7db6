import Baton

/// Code to be tested. An upload of the same name at the same time is not made twice, on whatever queue.
func upload(_ name: String, as user: String, on queue: AsyncOperationQueue) -> AsyncOperation<String> {
    AsyncOperation("upload") { "\(name) of \(user)" }
        .unique(by: name, in: "uploads", policy: .join)
        .addCondition(.mutuallyExclusive("network"))
        .add(to: queue)
}

/// Makes the queue of one test. Names and keys of other tests are different ones.
func makeQueue(test: String = #function) -> AsyncOperationQueue {
    let queue = AsyncOperationQueue(name: test, isSuspended: true)
    queue.scope = OperationScope(test)
    return queue
}

// Two tests that run at the same time.
let first = makeQueue(test: "first test")
let second = makeQueue(test: "second test")
let uploads = [upload("rain.jpg", as: "Ada", on: first), upload("rain.jpg", as: "Bob", on: second)]
first.isSuspended = false
second.isSuspended = false
for upload in uploads { print(try await upload.value) }  // rain.jpg of Ada, rain.jpg of Bob
