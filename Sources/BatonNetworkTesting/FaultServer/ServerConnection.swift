internal import Foundation

/// One connection of a ``FaultServer``. It reads requests and performs their scripts on its own thread.
///
/// Every function that needs the peer throws ``Ended`` when the connection has ended.
struct ServerConnection {
    private struct Ended: Error {
        let end: FaultServer.ConnectionEnd

        init(_ end: FaultServer.ConnectionEnd) { self.end = end }
    }

    private let descriptor: Int32
    private let number: Int
    private let wakeUp: WakeUpSocket
    private let server: FaultServer
    /// The bytes that were received and not used yet.
    private var pending = Data()
    private var buffer = Data(count: 64 * 1024)

    init(_ descriptor: Int32, number: Int, wakeUp: WakeUpSocket, of server: FaultServer) {
        self.descriptor = descriptor
        self.number = number
        self.wakeUp = wakeUp
        self.server = server
    }

    consuming func serve() {
        let end = serveRequests()
        if end == .resetByServer { Socket.reset(descriptor) } else { Socket.closeCompletely(descriptor) }
        server.end(connection: number, end)
    }

    private mutating func serveRequests() -> FaultServer.ConnectionEnd {
        do throws(Ended) {
            for step in server.firstSteps { try perform(step, nil) }
            while true { try serveRequest() }
        } catch {
            return error.end
        }
    }

    // MARK: Requests

    /// The request whose script is performed.
    private final class Current {
        let index: Int
        let wantsContinue: Bool
        /// The reader of the request's body.
        var body: BodyReader

        init(_ index: Int, _ request: ReceivedRequest, _ script: FaultScript) {
            self.index = index
            wantsContinue = request.expectsContinue && script.saysContinue
            body = BodyReader(request.framing)
        }
    }

    private mutating func serveRequest() throws(Ended) {
        let request = try readHead()
        let (index, script) = server.receive(request)
        let current = Current(index, request, script)
        if script.readsBodyFirst { try readBody(of: current) }
        for step in script.steps { try perform(step, current) }
        try readBody(of: current)
    }

    private static let endOfHead = Data("\r\n\r\n".utf8)

    private mutating func readHead() throws(Ended) -> ReceivedRequest {
        while true {
            // Empty lines before a request line are ignored: RFC 9112, 2.2.
            while pending.starts(with: [13, 10]) { pending.removeFirst(2) }
            if let end = pending.range(of: Self.endOfHead) {
                let head = pending[..<end.lowerBound]
                pending.removeSubrange(..<end.upperBound)
                guard let request = ReceivedRequest(head: head, connection: number) else {
                    throw Ended(.invalidRequest)
                }
                return request
            }
            if pending.count > 1 << 20 { throw Ended(.invalidRequest) }
            try receive()
        }
    }

