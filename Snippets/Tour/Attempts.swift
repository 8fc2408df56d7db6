import Baton

struct Busy: Error {}
let queue = AsyncOperationQueue()
let upload = AsyncOperation("upload") { context in
    if context.attempt < 3 { throw Busy() }
    return "sent at attempt \(context.attempt)"
}
.retry(.exponential(from: .milliseconds(1)).jittered(), attempts: 5) { error in error.underlyingError is Busy }
.timeout(.seconds(5))  // each attempt
.unique(by: "report.pdf")  // a second upload with this key is skipped
print(try await queue.run(upload), upload.attempts.count)  // sent at attempt 3 3
