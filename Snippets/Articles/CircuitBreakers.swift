import Baton

struct ServiceDown: Error {}

let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
let breaker = CircuitBreaker("partner API", failures: 2, retryAfter: .milliseconds(20))
func call(isUp: Bool) -> AsyncOperation<Void> {
    AsyncOperation("call") { if !isUp { throw ServiceDown() } }.addCondition(breaker)
}

let calls = (1...3).map { _ in call(isUp: false) }
queue.add(calls)
await queue.waitUntilIdle()
print(breaker.state)  // open
print(calls[2].error?.underlyingError is CircuitOpenError)  // true: its body has not run

try await Task.sleep(for: .milliseconds(30))
let trial = call(isUp: true)
try await queue.run(trial)
print(breaker.state)  // closed
