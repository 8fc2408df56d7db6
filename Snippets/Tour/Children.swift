import Baton

let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
let total = AsyncOperation("total") { context in
    var sum = 0
    for number in 1...3 {
        // Meanwhile this body lends its slot: width 1 is enough for any depth.
        sum += try await context.run(AsyncOperation { number * number })
    }
    return sum
}
print(try await queue.run(total))  // 14
