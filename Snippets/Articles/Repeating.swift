import Baton

actor Job {
    private var steps = 0
    func poll() -> Int {
        steps += 1
        return steps
    }
}

let job = Job()
let status = AsyncOperation("status") { await job.poll() }
    .repeat(every: .milliseconds(5)) { steps in steps == 3 }  // until the third look
print(try await AsyncOperationQueue.shared.run(status))  // 3

// When to try again: 100 ms, 200 ms, 400 ms, …, at most 10 s, unless the error itself says how long.
let backoff = Backoff.exponential(from: .milliseconds(100)).capped(at: .seconds(10))
print((1...9).map { failures in backoff.delay(after: failures, error: .inputMissing) }.last!)  // 10.0 seconds
