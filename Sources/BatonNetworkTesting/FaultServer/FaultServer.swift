internal import Baton
public import Foundation

/// An HTTP server on loopback that does to its clients what a script says: it is slow, breaks off, sends nonsense.
///
/// ```swift
/// let server = try FaultServer()
/// defer { server.stop() }
/// server.on("/cut", .answerHead(200, ["Content-Length: 5"]), .send("hel"), .close)
/// let cut = AsyncOperation(HTTPData(server.url("/cut"))).add(to: .shared)
/// #expect(try await server.waitForRequests(1).first?.method == "GET")
/// ```
///
/// It listens on a free port. One thread accepts, and each connection has a thread of its own, so that scripts go on
/// while the tasks of the test block every thread of Swift's pool. A path without a script is answered with 404.
public final class FaultServer: Sendable {
    /// Where a server listens.
    @nonexhaustive
    public enum Host: Sendable {
        /// 127.0.0.1.
        case ipv4
        /// ::1.
        case ipv6
    }

    /// How a connection has ended.
    @nonexhaustive
    public enum ConnectionEnd: Sendable, Hashable {
        /// The client has closed it.
        case closedByClient
        /// The client has reset it.
        case resetByClient
        /// A script has closed it.
        case closedByServer
        /// A script has reset it.
        case resetByServer
        /// The client has sent something that is no HTTP/1.
        case invalidRequest
        /// The server was stopped.
        case stopped
    }

    /// The server was stopped while a test waited for something.
    public struct Stopped: Error, Sendable, Hashable {}

    typealias Handler = @Sendable (ReceivedRequest) -> FaultScript
    typealias Machine = FaultServerStateMachine<Waiter>

    /// The port on which it listens.
    public let port: Int
    /// Where it listens.
    public let host: Host

    private let listener: Int32
    private let wake: Wake
    private let machine = Locked(Machine())
    private let greeting: [FaultStep]
    /// Nil once somebody has taken on to join it.
    private let acceptor = Locked<JoinableThread?>(nil)

    // MARK: Start and stop

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - host: Where it listens.
    ///   - greeting: What it does with each connection before it reads a request: an SSH server speaks first, for
    ///     example.
    /// - Throws: An error of the system, if there is no such address, or no more descriptors or threads.
    public init(on host: Host = .ipv4, greeting: [FaultStep] = []) throws {
        guard let wake = Wake() else { throw NoResources() }
        (listener, port) = try Socket.bound(to: host)
        self.wake = wake
        self.host = host
        self.greeting = greeting
        do {
            try Socket.listen(listener, backlog: 1024)
            guard let thread = JoinableThread({ self.acceptConnections() }) else { throw NoResources() }
            acceptor.withLock { $0 = thread }
        } catch {
            Socket.closeCompletely(listener)
            throw error
        }
    }

    struct NoResources: Error, CustomStringConvertible {
        var description: String { "the system gives no more descriptors or threads" }
    }

    /// Closes the port and all connections, and returns when all threads of the server have ended.
    ///
    /// It blocks the calling thread: for as long as a closure of a script runs, at most. Whoever waits for something
    /// gets ``Stopped``. What was received can still be asked for. A second call does nothing.
    public func stop() {
        guard let acceptor = acceptor.withLock({ $0.take() }) else { return }
        let (wakes, waiters) = machine.withLock { $0.stop() }
        for waiter in waiters { waiter.end(.stopped) }
        for wake in wakes { wake.wake() }
        wake.wake()
        acceptor.join()
        Socket.closeCompletely(listener)
        for thread in machine.withLock({ $0.takeThreads() }) { thread.join() }
    }

    private func acceptConnections() {
        while true {
            if Socket.poll(listener, for: .readable, wake: wake, until: nil).isWoken { return }
            guard let descriptor = Socket.accept(listener) else {
                // The client has gone, or there are no more descriptors now.
                _ = wake.wait(until: .now + .milliseconds(1))
                continue
            }
            for thread in machine.withLock({ $0.takeEndedThreads() }) { thread.join() }
            guard let wake = Wake(), let (number, ready) = machine.withLock({ $0.accept(wake) }) else {
                Socket.closeCompletely(descriptor)
                continue
            }
            for waiter in ready { waiter.end(.happened) }
            let thread = JoinableThread {
                ServerConnection(descriptor, number: number, wake: wake, of: self).serve()
            }
            if let thread {
                machine.withLock { $0.setThread(thread, of: number) }
            } else {
                Socket.reset(descriptor)
                end(connection: number, .resetByServer)
            }
        }
    }

    // MARK: Scripts

    /// Says what to do with requests to a path: always the same.
    ///
    /// - Parameters:
    ///   - path: The path, without a query. `"*"` stands for all paths that have no script of their own.
    ///   - readsBodyFirst: Whether the body of the request is read before the first step.
    ///   - steps: What is done, in this order. Without a step that closes, the connection is kept for the next request.
    public func on(_ path: String, readsBodyFirst: Bool = true, _ steps: FaultStep...) {
        let script = FaultScript(readsBodyFirst: readsBodyFirst, steps)
        on(path) { _ in script }
    }

