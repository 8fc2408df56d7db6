import Baton

struct ServiceDown: Error {}

let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
let breaker = CircuitBreaker("partner API", failures: 2, retryAfter: .milliseconds(500))
func call(isUp: Bool) -> AsyncOperation<Void> {
    AsyncOperation("call") { if !isUp { throw ServiceDown() } }.addCondition(breaker)
}

queue.add((1...2).map { _ in call(isUp: false) })
await queue.waitUntilIdle()
print(breaker.state)  // open
let refused = call(isUp: true)
queue.add(refused)
await queue.waitUntilIdle()
print(refused.error?.underlyingError is CircuitOpenError)  // true: its body has not run

try await Task.sleep(for: .milliseconds(600))
let trial = call(isUp: true)
try await queue.run(trial)
print(breaker.state)  // closed
