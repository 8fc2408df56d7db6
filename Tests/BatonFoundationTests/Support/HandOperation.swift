import Baton
import BatonTesting
import Foundation

/// A Foundation operation that runs from its start until the test finishes or cancels it, and blocks no thread.
final class HandOperation: Foundation.Operation, @unchecked Sendable {
    private enum Phase {
        case idle, executing, finished
    }

    /// Opens when the operation starts.
    let started = Gate()
    private let phase = Locked(Phase.idle)
    private let obeysCancel: Bool
    private let log: EventLog<String>?

    /// - Parameter log: The log that records the release of the operation.
    init(_ name: String? = nil, obeysCancel: Bool = true, notingItsRelease log: EventLog<String>? = nil) {
        self.obeysCancel = obeysCancel
        self.log = log
        super.init()
        self.name = name
    }

    deinit { log?("\(name ?? "it") was released") }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { phase.withLock { $0 == .executing } }
    override var isFinished: Bool { phase.withLock { $0 == .finished } }

    override func start() {
        willChangeValue(for: \.isExecuting)
        phase.withLock { $0 = .executing }
        didChangeValue(for: \.isExecuting)
        started.open()
        if isCancelled, obeysCancel { finish() }
    }

    override func cancel() {
        super.cancel()
        if obeysCancel, isExecuting { finish() }
    }

    func finish() {
        let isFirst = phase.withLock { phase in
            defer { phase = .finished }
            return phase != .finished
        }
        guard isFirst else { return }
        didChangeValue(for: \.isExecuting)
        didChangeValue(for: \.isFinished)
    }
}

/// Records its release, and thereby that of the object or closure that captures it.
final class Witness: Sendable {
    private let name: String
    private let log: EventLog<String>

    init(_ name: String, _ log: EventLog<String>) {
        self.name = name
        self.log = log
    }

    deinit { log("\(name) was released") }

    func touch() {}
}

/// Returns when Foundation considers the operation finished.
func foundationEnd(of operation: Foundation.Operation) async {
    let gate = Gate()
    let end = BlockOperation { gate.open() }
    end.addDependency(operation)
    let queue = OperationQueue()
    queue.addOperation(end)
    // On Linux, Foundation may miss that `end` became ready just now; this makes the queue check again.
    queue.isSuspended = false
    await gate.wait()
}

/// Returns when the queue is empty. Foundation removes an operation only after it has notified those that wait for it.
func isEmpty(_ queue: OperationQueue) async {
    while queue.operationCount > 0 { await Task.yield() }
}

/// Adds an operation, and returns its outcome when it has finished.
@discardableResult
func run<Output>(_ operation: AsyncOperation<Output>, on queue: AsyncOperationQueue = AsyncOperationQueue()) async
    -> Result<Output, OperationError>
{
    do { return .success(try await queue.run(operation)) } catch { return .failure(error) }
}

struct Oops: Error, Equatable, CustomStringConvertible {
    var text = "oops"
    var description: String { text }
}

extension Result where Failure == OperationError {
    /// The reason of the cancellation, if the operation was cancelled.
    var cancellation: String? {
        if case .failure(.cancelled(let reason)) = self { "\(reason)" } else { nil }
    }
}
