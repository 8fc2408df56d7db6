import Baton

struct NoPaper: Error {}
let queue = AsyncOperationQueue()
let pages = AsyncOperation("pages") { () -> Int in throw NoPaper() }
let bound = pages.then { "\($0) pages bound" }.add(to: queue)  // adds the whole chain
do {
    print(try await bound.value)
} catch .dependencyFailed(let source, _, let cause) {
    print("\(source) failed first: \(cause)")  // ‘pages’ failed first: NoPaper()
} catch {
    print(error)  // an OperationError: typed throws
}