    /// Says what to do with requests to a path: what a closure returns.
    ///
    /// - Parameters:
    ///   - path: The path, without a query. `"*"` stands for all paths that have no script of their own.
    ///   - script: Called when the head of a request was read, on the thread of its connection, so possibly by several
    ///     threads at once.
    public func on(_ path: String, _ script: @escaping @Sendable (ReceivedRequest) -> FaultScript) {
        machine.withLock { $0.setScript(script, for: path) }
    }

    /// Lets the scripts go on that wait for this key, now and later.
    ///
    /// - Parameter key: The key of ``FaultStep/waitForRelease(_:)``.
    public func release(_ key: String) {
        for wake in machine.withLock({ $0.release(key) }) { wake.wake() }
    }

    // MARK: What has come

    /// The address of a path at this server.
    ///
    /// - Parameter target: The path, perhaps with a query, already percent-encoded.
    /// - Returns: The address.
    public func url(_ target: String = "/") -> URL {
        let host = host == .ipv4 ? "127.0.0.1" : "[::1]"
        guard let url = URL(string: "http://\(host):\(port)\(target)") else {
            preconditionFailure("‘\(target)’ is not the target of an address")
        }
        return url
    }

    /// All requests whose head was received, in the order in which their heads were complete.
    public var requests: [ReceivedRequest] { machine.withLock { $0.requests } }

    /// How many connections were accepted.
    public var connectionCount: Int { machine.withLock { $0.ends.count } }

    /// How many of the connections are still open.
    public var openConnectionCount: Int { machine.withLock { $0.ends.count { $0 == nil } } }

    /// Suspends until so many requests have come, without holding a thread.
    ///
    /// - Parameters:
    ///   - count: How many in all, from the start of the server. Their bodies need not be complete.
    ///   - path: Only those to this path; nil counts all.
    /// - Returns: All that have come, to this path.
    /// - Throws: `CancellationError` when the task is cancelled, ``Stopped`` when the server stops first.
    @discardableResult
    public func waitForRequests(_ count: Int, at path: String? = nil) async throws -> [ReceivedRequest] {
        try await wait(for: .requests(count, path: path))
        return requests.filter { path == nil || $0.path == path }
    }

    /// Suspends until so many bytes of a body were read, without holding a thread.
    ///
    /// - Parameters:
    ///   - count: How many bytes.
    ///   - number: The number of the request, from 0 in the order in which they came. It may not have come yet.
    /// - Throws: `CancellationError` when the task is cancelled, ``Stopped`` when the server stops first.
    public func waitForBody(_ count: Int, ofRequest number: Int) async throws {
        try await wait(for: .body(count, ofRequest: number))
    }

    /// Suspends until so many connections were accepted, without holding a thread.
    ///
    /// - Parameter count: How many in all, from the start of the server.
    /// - Throws: `CancellationError` when the task is cancelled, ``Stopped`` when the server stops first.
    public func waitForConnections(_ count: Int) async throws { try await wait(for: .connections(count)) }

    /// Suspends until a connection has ended, without holding a thread.
    ///
    /// A connection ends as soon as the client closes it, also while a script pauses or waits, but not while it reads
    /// or sends bytes that are there.
    ///
    /// - Parameter number: Its number, from 0 in the order in which the server accepted them. It may not have begun
    ///   yet.
    /// - Returns: How it has ended.
    /// - Throws: `CancellationError` when the task is cancelled, ``Stopped`` when the server stops first.
    @discardableResult
    public func waitForEnd(ofConnection number: Int) async throws -> ConnectionEnd {
        try await wait(for: .end(ofConnection: number))
        guard let end = machine.withLock({ $0.ends[number] }) else {
            preconditionFailure("Internal inconsistency: a connection that has ended has no end")
        }
        return end
    }

    private func wait(for awaited: Machine.Awaited) async throws {
        try Task.checkCancellation()
        let waiter = Waiter()
        let (answer, id) = machine.withLock { $0.wait(waiter, for: awaited) }
        switch answer {
        case .now: return
        case .stopped: throw Stopped()
        case .later: break
        }
        let end = await withTaskCancellationHandler {
            await waiter.suspend()
        } onCancel: {
            machine.withLock { $0.forget(id) }
            waiter.end(.cancelled)
        }
        switch end {
        case .happened: return
        case .stopped: throw Stopped()
        case .cancelled: throw CancellationError()
        }
    }

    // MARK: For connections

    /// What is done with a connection before its first request.
    var firstSteps: [FaultStep] { greeting }

    var isStopped: Bool { machine.withLock { $0.isStopped } }

    func isReleased(_ key: String) -> Bool { machine.withLock { $0.isReleased(key) } }

    /// Records a request, and asks what to do with it.
    func receive(_ request: ReceivedRequest) -> (index: Int, script: FaultScript) {
        let (index, ready) = machine.withLock { $0.receive(request) }
        for waiter in ready { waiter.end(.happened) }
        let handler = machine.withLock { $0.script(for: request.path) }
        return (index, handler?(request) ?? FaultScript([.answer(404, body: "no script for \(request.path)")]))
    }

    func receiveBody(_ data: Data, of index: Int) {
        for waiter in machine.withLock({ $0.receiveBody(data, of: index) }) { waiter.end(.happened) }
    }

    func completeBody(of index: Int) { machine.withLock { $0.completeBody(of: index) } }

    func end(connection number: Int, _ end: ConnectionEnd) {
        for waiter in machine.withLock({ $0.end(number, end) }) { waiter.end(.happened) }
    }
}
