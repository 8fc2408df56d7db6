import Baton

let queue = AsyncOperationQueue()
let pages = (1...6).map { number in
    AsyncOperation("page \(number)") { print("page \(number)") }
        .addCondition(.limited("host", to: 2))  // on all queues of the process
        .addCondition(.rate("host", 100, per: .seconds(1)))  // at most 100 starts per second, one every 10 ms
        .addCondition("is odd") { page in number % 2 == 1 ? .satisfied : .skip("even") }
}
// The same name: the index waits until no page runs.
let index = AsyncOperation("index") { print("index") }.addCondition(.mutuallyExclusive("host"))
queue.add(pages + [index.addDependency(pages[0])])
await queue.waitUntilIdle()
print(pages[1].result!)  // failure(skipped by a condition: even)
