import Foundation

/// Waits for something that calls back, so it has to keep its state itself.
class AsynchronousOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var state = (isExecuting: false, isFinished: false)

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { state.isExecuting } }
    override var isFinished: Bool { lock.withLock { state.isFinished } }

    override func start() {
        if isCancelled { return finish() }
        willChangeValue(forKey: "isExecuting")
        lock.withLock { state.isExecuting = true }
        didChangeValue(forKey: "isExecuting")
        main()
    }

    func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        lock.withLock { state = (isExecuting: false, isFinished: true) }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}

final class Load: AsynchronousOperation, @unchecked Sendable {
    private(set) var text: String?

    override func main() {
        DispatchQueue.global().async {
            self.text = "so much depends upon"
            self.finish()
        }
    }
}

final class Count: Operation, @unchecked Sendable {
    private(set) var count: Int?

    override func main() {
        // Nothing says at compile time that there is such a dependency, or that it has a text.
        guard let text = dependencies.lazy.compactMap({ ($0 as? Load)?.text }).first else { return }
        count = text.split(separator: " ").count
    }
}

func run() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 4
    let load = Load()
    let count = Count()
    count.addDependency(load)
    queue.addOperations([load, count], waitUntilFinished: true)  // blocks this thread
    print(count.count.map { "\($0) words" } ?? "no text")  // 4 words
}
run()
