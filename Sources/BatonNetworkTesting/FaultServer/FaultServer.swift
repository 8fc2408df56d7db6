internal import Baton
public import Foundation

/// An HTTP server on loopback that follows a script: it is slow, breaks connections, or sends malformed answers.
///
/// ```swift
/// let server = try FaultServer()
/// defer { server.stop() }
/// server.on("/cut", .answerHead(200, ["Content-Length: 5"]), .send("hel"), .close)
/// let cut = AsyncOperation(HTTPData(server.url("/cut"))).add(to: .shared)
/// #expect(try await server.waitForRequests(1).first?.method == "GET")
/// ```
///
/// The server listens on a free port. One thread accepts connections, and each connection has a thread of its own, so
/// scripts go on while the tasks of the test block every thread of Swift's pool. A path without a script is answered
/// with 404.
public final class FaultServer: Sendable {
    /// The address on which a server listens.
    @nonexhaustive
    public enum Host: Sendable {
        /// The IPv4 address 127.0.0.1.
        case ipv4
        /// The IPv6 address ::1.
        case ipv6
    }

    /// The way in which a connection has ended.
    @nonexhaustive
    public enum ConnectionEnd: Sendable, Hashable {
        /// The client has closed the connection.
        case closedByClient
        /// The client has reset the connection.
        case resetByClient
        /// A script has closed the connection.
        case closedByServer
        /// A script has reset the connection.
        case resetByServer
        /// The client has sent bytes that are not HTTP/1.
        case invalidRequest
        /// The server was stopped.
        case stopped
    }

    /// The error of a test that waits for an event when the server is stopped.
    public struct Stopped: Error, Sendable, Hashable {}

    typealias Handler = @Sendable (ReceivedRequest) -> FaultScript
    typealias Machine = FaultServerStateMachine<Waiter>

    /// The port on which the server listens.
    public let port: Int
    /// The address on which the server listens.
    public let host: Host

    private let listener: Int32
    private let wakeUp: WakeUpSocket
    private let machine = Locked(Machine())
    private let greeting: [FaultStep]
    /// The thread that accepts connections. Nil after ``stop()`` has taken it to join it.
    private let acceptor = Locked<JoinableThread?>(nil)

