import Baton

struct NoDisk: Error {}
let fonts = AsyncOperation("fonts") { () -> Void in throw NoDisk() }
let book = AsyncOperation("book") {}.addDependency(fonts, on: .noFailure)
let index = AsyncOperation("index") {}
let goals = GroupOperation("goals", book, index)
try await AsyncOperationQueue.shared.run(goals)  // succeeds, although there is no book
for goal in [book, index] {
    // ‘book’ (finished): skipped, because ‘fonts’ failed, and the dependency asks for a success or a skip
    if let error = goal.error { print("\(goal): \(error)") }
}
