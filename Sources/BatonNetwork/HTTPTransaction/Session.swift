internal import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A URLSession, and whose answers it brings. It is closed when this goes and its requests have ended.
final class Session: Sendable {
    private let session: Locked<URLSession>
    private let exchanges = Exchanges()

    init(_ configuration: URLSessionConfiguration) {
        session = Locked(
            URLSession(configuration: configuration, delegate: SessionDelegate(exchanges), delegateQueue: InlineQueue())
        )
    }

    deinit { session.withLock { $0 }.finishTasksAndInvalidate() }

    func start(_ exchange: HTTPTransaction, _ request: URLRequest, _ body: HTTPRequestBody?) {
        let session = session.withLock { $0 }
        let task =
            switch body {
            case nil: session.dataTask(with: request)
            case .data(let data): session.uploadTask(with: request, from: data)
            // On Linux, URLSession takes the length of a link for that of the file.
            case .file(let file): session.uploadTask(with: request, fromFile: file.resolvingSymlinksInPath())
            case .stream: preconditionFailure("Internal inconsistency: a stream that was not put into a file")
            }
        exchanges.add(exchange, for: task.taskIdentifier)
        exchange.start(task)
    }
}

/// Which exchange belongs to which task of a session.
final class Exchanges: Sendable {
    private let running = Locked<[Int: HTTPTransaction]>([:])

    func add(_ exchange: HTTPTransaction, for task: Int) { running.withLock { $0[task] = exchange } }

    func remove(_ task: Int) -> HTTPTransaction? { running.withLock { $0.removeValue(forKey: task) } }

    subscript(task: Int) -> HTTPTransaction? { running.withLock { $0[task] } }
}

/// A queue that is none: who adds something to it runs it.
///
/// On Linux, URLSession puts every event into its delegate's queue from one of its own, on which libcurl runs, and goes
/// on at once; and it has no way to pause a transfer. All that has come and not been looked at would be kept in memory.
/// So the delegate is called where the event arises: it stores what has come, and returns.
final class InlineQueue: OperationQueue, @unchecked Sendable {
    // @unchecked: it adds nothing to its superclass.
    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        name = "BatonNetwork"
    }

    #if canImport(FoundationNetworking)
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    #endif
}
