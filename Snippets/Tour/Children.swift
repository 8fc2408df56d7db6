import Baton

let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
let total = AsyncOperation("total") { context in
    let found = context.dependencies.outputs(of: Int.self)  // or of a protocol
    // Meanwhile this body releases its permit: width 1 is enough for any depth.
    return try await context.run(AsyncOperation { found.reduce(10, +) })
}.addDependency(AsyncOperation { 4 })
let report = AsyncOperation(total) { total in print("the total is \(total)") }  // the total is 14
let save = AsyncOperation("save") { print("saved") }
try await queue.run(GroupOperation(.ordered, report, save))
