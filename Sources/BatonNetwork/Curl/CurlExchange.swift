#if os(Linux)
    internal import Baton
    internal import CBatonCurl
    internal import Foundation
    internal import FoundationNetworking

    /// A transfer in the hands of libcurl, from its start to its end: the handle, and what its callbacks do. The thread
    /// of the transport alone uses it.
    final class CurlExchange {
        enum Receipt {
            case taken
            /// There is no room. libcurl brings the piece again when it is told that there is.
            case pause
            case stop
        }

        let transfer: CurlTransfer
        let handle: CurlHandle
        /// How long nothing may come or go.
        let limit: Duration
        /// Its entry among the times to look at it.
        var look: TimerHeap<ContinuousClock.Instant, CurlExchange>.Ticket?

        let configuration: CurlTransport.Configuration
        let cookies: CurlCookies
        let connections: CurlConnections
        let header: CurlList
        let proxyHeader: CurlList
        let resolved: CurlList
        let source: UploadSource?
        private let queue: UploadQueue?
        let errorText: UnsafeMutableBufferPointer<CChar>
        private let clock = ContinuousClock()
        /// The address of the proxy, without its password; empty if there is none.
        private let proxy: String

        private var parser: HeadParser
        private var head: HTTPHead?
        private var receivedCount: Int64 = 0
        private var sentCount: Int64 = 0
        /// Why a callback has stopped the transfer.
        private var failure: (any Error)?
        private var isReceivingPaused = false {
            didSet {
                guard isMultiplexed, isReceivingPaused != oldValue, let connection else { return }
                if isReceivingPaused {
                    connections.streamPauses(on: connection)
                } else {
                    connections.streamGoesOn(on: connection)
                }
            }
        }
        private var isSendingPaused = false
        private var requestCount = 0
        private var isConnecting = false
        private var isMultiplexed = false
        /// libcurl lets it wait for the connection of another request to the same host, which it may share.
        var waitsForOthers = false
        /// When something came or went last before the last look, if the other side had closed the connection by then.
        private var lastMovedBeforeLook: ContinuousClock.Instant?
        /// Takes the end of the body, which libcurl writes, in place of a server that would take what it has for all of
        /// it.
        private var void: FileHandle?
        /// The kept connection that libcurl has chosen is of no use.
        private var wantsAnotherConnection = false
        /// The sockets that were opened for it, until one of them is the connection.
        private var openedSockets: [curl_socket_t] = []
        private(set) var connection: CurlConnections.Name?
        /// The answer has come. What libcurl does after that is stopped.
        private var isAnswered = false
        /// There was no socket to be had.
        private var lacksDescriptors = false
        /// How much of what was sent the other side had acknowledged at the last look.
        private var acknowledgedCount: Int64?
        /// When something came or went last; nil while it waits for one of as many connections as there may be.
        private var lastMoved: ContinuousClock.Instant?

        init(
            _ transfer: CurlTransfer, _ body: HTTPRequestBody?, _ queue: UploadQueue?,
            _ configuration: CurlTransport.Configuration, _ cookies: CurlCookies,
            _ connections: CurlConnections, at now: ContinuousClock.Instant
        ) throws {
            let request = transfer.request
            guard let handle = CurlHandle() else {
                throw HTTPError(.other(code: Int(ENOMEM), "out of memory"), request)
            }
            self.handle = handle
            self.transfer = transfer
            self.queue = queue
            self.configuration = configuration
            self.cookies = cookies
            self.connections = connections
            limit = request.idleLimit
            proxy = CurlProxy.address(for: request.url, configuration.proxy)
            lastMoved = configuration.limitsConnections ? nil : now
            parser = HeadParser(url: request.url)
            header = CurlList(request.headerLines)
            proxyHeader = CurlList(request.proxyHeaderLines)
            resolved = CurlList(configuration.resolved)
            errorText = .allocate(capacity: Int(baton_curl_error_size))
            errorText.initialize(repeating: 0)
            do {
                source = try UploadSource(body, request, queue: queue)
            } catch {
                errorText.deallocate()
                handle.close()
                throw error
            }
            handle.setExchange(self)
            setUp()
        }

        /// It is to be taken from libcurl before its end. libcurl 7.88 keeps what it has to tell a server of HTTP/2 of
        /// that, and a server that does not know goes on, so the connection is closed, unless it has others.
        func giveUp() { handle.set(CURLOPT_FORBID_REUSE, true) }

        /// Makes libcurl send what it has kept of others on the same connection. False: it cannot be done with this
        /// one.
        func flush() -> Bool {
            if isReceivingPaused || isSendingPaused { return false }
            handle.unpause(receiving: false, sending: true)
            handle.unpause(receiving: true, sending: true)
            return true
        }

        /// Once, when libcurl does not work on it any more.
        func close() {
            connectionEnds()
            isReceivingPaused = false
            if isMultiplexed { connections.multiplexedCount -= 1 }
            queue?.close()
            handle.close()
            errorText.deallocate()
        }

        // MARK: What libcurl calls

        func connectionBegins() {
            connections.noteEvent()
            waitsForOthers = false
            if lastMoved == nil { lastMoved = clock.now }
            if isConnecting { return }
            isConnecting = true
            connections.connectingCount += 1
        }

        /// - Parameter error: Why there is no socket.
        func socketOpened(_ socket: curl_socket_t, error: Int32) {
            if socket < 0 {
                lacksDescriptors = [EMFILE, ENFILE].contains(error)
                connections.lacksDescriptors = lacksDescriptors
                return
            }
            connections.lacksDescriptors = false
            openedSockets.append(socket)
            // A host whose addresses are known already is not resolved.
            connectionBegins()
        }

        /// Whether libcurl has to start over, after which everything is as it was at the start. Asked when it has
        /// ended.
        func startsOver(after code: CURLcode) -> Bool {
            if wantsAnotherConnection {
                // Nothing has been sent. libcurl has closed that connection.
                wantsAnotherConnection = false
                handle.set(CURLOPT_FRESH_CONNECT, true)
                return true
            }
            // A server that ends a connection of HTTP/2 says which requests it has not looked at. libcurl 7.88 does not
            // send those again.
            guard code == CURLE_HTTP2, head == nil, failure == nil, requestCount == 1, transfer.request.isIdempotent,
                !transfer.isCancelled, source?.rewind(to: 0) ?? true
            else { return false }
            connectionEnds()
            (connection, sentCount, isSendingPaused) = (nil, 0, false)
            parser = HeadParser(url: transfer.request.url)
            errorText[0] = 0
            return true
        }

        /// The connection that it waits for takes its time: libcurl has to start over, with one of its own.
        private func stopWaitingForOthers(at now: ContinuousClock.Instant) {
            waitsForOthers = false
            handle.set(CURLOPT_PIPEWAIT, false)
            if lastMoved != nil { lastMoved = now }
        }

        private func connectionEnds() {
            if isConnecting { connections.connectingCount -= 1 }
            isConnecting = false
            openedSockets = []
        }

        /// False: the request would be sent a second time, and must not be.
        func requestBegins(on connection: CurlConnections.Name) -> Bool {
            connections.noteEvent()
            let isNew = !openedSockets.isEmpty
            connections.note(openedSockets, as: connection, isSecure ? handle.version : .http1)
            connectionEnds()
            waitsForOthers = false
            if !isNew, !wantsAnotherConnection,
                connections.hasLeftovers(connection, onceRead: handle.hasReadMore)
            {
                wantsAnotherConnection = true
                return false
            }
            self.connection = connection
            acknowledgedCount = connections.acknowledgedCount(connection)
            lastMoved = clock.now
            requestCount += 1
            if head != nil {
                // libcurl would send the request once more after 417, which is the answer.
                isAnswered = true
                return false
            }
            if requestCount == 1 { return true }
            // libcurl 7.88 does not always begin the body again when it has lost a second connection.
            if transfer.request.isIdempotent, source?.rewind(to: 0) ?? true { return true }
            failure = HTTPError(.connectionBroken, transfer.request)
            return false
        }

        /// False: the transfer is to be stopped.
        func receive(line: UnsafeRawBufferPointer) -> Bool {
            connections.noteEvent()
            lastMoved = clock.now
            switch parser.line(line) {
            case .more: return true
            case .head(var head):
                head.proxy = proxy.isEmpty ? nil : proxy
                // libcurl takes some first lines for others than they are, and the body depends on the status.
                guard handle.number(CURLINFO_RESPONSE_CODE) == head.status else {
                    return fail(.invalidAnswer("its first line is no status line"))
                }
                if head.status == 407, !proxy.isEmpty, !isSecure {
                    return fail(.proxyRefused(proxy: proxy, status: 407))
                }
                self.head = head
                noteVersion()
                if !head.headers.values(of: "Set-Cookie").isEmpty { cookies.note(in: handle) }
                transfer.receive(head)
                // libcurl sends no more of the body then (RFC 9112, 9.5), but a pause would keep it from ending.
                if head.status >= 400, isSendingPaused { resumeSending(at: clock.now) }
                return !endsBeforeUpload()
            case .invalid(let problem): return fail(.invalidAnswer(problem))
            }
        }

        private func noteVersion() {
            guard let connection else { return }
            let isHTTP2 = handle.number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0)
            connections.note(isHTTP2 ? .http2 : .http1, of: connection)
            if !isHTTP2 || isMultiplexed { return }
            isMultiplexed = true
            connections.multiplexedCount += 1
        }

        func receive(_ piece: UnsafeRawBufferPointer) -> Receipt {
            connections.noteEvent()
            lastMoved = clock.now
            guard parser.isComplete else {
                _ = fail(.invalidAnswer("its head does not end"))
                return .stop
            }
            isReceivingPaused = !transfer.receive(piece)
            if isReceivingPaused { return .pause }
            receivedCount += Int64(piece.count)
            return endsBeforeUpload() ? .stop : .taken
        }

        private var hasWholeAnswer: Bool {
            guard let head else { return false }
            return [204, 304].contains(head.status) || head.contentLength.map { receivedCount >= $0 } ?? false
        }

        /// Whether the answer is complete and the request is not: then a server of HTTP/2 wants no more of it (RFC
        /// 9113, 8.1). libcurl 7.88 would not end, and take all of a core.
        private func endsBeforeUpload() -> Bool {
            guard isMultiplexed, hasWholeAnswer, let source, !source.isSent(sentCount) else { return false }
            isAnswered = true
            return true
        }

        /// Returns what libcurl wants to know: how many bytes there are, or to pause, or to stop.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            connections.noteEvent()
            if void != nil { return 0 }
            switch source?.read(into: buffer) {
            case .bytes(let count)?: return count
            case .later?:
                isSendingPaused = true
                return Int(baton_curl_read_pause)
            case .failure(let error)?:
                failure = error
                return Int(baton_curl_read_abort)
            case nil: return 0
            }
        }

        func rewind(to offset: Int64) -> Bool { source?.rewind(to: offset) ?? true }

        func hasSent(_ count: Int64) {
            if count == sentCount { return }
            connections.noteEvent()
            sentCount = count
            lastMoved = clock.now
            transfer.sent(count)
        }

        private func fail(_ reason: HTTPError.Reason) -> Bool {
            failure = HTTPError(reason, transfer.request)
            giveUp()
            return false
        }

        // MARK: Pauses

        func resumeReceiving(at now: ContinuousClock.Instant) {
            isReceivingPaused = false
            lastMoved = now
            setPauses()
        }

        func resumeSending(at now: ContinuousClock.Instant) {
            isSendingPaused = false
            lastMoved = now
            setPauses()
        }

        private func setPauses() { handle.unpause(receiving: !isReceivingPaused, sending: !isSendingPaused) }

        // MARK: Limits

        enum Look {
            case again(ContinuousClock.Instant)
            /// libcurl has to start over, and to look again then.
            case startOver(ContinuousClock.Instant)
            case end((any Error)?)
        }

        /// How long it may be left alone.
        var lookInterval: Duration {
            if waitsForOthers { return min(limit / 2, .seconds(1)) }
            return source == nil ? limit : min(limit / 4, .seconds(1))
        }

        /// When to look again, or how it ends: nothing has come or gone for too long, for example.
        ///
        /// While a reader or the source of a body is slow, the network is not to blame. libcurl tells of whole lines
        /// of a head only, and of what it has given to the system, which may take a while to send it. So the system is
        /// asked when the connection received something last, and how much the other side has got; a connection of
        /// HTTP/2 receives and sends for others, too.
        func nextLook(at now: ContinuousClock.Instant) -> Look {
            noteAcknowledged(at: now)
            if waitsForOthers {
                stopWaitingForOthers(at: now)
                return .startOver(now + lookInterval)
            }
            if isSendingPaused, let look = lookWhilePaused(at: now) { return look }
            // Once it has begun to answer, nobody waits for the source of the body but the source.
            guard !isReceivingPaused, !isSendingPaused || head != nil, let lastMoved else {
                return .again(now + lookInterval)
            }
            return nextLook(at: now, lastMoved: lastMoved).map { .again(min($0, now + lookInterval)) }
                ?? .end(hasWholeAnswer ? nil : completed(HTTPError(.timedOut(after: limit), transfer.request)))
        }

        /// libcurl neither ends a transfer whose source has nothing, nor tells that the other side has gone.
        private func lookWhilePaused(at now: ContinuousClock.Instant) -> Look? {
            if hasWholeAnswer, isMultiplexed || head?.closesConnection == true { return .end(nil) }
            guard !isReceivingPaused, let connection, connections.isClosed(connection) else { return nil }
            // libcurl had time to read what came before the end. It says whether the answer is complete when there is
            // nothing to be sent.
            if lastMoved == lastMovedBeforeLook {
                if head != nil { void = connections.mute(connection) }
                if void == nil { return .end(completed(HTTPError(.connectionBroken, transfer.request))) }
                giveUp()
                resumeSending(at: now)
            }
            lastMovedBeforeLook = lastMoved
            return .again(now + .milliseconds(50))
        }

        private func noteAcknowledged(at now: ContinuousClock.Instant) {
            guard source != nil, head == nil, let connection,
                let count = connections.acknowledgedCount(connection), count != acknowledgedCount
            else { return }
            acknowledgedCount = count
            if lastMoved != nil { lastMoved = now }
        }

        private func nextLook(
            at now: ContinuousClock.Instant, lastMoved: ContinuousClock.Instant
        ) -> ContinuousClock.Instant? {
            if lastMoved + limit > now { return lastMoved + limit }
            if let connection, let silence = connections.silence(connection), silence < limit {
                return now + max(limit - silence, .milliseconds(1))
            }
            return nil
        }

        // MARK: Ends

        /// Nil: the answer is complete.
        func error(_ code: CURLcode) -> (any Error)? {
            if transfer.isCancelled { return CancellationError() }
            if isAnswered { return nil }
            if let failure { return (failure as? HTTPError).map(completed) ?? failure }
            guard let error = reason(code).map({ HTTPError($0, transfer.request) }) else { return nil }
            // libcurl may have lost a kept connection with the request, and failed to make another one.
            return completed(
                requestCount > 0 && error.isBeforeTheRequest ? HTTPError(.connectionBroken, transfer.request) : error)
        }

        /// With what the transfer knows of its way.
        private func completed(_ error: HTTPError) -> HTTPError {
            var error = error
            error.proxy = proxy.isEmpty ? nil : proxy
            if requestCount > 0 { error.isAfterTheRequest = true } else { error.isBeforeTheConnection = true }
            return error
        }

        private func reason(_ code: CURLcode) -> HTTPError.Reason? {
            if code != CURLE_OK, lacksDescriptors { return .tooManyOpenFiles }
            let text = String(cString: errorText.baseAddress!)
            let result = CurlResult(
                code: code, text: text, handle: handle, configuration: configuration, limit: limit,
                proxy: proxy, isSent: requestCount > 0)
            return result.reason(head: head, receivedCount: receivedCount, request: transfer.request)
        }
    }

    extension URLRequest {
        /// RFC 9110, 9.2.2.
        fileprivate var isIdempotent: Bool {
            ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(httpMethod?.uppercased() ?? "GET")
        }
    }

    extension HTTPHead {
        /// The server ends the connection with this answer (RFC 9112, 9.6).
        fileprivate var closesConnection: Bool {
            headers.values(of: "Connection").flatMap { $0.parts(separatedBy: ",") }.contains {
                $0.lowercased() == "close"
            }
        }
    }
#endif
