#if os(Linux)
    internal import Baton
    internal import CBatonCurl
    internal import Foundation
    internal import FoundationNetworking

    /// A transfer that libcurl is working on: its handle, and the implementation of the handle's callbacks. Only the
    /// transport's thread uses this object.
    final class CurlExchange {
        enum Receipt {
            case taken
            /// There is no room. libcurl passes the piece again after the transfer was resumed.
            case pause
            case stop
        }

        let transfer: CurlTransfer
        let handle: CurlHandle
        /// The longest time during which no byte may arrive or be sent.
        let limit: Duration
        /// The entry of this exchange among the loop's timed checks.
        var checkTicket: TimerHeap<ContinuousClock.Instant, CurlExchange>.Ticket?

        let configuration: CurlTransport.Configuration
        let cookies: CurlCookies
        let connections: CurlConnections
        let header: CurlList
        let proxyHeader: CurlList
        let resolved: CurlList
        let source: UploadSource?
        private let queue: UploadQueue?
        let errorText: UnsafeMutableBufferPointer<CChar>
        private var clock: TransferClock { transfer.clock }
        /// The URL of the proxy, without its password; empty if there is none.
        private let proxy: String

        private var parser: HeadParser
        private var head: HTTPHead?
        private var receivedCount: Int64 = 0
        private var sentCount: Int64 = 0
        /// The reason why a callback has stopped the transfer.
        private var failure: (any Error)?
        private var isReceivingPaused = false {
            didSet {
                guard isMultiplexed, isReceivingPaused != oldValue, let connection else { return }
                if isReceivingPaused {
                    connections.recordPause(on: connection)
                } else {
                    connections.recordResume(on: connection)
                }
            }
        }
        private var isSendingPaused = false
        private var requestCount = 0
        private var isConnecting = false
        private var isMultiplexed = false
        /// A Boolean value that indicates whether the connection is known to use HTTP/2, also before the first head.
        private var usesHTTP2 = false
        /// A Boolean value that indicates whether libcurl waits for the connection of another request to the same host,
        /// which this one may be able to share.
        var waitsForOthers = false
        /// The value of `lastActivity` at the previous check, if the peer had closed the connection by then.
        private var lastActivityAtPreviousCheck: ContinuousClock.Instant?
        /// The socket that receives the end of the body after it has replaced the connection. A server that has closed
        /// the connection must not take the bytes that it has for the whole body.
        private var discardSocket: FileHandle?
        /// A Boolean value that indicates whether the kept connection that libcurl has chosen cannot be used.
        private var wantsAnotherConnection = false
        /// The time at which the exchange began, by the system's clock.
        let start: ContinuousClock.Instant
        /// The time that each address of the host has for its answer, before libcurl tries the next one.
        private var attemptLimit: Duration
        private var attempts: [TimerHeap<ContinuousClock.Instant, ConnectionAttempt>.Ticket] = []
        /// A Boolean value that indicates whether an address has not answered in time.
        private var hasAbandonedAddress = false
        /// The beginning of the time over which the speed is measured, and the number of bytes moved by then.
        private var speedWindow: (start: ContinuousClock.Instant, count: Int64)
        /// The number of bytes that the system had received on the connection at the last activity. It is used only if
        /// the clock is not the system's.
        private var systemCount: Int64?
        /// The sockets that were opened for the transfer, until one of them has become its connection.
        private var openedSockets: [curl_socket_t] = []
        private(set) var connection: CurlConnections.ID?
        /// A Boolean value that indicates whether the response is complete, so that libcurl is stopped from doing
        /// anything else.
        private var isAnswered = false
        /// A Boolean value that indicates whether a socket could not be opened for lack of descriptors.
        private var lacksDescriptors = false
        /// The number of sent bytes that the peer had acknowledged at the previous check.
        private var acknowledgedCount: Int64?
        /// The last time at which a byte arrived or was sent. Nil while the transfer waits for a connection because
        /// their number is limited.
        private var lastActivity: ContinuousClock.Instant?

        init(
            _ transfer: CurlTransfer, _ body: HTTPRequestBody?, _ queue: UploadQueue?,
            _ configuration: CurlTransport.Configuration, _ cookies: CurlCookies,
            _ connections: CurlConnections
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
            let now = transfer.clock.now
            lastActivity = configuration.limitsConnections ? nil : now
            start = ContinuousClock.now
            attemptLimit = min(request.idleLimit / 12, .seconds(1))
            speedWindow = (now, 0)
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

        /// Prepares the removal of a transfer from libcurl before its end.
        ///
        /// libcurl 7.88 delays the frame that tells an HTTP/2 server of a cancellation, and the server keeps sending
        /// until it receives that frame. libcurl therefore closes the connection, unless other transfers use it.
        func prepareForRemoval() { handle.set(CURLOPT_FORBID_REUSE, true) }

        /// Makes libcurl send the frames that it has buffered for other streams of the same connection. Returns false
        /// if this transfer cannot be used for that, because it is paused.
        func flush() -> Bool {
            if isReceivingPaused || isSendingPaused { return false }
            handle.unpause(receiving: false, sending: true)
            handle.unpause(receiving: true, sending: true)
            return true
        }

        /// Releases the handle. Must be called once, when the handle has been removed from libcurl's multi handle.
        func close() {
            connectionEnds()
            isReceivingPaused = false
            if isMultiplexed { connections.multiplexedCount -= 1 }
            queue?.close()
            handle.close()
            errorText.deallocate()
        }

        // MARK: Callbacks of libcurl

        func connectionBegins() {
            connections.recordEvent()
            waitsForOthers = false
            if lastActivity == nil { lastActivity = clock.now }
            if isConnecting { return }
            isConnecting = true
            connections.connectingCount += 1
        }

        /// - Parameter error: The system's error number, if there is no socket.
        func socketOpened(_ socket: curl_socket_t, error: Int32) {
            if socket < 0 {
                lacksDescriptors = [EMFILE, ENFILE].contains(error)
                connections.lacksDescriptors = lacksDescriptors
                if lacksDescriptors { CurlThread.closeUnusedConnections() }
                return
            }
            connections.lacksDescriptors = false
            openedSockets.append(socket)
            let attempt = ConnectionAttempt(exchange: self, socket: socket, identity: baton_curl_identity(socket))
            attempts.append(connections.attempts.add(attempt, at: ContinuousClock.now + attemptLimit))
            // libcurl resolves no host whose addresses it knows, and so has not called `connectionBegins()` for it.
            connectionBegins()
        }

        /// Returns whether libcurl has to run the transfer once more. If so, the exchange is back in its initial state.
        /// The loop calls this when libcurl has ended the transfer.
        func needsRestart(after code: CURLcode) -> Bool {
            if wantsAnotherConnection {
                // No byte of the request has been sent, and libcurl has closed that connection.
                wantsAnotherConnection = false
                handle.set(CURLOPT_FRESH_CONNECT, true)
                return true
            }
            if code == CURLE_COULDNT_CONNECT, hasAbandonedAddress, failure == nil, requestCount == 0,
                !transfer.isCancelled, setConnectionLimit()
            {
                // An address that does not answer at once may answer later.
                hasAbandonedAddress = false
                attemptLimit = min(attemptLimit * 3, .longest)
                connectionEnds()
                errorText[0] = 0
                return true
            }
            // A server that closes an HTTP/2 connection tells which requests it has not processed. libcurl 7.88 does
            // not send these again.
            guard code == CURLE_HTTP2, head == nil, failure == nil, requestCount == 1, transfer.request.isIdempotent,
                !transfer.isCancelled, source?.rewind(to: 0) ?? true
            else { return false }
            connectionEnds()
            (connection, sentCount, isSendingPaused) = (nil, 0, false)
            parser = HeadParser(url: transfer.request.url)
            errorText[0] = 0
            return true
        }

        /// Stops waiting for the connection of another request, which takes too long. The caller makes libcurl start
        /// over, with a connection of its own.
        private func stopWaitingForOthers() {
            waitsForOthers = false
            handle.set(CURLOPT_PIPEWAIT, false)
            if lastActivity != nil { lastActivity = clock.now }
        }

        /// Gives up an address that has not answered in time, so that libcurl tries the next one.
        ///
        /// libcurl 7.88 waits for an address half of the time that is left, so that a few silent addresses would take
        /// all of it.
        func abandon(_ attempt: ConnectionAttempt) {
            if attempt.abandon() { hasAbandonedAddress = true }
        }

        private func connectionEnds() {
            for ticket in attempts { connections.attempts.remove(ticket) }
            attempts = []
            if isConnecting { connections.connectingCount -= 1 }
            isConnecting = false
            openedSockets = []
        }

        /// Returns false if the request must not be sent: the connection cannot be used, or the request would be sent
        /// twice.
        func requestBegins(on connection: CurlConnections.ID) -> Bool {
            connections.recordEvent()
            let isNew = !openedSockets.isEmpty
            connections.recordConnection(openedSockets, as: connection, isSecure ? handle.version : .http1)
            connectionEnds()
            waitsForOthers = false
            if !isNew, !wantsAnotherConnection,
                connections.hasLeftovers(connection, onceRead: handle.hasReadMore)
            {
                wantsAnotherConnection = true
                return false
            }
            self.connection = connection
            usesHTTP2 = connections.usesHTTP2(connection)
            if connections.usesHTTP1(connection) { setBufferSize(forHeadOfHTTP2: false) }
            acknowledgedCount = connections.acknowledgedCount(connection)
            noteActivity()
            beginSpeedWindow()
            requestCount += 1
            if head != nil {
                // libcurl would send the request once more after 417, but that status is the response.
                isAnswered = true
                return false
            }
            if requestCount == 1 { return true }
            // libcurl 7.88 does not always rewind the body after it has lost a second connection.
            if transfer.request.isIdempotent, source?.rewind(to: 0) ?? true { return true }
            failure = HTTPError(.connectionBroken, transfer.request)
            return false
        }

        /// Returns false if the transfer has to be stopped.
        func receive(line: UnsafeRawBufferPointer) -> Bool {
            connections.recordEvent()
            noteActivity()
            switch parser.line(line) {
            case .more: return true
            case .head(var head):
                head.proxy = proxy.isEmpty ? nil : proxy
                // libcurl misreads some status lines, and the end of the body depends on the status.
                guard handle.number(CURLINFO_RESPONSE_CODE) == head.status else {
                    return fail(.invalidAnswer("its first line is not a status line"))
                }
                if head.status == 407, !proxy.isEmpty, !isSecure {
                    return fail(.proxyRefused(proxy: proxy, status: 407))
                }
                self.head = head
                setBufferSize(forHeadOfHTTP2: false)
                noteVersion()
                if !head.headers.values(of: "Set-Cookie").isEmpty { cookies.note(in: handle) }
                transfer.receive(head)
                // After such a head libcurl sends no more of the body (RFC 9112, 9.5), but a pause would keep it from
                // ending.
                if head.status >= 400, isSendingPaused { resumeSending() }
                return true
            case .invalid(let problem): return fail(.invalidAnswer(problem))
            }
        }

        private func noteVersion() {
            guard let connection else { return }
            let isHTTP2 = handle.number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0)
            connections.setVersion(isHTTP2 ? .http2 : .http1, of: connection)
            if !isHTTP2 || isMultiplexed { return }
            isMultiplexed = true
            connections.multiplexedCount += 1
        }

        func receive(_ piece: UnsafeRawBufferPointer) -> Receipt {
            connections.recordEvent()
            noteActivity()
            guard parser.isComplete else {
                _ = fail(.invalidAnswer("its head does not end"))
                return .stop
            }
            isReceivingPaused = !transfer.receive(piece)
            if isReceivingPaused { return .pause }
            receivedCount += Int64(piece.count)
            return .taken
        }

        private var hasWholeAnswer: Bool {
            guard let head else { return false }
            return [204, 304].contains(head.status) || head.contentLength.map { receivedCount >= $0 } ?? false
        }

        /// Returns what libcurl expects from its read callback: the number of bytes, or a code that pauses or aborts
        /// the transfer.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            connections.recordEvent()
            if discardSocket != nil { return 0 }
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
            connections.recordEvent()
            sentCount = count
            noteActivity()
            transfer.sent(count)
        }

        private func fail(_ reason: HTTPError.Reason) -> Bool {
            failure = HTTPError(reason, transfer.request)
            prepareForRemoval()
            return false
        }

        // MARK: Pauses

        func resumeReceiving() {
            isReceivingPaused = false
            noteActivity()
            beginSpeedWindow()
            setPauses()
        }

        func resumeSending() {
            isSendingPaused = false
            noteActivity()
            setPauses()
        }

        private func setPauses() { handle.unpause(receiving: !isReceivingPaused, sending: !isSendingPaused) }

        // MARK: Time limits

        enum CheckResult {
            case again(ContinuousClock.Instant)
            /// libcurl has to start the transfer over. The next check is due at this time.
            case restart(ContinuousClock.Instant)
            case end((any Error)?)
        }

        /// The longest time until the next check.
        var checkInterval: Duration {
            if waitsForOthers { return min(limit / 2, .seconds(1)) }
            return source == nil ? limit : min(limit / 4, .seconds(1))
        }

        /// Returns when to check again, or how the transfer ends, for example because no byte has arrived or been sent
        /// for too long.
        ///
        /// While the reader or the source of the body is slow, the network is not to blame, so the limit does not
        /// count. libcurl reports only whole lines of a head, and reports bytes as sent when the system has accepted
        /// them, which may be long before it sends them. The system is therefore asked when the connection last
        /// received bytes, and how many bytes the peer has acknowledged. For an HTTP/2 connection these numbers say
        /// nothing, because it also serves other transfers.
        ///
        /// If the clock is not the system's, the limits have checks of their own, at times of that clock; see
        /// ``checkOwnLimits()``.
        func check(at now: ContinuousClock.Instant) -> CheckResult {
            noteAcknowledged()
            if waitsForOthers {
                stopWaitingForOthers()
                return .restart(now + checkInterval)
            }
            if isSendingPaused, let result = checkWhilePaused(at: now) { return result }
            // After the server has begun its response, a slow source of the body no longer stops the clock.
            guard clock.isContinuous, let lastActivity = networkActivity else { return .again(now + checkInterval) }
            return nextCheck(at: now, lastActivity: lastActivity).map { .again(min($0, now + checkInterval)) }
                ?? .end(ending(.timedOut(after: limit)))
        }

        /// The last activity of the network, or nil while the transfer does not wait for the network.
        private var networkActivity: ContinuousClock.Instant? {
            isReceivingPaused || isSendingPaused && head == nil ? nil : lastActivity
        }

        /// Returns the error of a transfer whose time is over, or nil if its response is complete nevertheless.
        private func ending(_ reason: HTTPError.Reason) -> (any Error)? {
            hasWholeAnswer ? nil : completed(HTTPError(reason, transfer.request))
        }

        /// Checks the limits by a clock other than the system's. The system tells times of its own clock only, so this
        /// method compares the number of bytes that it has received with that at the last activity.
        func checkOwnLimits() -> CheckResult {
            let now = clock.now
            noteAcknowledged()
            if lastActivity != nil, systemCount != connection.flatMap({ connections.receivedCount($0) }) {
                noteActivity()
            }
            var next = now + limit
            if let lastActivity = networkActivity {
                if lastActivity + limit <= now { return .end(ending(.timedOut(after: limit))) }
                next = lastActivity + limit
            }
            if let lowest = configuration.lowestSpeed {
                let time = lowest.wholeTime
                if speedWindow.start + time <= now {
                    let seconds = speedWindow.start.duration(to: now) / .seconds(1)
                    let moved = Double(receivedCount + sentCount - speedWindow.count)
                    let isSlow = moved < Double(max(1, lowest.bytesPerSecond)) * seconds
                    if isSlow, requestCount > 0, !isReceivingPaused {
                        return .end(ending(.tooSlow(bytesPerSecond: lowest.bytesPerSecond, over: lowest.time)))
                    }
                    beginSpeedWindow()
                }
                next = min(next, speedWindow.start + time)
            }
            return .again(next)
        }

        private func noteActivity() {
            lastActivity = clock.now
            if !clock.isContinuous { systemCount = connection.flatMap { connections.receivedCount($0) } }
        }

        private func beginSpeedWindow() {
            if !clock.isContinuous { speedWindow = (clock.now, receivedCount + sentCount) }
        }

        /// While the source of the body has nothing, libcurl neither ends the transfer nor reports that the peer has
        /// closed the connection, so this method checks both.
        private func checkWhilePaused(at now: ContinuousClock.Instant) -> CheckResult? {
            if hasWholeAnswer, head?.closesConnection == true { return .end(nil) }
            guard !isReceivingPaused, let connection, connections.isClosed(connection) else { return nil }
            // Since the previous check, libcurl has had time to read what arrived before the connection was closed. It
            // reports whether the response is complete when it has nothing left to send.
            if lastActivity == lastActivityAtPreviousCheck {
                if head != nil { discardSocket = connections.replaceWithDiscardSocket(connection) }
                if discardSocket == nil { return .end(completed(HTTPError(.connectionBroken, transfer.request))) }
                prepareForRemoval()
                resumeSending()
            }
            lastActivityAtPreviousCheck = lastActivity
            return .again(now + .milliseconds(50))
        }

        private func noteAcknowledged() {
            guard source != nil, head == nil, let connection,
                let count = connections.acknowledgedCount(connection), count != acknowledgedCount
            else { return }
            acknowledgedCount = count
            if lastActivity != nil { lastActivity = clock.now }
        }

        private func nextCheck(
            at now: ContinuousClock.Instant, lastActivity: ContinuousClock.Instant
        ) -> ContinuousClock.Instant? {
            if lastActivity + limit > now { return lastActivity + limit }
            if let connection, let idle = connections.timeSinceReceive(connection), idle < limit {
                return now + max(limit - idle, .milliseconds(1))
            }
            return nil
        }

        // MARK: End of the transfer

        /// Returns the error of the transfer, or nil if the response is complete.
        func error(_ code: CURLcode) -> (any Error)? {
            if transfer.isCancelled { return CancellationError() }
            if isAnswered { return nil }
            if let failure { return (failure as? HTTPError).map(completed) ?? failure }
            guard let error = reason(code).map({ HTTPError($0, transfer.request) }) else { return nil }
            // libcurl may have lost a kept connection after it sent the request, and then failed to open another one.
            return completed(
                requestCount > 0 && error.failedBeforeSending ? HTTPError(.connectionBroken, transfer.request) : error)
        }

        /// Adds the proxy to an error, and whether a part of the request may have reached a server.
        private func completed(_ error: HTTPError) -> HTTPError {
            var error = error
            error.proxy = proxy.isEmpty ? nil : proxy
            if requestCount > 0 { error.isAfterTheRequest = true } else { error.isBeforeTheConnection = true }
            return error
        }

        private func reason(_ code: CURLcode) -> HTTPError.Reason? {
            if code != CURLE_OK, lacksDescriptors { return .tooManyOpenFiles }
            if code == CURLE_COULDNT_CONNECT, hasAbandonedAddress { return .timedOut(after: limit) }
            let text = String(cString: errorText.baseAddress!)
            let result = CurlResult(
                code: code, text: text, handle: handle, configuration: configuration, limit: limit,
                proxy: proxy, isSent: requestCount > 0, usesHTTP2: usesHTTP2)
            return result.reason(head: head, receivedCount: receivedCount, request: transfer.request)
        }
    }

    extension URLRequest {
        fileprivate var isIdempotent: Bool { HTTPRetry.idempotentMethods.contains(httpMethod?.uppercased() ?? "GET") }
    }

    extension HTTPHead {
        /// A Boolean value that indicates whether the server closes the connection after this response (RFC 9112, 9.6).
        fileprivate var closesConnection: Bool {
            headers.values(of: "Connection").flatMap { $0.parts(separatedBy: ",") }.contains {
                $0.lowercased() == "close"
            }
        }
    }
#endif
