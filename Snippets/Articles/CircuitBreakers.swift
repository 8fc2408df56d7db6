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

// The breaker is asked again after the wait for the limit, so those behind the two failures do not run.
let limited = (1...4).map { _ in call(isUp: false).addCondition(.limited("partner API", to: 1)) }
queue.add(limited)
await queue.waitUntilIdle()
print(limited.count { $0.error?.underlyingError is CircuitOpenError })  // 2
