import Baton

let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
let total = AsyncOperation("total") { context in
    let found = context.dependencies.outputs(of: Int.self)  // or of a protocol
    try context.produce(AsyncOperation("report") { print("on its own from here") })
    // Meanwhile this body lends its slot: width 1 is enough for any depth.
    return try await context.run(AsyncOperation { found.reduce(10, +) })
}
total.addDependency(AsyncOperation { 4 })
print(try await queue.run(total))  // 14
await queue.waitUntilIdle()
