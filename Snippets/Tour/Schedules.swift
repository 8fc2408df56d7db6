import Baton
import BatonTesting

struct WrongSum: Error {}

try await exploring(schedules: 1_000) { scheduler in
    let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
    let one = AsyncOperation("one") { 1 }.delayed(by: .seconds(10))  // of virtual time
    let two = AsyncOperation("two") { 2 }
    let sum = AsyncOperation(one, two) { one, two in one + two }
    if try await queue.run(sum) != 3 { throw WrongSum() }  // in a test: try #require(…)
}
