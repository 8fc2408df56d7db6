internal import Foundation

/// The state machine of a ``FaultServer``. Pure: the server locks it, asks it, unlocks it, and acts.
struct FaultServerStateMachine<Waiter> {
    /// The event that a test waits for.
    enum Awaited {
        /// At least this many requests have been received. Only those to `path` count, unless it is nil.
        case requests(Int, path: String?)
        /// At least this many bytes of the body of the given request have been read.
        case body(Int, ofRequest: Int)
        /// At least this many connections have been accepted.
        case connections(Int)
        /// The connection with this number has ended.
        case end(ofConnection: Int)
    }

    enum WaitResult {
        case now
        case stopped
        /// The waiter is stored. A later event, or ``stop()``, returns it to the caller.
        case later
    }

    private(set) var requests: [ReceivedRequest] = []
    /// The ends of the connections, by their numbers. Nil while a connection is open.
    private(set) var connectionEnds: [FaultServer.ConnectionEnd?] = []
    private(set) var isStopped = false
    private var scripts: [String: FaultServer.Handler] = [:]
    private var released: Set<String> = []
    private var wakeUps: [Int: WakeUpSocket] = [:]
    private var threads: [Int: JoinableThread] = [:]
    private var endedThreads: [JoinableThread] = []
    private var waiters: [(id: Int, awaited: Awaited, waiter: Waiter)] = []
    private var nextID = 0

    // MARK: Scripts

    mutating func setScript(_ handler: @escaping FaultServer.Handler, for path: String) { scripts[path] = handler }

    func script(for path: String) -> FaultServer.Handler? { scripts[path] ?? scripts["*"] }

    /// Releases the scripts that wait for `key`. Returns the wake-up sockets of all connections, because any of their
    /// threads may wait for the key.
    mutating func release(_ key: String) -> [WakeUpSocket] {
        released.insert(key)
        return Array(wakeUps.values)
    }

    func isReleased(_ key: String) -> Bool { released.contains(key) }

    // MARK: Connections

    /// Registers a new connection and returns its number, or nil if the server has stopped.
    mutating func accept(_ wakeUp: WakeUpSocket) -> (number: Int, ready: [Waiter])? {
        if isStopped { return nil }
        connectionEnds.append(nil)
        let number = connectionEnds.count - 1
        wakeUps[number] = wakeUp
        return (number, takeReady())
    }

    mutating func setThread(_ thread: JoinableThread, of number: Int) {
        // The connection may have ended before the accepting thread stored the handle.
        if connectionEnds[number] == nil { threads[number] = thread } else { endedThreads.append(thread) }
    }

    mutating func end(_ number: Int, _ end: FaultServer.ConnectionEnd) -> [Waiter] {
        precondition(connectionEnds[number] == nil, "Internal inconsistency: a connection that ends twice")
        connectionEnds[number] = end
        wakeUps[number] = nil
        if let thread = threads.removeValue(forKey: number) { endedThreads.append(thread) }
        return takeReady()
    }

    /// Returns the threads whose connections have ended, to be joined.
    mutating func takeEndedThreads() -> [JoinableThread] {
        defer { endedThreads = [] }
        return endedThreads
    }

    // MARK: Requests

    mutating func receive(_ request: ReceivedRequest) -> (index: Int, ready: [Waiter]) {
        requests.append(request)
        return (requests.count - 1, takeReady())
    }

    mutating func receiveBody(_ data: Data, of index: Int) -> [Waiter] {
        requests[index].bodyCount += data.count
        let room = ReceivedRequest.maxKeptBytes - requests[index].body.count
        if room > 0 { requests[index].body.append(data.prefix(room)) }
        return takeReady()
    }

    mutating func completeBody(of index: Int) { requests[index].isBodyComplete = true }

    // MARK: Waiting

    mutating func wait(_ waiter: Waiter, for awaited: Awaited) -> (result: WaitResult, id: Int) {
        nextID += 1
        if hasHappened(awaited) { return (.now, nextID) }
        if isStopped { return (.stopped, nextID) }
        waiters.append((nextID, awaited, waiter))
        return (.later, nextID)
    }

    mutating func removeWaiter(_ id: Int) { waiters.removeAll { $0.id == id } }

    func hasHappened(_ awaited: Awaited) -> Bool {
        switch awaited {
        case .requests(let count, let path): requests.count { path == nil || $0.path == path } >= count
        case .body(let count, let index): requests.indices.contains(index) && requests[index].bodyCount >= count
        case .connections(let count): connectionEnds.count >= count
        case .end(let number): connectionEnds.indices.contains(number) && connectionEnds[number] != nil
        }
    }

    private mutating func takeReady() -> [Waiter] {
        var ready: [Waiter] = []
        var others: [(id: Int, awaited: Awaited, waiter: Waiter)] = []
        for entry in waiters {
            if hasHappened(entry.awaited) { ready.append(entry.waiter) } else { others.append(entry) }
        }
        waiters = others
        return ready
    }

    // MARK: Stopping

    /// Stops the server: no further connection is accepted. The caller wakes the returned sockets, and ends the
    /// returned waiters.
    mutating func stop() -> (wakeUps: [WakeUpSocket], waiters: [Waiter]) {
        isStopped = true
        defer { waiters = [] }
        return (Array(wakeUps.values), waiters.map(\.waiter))
    }

    /// Returns all remaining threads. Call this only after the accepting thread has ended.
    mutating func takeThreads() -> [JoinableThread] {
        defer { (threads, endedThreads) = ([:], []) }
        return endedThreads + threads.values
    }
}