    // MARK: Starting and stopping

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - host: The address on which the server listens.
    ///   - greeting: The steps that the server performs on each connection before it reads a request. For example, an
    ///     SSH server speaks first.
    /// - Throws: An error of the system, if the address does not exist, or if there are no more descriptors or threads.
    public init(on host: Host = .ipv4, greeting: [FaultStep] = []) throws {
        guard let wakeUp = WakeUpSocket() else { throw NoResources() }
        (listener, port) = try Socket.bound(to: host)
        self.wakeUp = wakeUp
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
    /// The method blocks the calling thread, at most for as long as a closure of a script runs. Tasks that wait for an
    /// event get ``Stopped``. The received requests remain available. A second call does nothing.
    public func stop() {
        guard let acceptor = acceptor.withLock({ $0.take() }) else { return }
        let (wakeUps, waiters) = machine.withLock { $0.stop() }
        for waiter in waiters { waiter.end(.stopped) }
        for wakeUp in wakeUps { wakeUp.wake() }
        wakeUp.wake()
        acceptor.join()
        Socket.closeCompletely(listener)
        for thread in machine.withLock({ $0.takeThreads() }) { thread.join() }
    }

    private func acceptConnections() {
        while true {
            if Socket.poll(listener, for: .readable, wakeUp: wakeUp, until: nil).isWoken { return }
            guard let descriptor = Socket.accept(listener) else {
                // The client has closed the connection, or there are no more descriptors at the moment.
                _ = wakeUp.wait(until: .now + .milliseconds(1))
                continue
            }
            for thread in machine.withLock({ $0.takeEndedThreads() }) { thread.join() }
            guard let wakeUp = WakeUpSocket(), let (number, ready) = machine.withLock({ $0.accept(wakeUp) }) else {
                Socket.closeCompletely(descriptor)
                continue
            }
            for waiter in ready { waiter.end(.happened) }
            let thread = JoinableThread {
                ServerConnection(descriptor, number: number, wakeUp: wakeUp, of: self).serve()
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

    /// Sets the script for all requests to a path.
    ///
    /// - Parameters:
    ///   - path: The path, without a query. `"*"` stands for all paths that have no script of their own.
    ///   - readsBodyFirst: True if the body of the request is read before the first step.
    ///   - steps: The steps, in order. Unless a step closes the connection, it is kept for the next request.
    public func on(_ path: String, readsBodyFirst: Bool = true, _ steps: FaultStep...) {
        let script = FaultScript(readsBodyFirst: readsBodyFirst, steps)
        on(path) { _ in script }
    }

    /// Sets a closure that returns the script for each request to a path.
    ///
    /// - Parameters:
    ///   - path: The path, without a query. `"*"` stands for all paths that have no script of their own.
    ///   - script: A closure that is called when the head of a request was read, on the thread of its connection, and
    ///     possibly by several threads at once.
    public func on(_ path: String, _ script: @escaping @Sendable (ReceivedRequest) -> FaultScript) {
        machine.withLock { $0.setScript(script, for: path) }
    }

    /// Releases the scripts that wait for a key, now and later.
    ///
    /// - Parameter key: The key of ``FaultStep/waitForRelease(_:)``.
    public func release(_ key: String) {
        for wakeUp in machine.withLock({ $0.release(key) }) { wakeUp.wake() }
    }

    // MARK: Received requests

    /// Returns the URL of a target at this server.
    ///
    /// - Parameter target: The path, optionally with a query, already percent-encoded.
    /// - Returns: The URL.
    public func url(_ target: String = "/") -> URL {
        let host = host == .ipv4 ? "127.0.0.1" : "[::1]"
        guard let url = URL(string: "http://\(host):\(port)\(target)") else {
            preconditionFailure("‘\(target)’ is not the target of an address")
        }
        return url
    }

    /// All requests whose heads were received, in the order in which the heads were complete.
    public var requests: [ReceivedRequest] { machine.withLock { $0.requests } }

    /// The number of accepted connections.
    public var connectionCount: Int { machine.withLock { $0.connectionEnds.count } }

    /// The number of connections that are still open.
    ///
    /// - Complexity: O(*n*), where *n* is the number of accepted connections.
    public var openConnectionCount: Int { machine.withLock { $0.connectionEnds.count { $0 == nil } } }

    /// Suspends until the server has received a number of requests. It does not hold a thread.
    ///
    /// - Parameters:
    ///   - count: The number of requests since the start of the server. Their bodies need not be complete.
    ///   - path: The path of the requests to count, or nil to count all.
    /// - Returns: All requests to this path so far.
    /// - Throws: `CancellationError` when the task is cancelled, ``Stopped`` when the server stops first.
    @discardableResult
    public func waitForRequests(_ count: Int, at path: String? = nil) async throws -> [ReceivedRequest] {
        try await wait(for: .requests(count, path: path))
        return requests.filter { path == nil || $0.path == path }
    }

    /// Suspends until the server has read a number of bytes of a body. It does not hold a thread.
    ///
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - number: The number of the request, counted from 0 in the order of arrival. The request may not have arrived
    ///     yet.
    /// - Throws: `CancellationError` when the task is cancelled, ``Stopped`` when the server stops first.
    public func waitForBody(_ count: Int, ofRequest number: Int) async throws {
        try await wait(for: .body(count, ofRequest: number))
    }

    /// Suspends until the server has accepted a number of connections. It does not hold a thread.
    ///
    /// - Parameter count: The number of connections since the start of the server.
    /// - Throws: `CancellationError` when the task is cancelled, ``Stopped`` when the server stops first.
    public func waitForConnections(_ count: Int) async throws { try await wait(for: .connections(count)) }

    /// Suspends until a connection has ended. It does not hold a thread.
    ///
    /// A connection ends as soon as the client closes it, also while a script pauses or waits, but not while the script
    /// reads received bytes or sends bytes.
    ///
    /// - Parameter number: The number of the connection, counted from 0 in the order in which the server accepted them.
    ///   The connection may not have been accepted yet.
    /// - Returns: The way in which the connection has ended.
    /// - Throws: `CancellationError` when the task is cancelled, ``Stopped`` when the server stops first.
    @discardableResult
    public func waitForEnd(ofConnection number: Int) async throws -> ConnectionEnd {
        try await wait(for: .end(ofConnection: number))
        guard let end = machine.withLock({ $0.connectionEnds[number] }) else {
            preconditionFailure("Internal inconsistency: a connection that has ended has no end")
        }
        return end
    }

    private func wait(for awaited: Machine.Awaited) async throws {
        try Task.checkCancellation()
        let waiter = Waiter()
        let (result, id) = machine.withLock { $0.wait(waiter, for: awaited) }
        switch result {
        case .now: return
        case .stopped: throw Stopped()
        case .later: break
        }
        let end = await withTaskCancellationHandler {
            await waiter.suspend()
        } onCancel: {
            machine.withLock { $0.removeWaiter(id) }
            waiter.end(.cancelled)
        }
        switch end {
        case .happened: return
        case .stopped: throw Stopped()
        case .cancelled: throw CancellationError()
        }
    }

    // MARK: Connections

    /// The steps that are performed on a connection before its first request.
    var firstSteps: [FaultStep] { greeting }

    var isStopped: Bool { machine.withLock { $0.isStopped } }

    func isReleased(_ key: String) -> Bool { machine.withLock { $0.isReleased(key) } }

    /// Records a request, and returns its script.
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
