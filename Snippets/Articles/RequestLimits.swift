import Baton
import BatonTesting

func request(_ number: Int) -> AsyncOperation<Int> {
    AsyncOperation("request \(number)") { number }
        .addCondition(.rate("partner API", 10, per: .seconds(1)))  // starts, 100 ms apart
        .addCondition(.limited("partner API", to: 4))  // at the same time
        .retry(attempts: 3)  // further attempts wait for the rate, too
}

// In virtual time, as in a test.
try await exploring(seed: 1) { scheduler in
    let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
    let answers = try await queue.run(AsyncOperation.collect((1...21).map(request)))
    print(answers.count, scheduler.clock.now)  // 21 2.0 seconds
}
