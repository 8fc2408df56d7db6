import Baton
import BatonTesting

struct WrongOrder: Error {}

// Every delay and time limit of a queue is on its clock, so a test need not wait.
let clock = TestClock()
let queue = AsyncOperationQueue(clock: clock)
let reminder = AsyncOperation<Void>.delay(.seconds(3_600)).then { "an hour later" }.add(to: queue)
await clock.waitForSleepers(count: 1)
clock.advance(by: .seconds(3_600))
print(try await reminder.value)  // an hour later

// A gate stops a body where the test wants it.
let gate = Gate()
let held = queue.add("held") { await gate.wait() }
await gate.waitForWaiters(count: 1)
print(held.state)  // executing
gate.open()
await queue.waitUntilIdle()

// A moment is measured from the start of the clock, and a log tells the test that something has happened.
let rings = EventLog<String>()
let alarm = TestClock.Instant(sinceStart: .seconds(7_200))
AsyncOperation<Void>.delay(.seconds(3_600)).then { rings("two hours") }.add(to: queue)
await clock.waitForSleeper(until: alarm)
clock.advance(to: alarm)
print(await rings.waitForCount(1))  // ["two hours"]

// The same graph under a hundred schedules, each drawn from a seed, one job at a time.
try await exploring(schedules: 100) { scheduler in
    let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
    let log = EventLog<String>()
    let first = AsyncOperation { log("first") }.delayed(by: .seconds(10))
    let second = AsyncOperation { log("second") }.addDependency(first)
    try await queue.run(second)
    if log.events != ["first", "second"] { throw WrongOrder() }  // in Swift Testing: try #require(…)
}
print("a hundred schedules")  // a hundred schedules
