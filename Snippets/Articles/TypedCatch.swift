import Baton

struct NoPaper: Error {}
let queue = AsyncOperationQueue()
let pages = AsyncOperation("pages") { () -> Int in throw NoPaper() }
// Inside a closure the compiler forgets the type of what is thrown, unless the `do` says it.
let stage = await Task {
    do throws(OperationError) {
        _ = try await queue.run(pages)
        return "printed"
    } catch {
        return "\(error.stage)"
    }
}.value
print(stage)  // execution
