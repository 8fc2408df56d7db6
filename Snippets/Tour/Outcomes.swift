import Baton

struct NoPaper: Error {}
let pages = AsyncOperation("pages") { () -> Int in throw NoPaper() }
let bound = pages.then { "\($0) pages bound" }.name("bound")
do {
    print(try await AsyncOperationQueue.shared.run(bound))
} catch .dependencyFailed(let source, _, let cause) {
    print("\(source) failed first: \(cause)")  // ‘pages’ failed first: NoPaper()
} catch {
    print(error)  // an OperationError: typed throws
}
