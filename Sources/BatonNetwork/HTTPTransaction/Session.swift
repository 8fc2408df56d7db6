internal import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A URLSession and its running transactions. When this object is released, the session finishes its tasks and is
/// invalidated.
final class Session: Sendable {
    private let session: Locked<URLSession>
    private let transactions = RunningTransactions()

    init(_ configuration: URLSessionConfiguration) {
        session = Locked(
            URLSession(
                configuration: configuration, delegate: SessionDelegate(transactions), delegateQueue: InlineQueue())
        )
    }

    deinit { session.withLock { $0 }.finishTasksAndInvalidate() }

    func start(_ transaction: HTTPTransaction, _ request: URLRequest, _ body: HTTPRequestBody?) {
        let session = session.withLock { $0 }
        let task =
            switch body {
            case nil: session.dataTask(with: request)
            case .data(let data): session.uploadTask(with: request, from: data)
            // On Linux, URLSession takes the length of a symbolic link for that of the file.
            case .file(let file):
                session.uploadTask(
                    with: request,
                    fromFile: (try? File.resolvingLinks(of: file.path)).map { URL(fileURLWithPath: $0) } ?? file)
            case .stream: preconditionFailure("Internal inconsistency: a stream that was not put into a file")
            }
        transactions.add(transaction, for: task.taskIdentifier)
        transaction.start(task)
    }
}

/// The running transactions of a session, by the identifiers of their tasks.
final class RunningTransactions: Sendable {
    private let running = Locked<[Int: HTTPTransaction]>([:])

    func add(_ transaction: HTTPTransaction, for task: Int) { running.withLock { $0[task] = transaction } }

    func remove(_ task: Int) -> HTTPTransaction? { running.withLock { $0.removeValue(forKey: task) } }

    subscript(task: Int) -> HTTPTransaction? { running.withLock { $0[task] } }
}

/// An operation queue that, on Linux, runs each block on the thread that adds it.
///
/// On Linux, URLSession adds every event to its delegate's queue from the queue on which libcurl runs, does not wait
/// for it, and cannot pause a transfer. All events that the delegate has not handled would be kept in memory. With this
/// queue, the delegate is called where the event arises: it stores the bytes, and returns.
final class InlineQueue: OperationQueue, @unchecked Sendable {
    // @unchecked: the class adds no state to its superclass.
    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        name = "BatonNetwork"
    }

    #if canImport(FoundationNetworking)
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    #endif
}
