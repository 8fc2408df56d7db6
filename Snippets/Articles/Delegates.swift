import Baton

final class Screen: OperationDelegate {
    let (finished, tell) = AsyncStream.makeStream(of: String.self)
    /// A delegate's methods say themselves where they run.
    @MainActor func operationDidFinish(_ operation: OperationReference, error: OperationError?) async {
        tell.yield(error == nil ? "\(operation) is done" : "\(operation) is broken")
    }
}

struct Failures: OperationObserver {
    func observe(_ event: OperationEvent) async {
        if case .finished(.failure, let error?) = event.kind { print("\(event.operation): \(error)") }
    }
}

struct NoBulb: Error {}
let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
let screen = Screen()
queue.delegate = screen  // not retained
let failures = queue.addObserver(Failures())
queue.add("lamp") { throw NoBulb() }
queue.add("chair") {}
await queue.waitUntilIdle()
await failures.delivered()  // ‘lamp’: NoBulb()
for await line in screen.finished {
    print(line)  // ‘lamp’ is broken, ‘chair’ is done
    if line.hasSuffix("done") { break }
}
