import Baton

let queue = AsyncOperationQueue()
// Of BatonNetwork: `.reachable("example.com", port: 443, waitToConnect: true)`.
let isConnected: @Sendable (AnyOperation) async -> ConditionResult = { _ in .satisfied }
func send(_ attempt: Int) async throws { if attempt == 1 { throw ConnectionLost() } }
struct ConnectionLost: Error {}

// Each attempt makes a new child, so its condition is evaluated before each attempt.
let upload = AsyncOperation("upload") { context in
    let attempt = context.attempt
    let sending = AsyncOperation("send") { try await send(attempt) }.addCondition("connected", isConnected)
    try await context.run(sending)
}.retry(.exponential(from: .milliseconds(10)), attempts: 3)

try await queue.run(upload)
print("sent in attempt \(upload.attempts.count)")  // sent in attempt 2