    /// Reads the body of a request.
    ///
    /// - Parameter count: The largest number of bytes to read, or nil to read to the end.
    private mutating func readBody(of current: Current, upTo count: Int? = nil) throws(Ended) {
        if current.body.isComplete {
            server.completeBody(of: current.index)
            return
        }
        if current.wantsContinue, !current.body.hasBegun, pending.isEmpty {
            try send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        var rest = count ?? .max
        while !current.body.isComplete, rest > 0 {
            guard let piece = current.body.take(upTo: rest, from: &pending) else { throw Ended(.invalidRequest) }
            if piece.isEmpty {
                if !current.body.isComplete { try receive() }
                continue
            }
            server.receiveBody(piece, of: current.index)
            rest -= piece.count
        }
        if current.body.isComplete { server.completeBody(of: current.index) }
    }

    // MARK: Steps

    private mutating func perform(_ step: FaultStep, _ current: Current?) throws(Ended) {
        switch step.action {
        case .send(let data):
            try send(data)
        case .sendSlowly(let data, let interval):
            for byte in data {
                try send(Data([byte]))
                try pause(interval)
            }
        case .sendPattern(let count, let chunked):
            try sendPattern(count, chunked: chunked)
        case .sendRepeatedly(let data, let count):
            try sendRepeatedly(data, count)
        case .pause(let duration):
            try pause(duration)
        case .waitForRelease(let key):
            while !server.isReleased(key) { try waitForWake(until: nil) }
        case .waitForBytes:
            if pending.isEmpty { try receive() }
        case .readBody:
            if let current { try readBody(of: current) }
        case .readBodySlowly(let count, let interval):
            guard let current else { return }
            while !current.body.isComplete {
                try readBody(of: current, upTo: count)
                try pause(interval)
            }
        case .close:
            throw Ended(.closedByServer)
        case .closeSending:
            Socket.closeWriting(descriptor)
        case .closeAfterReading:
            Socket.closeWriting(descriptor)
            try dropRest(until: .now + .seconds(2))
        case .reset:
            throw Ended(.resetByServer)
        }
    }

    private mutating func sendPattern(_ count: Int, chunked: Bool) throws(Ended) {
        var offset = 0
        while offset < count {
            let piece = PatternBytes.piece(count - offset, from: offset)
            if chunked { try send(Data("\(String(piece.count, radix: 16))\r\n".utf8)) }
            try send(piece)
            if chunked { try send(Data("\r\n".utf8)) }
            offset += piece.count
        }
        if chunked { try send(Data("0\r\n\r\n".utf8)) }
    }

    /// Sends several repetitions at once, so that short texts do not take a system call each.
    private func sendRepeatedly(_ data: Data, _ count: Int) throws(Ended) {
        let batch = min(count, max(1, 64 * 1024 / max(1, data.count)))
        let many = Data((0..<batch).map { _ in data }.joined())
        var rest = count
        while rest >= batch, batch > 0 {
            try send(many)
            rest -= batch
        }
        try send(many.prefix(rest * data.count))
    }

    private func pause(_ duration: Duration) throws(Ended) {
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end { try waitForWake(until: end) }
    }

    /// Returns when the thread was woken or the deadline has passed.
    private func waitForWake(until deadline: ContinuousClock.Instant?) throws(Ended) {
        let found = Socket.poll(descriptor, for: .hangup, wakeUp: wakeUp, until: deadline)
        if found.isWoken { wakeUp.clear() }
        if server.isStopped { throw Ended(.stopped) }
        if found.hasHungUp { throw Ended(.closedByClient) }
    }

    /// Discards received bytes until the client closes or the deadline has passed.
    private mutating func dropRest(until deadline: ContinuousClock.Instant) throws(Ended) {
        pending = Data()
        do throws(Ended) {
            while true {
                try receive(until: deadline)
                pending = Data()
            }
        } catch {
            throw error.end == .stopped ? error : Ended(.closedByServer)
        }
    }

    // MARK: Bytes

    /// Appends at least one received byte to the pending ones.
    private mutating func receive(until deadline: ContinuousClock.Instant? = nil) throws(Ended) {
        while true {
            switch buffer.withUnsafeMutableBytes({ Socket.receive(descriptor, into: $0) }) {
            case .bytes(let count):
                pending.append(buffer.prefix(count))
                return
            case .endOfStream: throw Ended(.closedByClient)
            case .failed: throw Ended(.resetByClient)
            case .nothingYet:
                let found = Socket.poll(descriptor, for: .readable, wakeUp: wakeUp, until: deadline)
                if found.isWoken { wakeUp.clear() }
                if server.isStopped { throw Ended(.stopped) }
                if found.hasExpired { throw Ended(.closedByServer) }
            }
        }
    }

    private func send(_ data: Data) throws(Ended) {
        var rest = data
        while !rest.isEmpty {
            switch rest.withUnsafeBytes({ Socket.send(descriptor, $0) }) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .failed: throw Ended(.resetByClient)
            case .noRoom:
                let found = Socket.poll(descriptor, for: .writable, wakeUp: wakeUp, until: nil)
                if found.isWoken { wakeUp.clear() }
                if server.isStopped { throw Ended(.stopped) }
                // If the client has closed its side and the socket has no room, the client does not read any more.
                if found.hasHungUp, !found.isReady { throw Ended(.closedByClient) }
            }
        }
    }
}
