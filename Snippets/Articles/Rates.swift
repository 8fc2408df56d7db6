import Baton

let queue = AsyncOperationQueue()
let start = ContinuousClock.now
let calls = (1...4).map { number in
    AsyncOperation("call \(number)") { print("call \(number)") }
        .addCondition(.rate("partner API", 100, per: .seconds(1), burst: 2))
}
queue.add(calls)
print(calls[3].explain())  // that it is about to start, or when it may
await queue.waitUntilIdle()
// Two at once, and one in each hundredth of a second after them.
print(ContinuousClock.now - start >= .milliseconds(20))  // true
