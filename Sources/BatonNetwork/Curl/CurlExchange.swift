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
        var clock: TransferClock { transfer.clock }
        /// The URL of the proxy, without its password; empty if there is none.
        private let proxy: String

        /// A Boolean value that indicates whether libcurl keeps the cookies of the response.
        var keepsCookies = false
        private var parser: HeadParser
        private var head: HTTPHead?
        /// The parser of what the proxy answers to the request for a tunnel.
        private var tunnelParser = HeadParser(url: nil)
        /// The time that a proxy which has refused asks the client to wait.
        private var retryAfterOfProxy: Duration?
        var limits: TransferLimits
        private var receivedCount: Int64 = 0
        /// The number of bytes of the body that have arrived. It is less than ``receivedCount`` if the body is packed.
        private var arrivedCount: Int64 = 0
        /// The number of bytes that libcurl has sent of the body. If its length is unknown, they include those
        /// around its chunks.
        private var wholeSentCount: Int64 = 0
        /// The number of bytes of the body that have been sent.
        private var sentCount: Int64 = 0
        private var chunks = UploadedChunks()
        /// A Boolean value that indicates whether libcurl has asked for bytes of the body.
        private var hasAskedForBody = false
        /// The number of bytes of both bodies that have been moved. Bytes of an upload count when the peer has
        /// acknowledged them, if the system tells: it accepts many more than it can send at once.
        var movedCount: Int64 { arrivedCount + min(sentCount, limits.acknowledgedSinceBegin ?? sentCount) }
        /// The reason why a callback has stopped the transfer.
        private var failure: (any Error)?
        private(set) var isReceivingPaused = false {
            didSet {
                guard isMultiplexed, isReceivingPaused != oldValue, let connection else { return }
                if isReceivingPaused {
                    connections.recordPause(on: connection)
                } else {
                    connections.recordResume(on: connection)
                }
            }
        }
        private(set) var isSendingPaused = false {
            didSet { connections.pausedUploads[ObjectIdentifier(self)] = isSendingPaused ? self : nil }
        }
        private var requestCount = 0
        /// A Boolean value that indicates whether the connection has carried other requests before this one.
        private var isOnKeptConnection = false
        private var isConnecting = false
        private var isMultiplexed = false
        /// A Boolean value that indicates whether the connection is known to use HTTP/2, also before the first head.
        private var usesHTTP2 = false
        /// A Boolean value that indicates whether the transfer waits for a connection because their number is limited.
        private var waitsForConnection: Bool {
            didSet {
                if waitsForConnection != oldValue { connections.waitingCount += waitsForConnection ? 1 : -1 }
            }
        }
        /// A Boolean value that indicates whether libcurl waits for the connection of another request to the same host,
        /// which this one may be able to share.
        var waitsForOthers = false
        /// The last activity at the previous check, if the peer had closed the connection by then.
        private var lastActivityAtPreviousCheck: ContinuousClock.Instant?
        /// The socket that receives the end of the body after it has replaced the connection. A server that has closed
        /// the connection must not take the bytes that it has for the whole body.
        private var discardSocket: FileHandle?
        /// A Boolean value that indicates whether the connection that libcurl has chosen cannot be used.
        private var wantsAnotherConnection = false
        /// The time that each address of the host has for its answer, before libcurl tries the next one.
        private var attemptLimit: Duration
        private var attempts: [TimerHeap<ContinuousClock.Instant, ConnectionAttempt>.Ticket] = []
        /// A Boolean value that indicates whether an address has not answered in time.
        private var hasAbandonedAddress = false
        /// The sockets that were opened for the transfer, until one of them has become its connection.
        private(set) var openedSockets: [OpenedSocket] = []
        private(set) var connection: CurlConnections.ID? {
            didSet {
                if let oldValue { connections.release(oldValue, by: self) }
                if let connection { connections.take(connection, for: self) }
            }
        }
        /// A Boolean value that indicates whether the response is complete, so that libcurl is stopped from doing
        /// anything else.
        private var isAnswered = false
        /// A Boolean value that indicates whether a socket could not be opened for lack of descriptors.
        private var lacksDescriptors = false

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
            waitsForConnection = configuration.limitsConnections
            limits = TransferLimits(
                idle: request.idleLimit, configuration.lowestSpeed, at: waitsForConnection ? nil : transfer.clock.now)
            proxy = CurlProxy.address(for: request.url, configuration.proxy)
            attemptLimit = min(request.idleLimit / 12, .seconds(1))
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
            if waitsForConnection { connections.waitingCount += 1 }
        }

        /// Prepares the removal of a transfer from libcurl before its end: its connection is not used again.
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
            waitsForConnection = false
            isReceivingPaused = false
            isSendingPaused = false
            connection = nil
            if isMultiplexed { connections.multiplexedCount -= 1 }
            queue?.close()
            handle.close()
            errorText.deallocate()
        }

        // MARK: Callbacks of libcurl

        func connectionBegins() {
            connections.recordEvent()
            waitsForOthers = false
            waitsForConnection = false
            limits.begin(at: clock.now)
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
            let opened = OpenedSocket(socket: socket, identity: baton_curl_identity(socket))
            openedSockets.append(opened)
            let attempt = ConnectionAttempt(exchange: self, socket: opened)
            attempts.append(connections.attempts.add(attempt, at: ContinuousClock.now + attemptLimit))
            // libcurl resolves no host whose addresses it knows, and so has not called `connectionBegins()` for it.
            connectionBegins()
        }

        /// Returns whether libcurl has to run the transfer once more. If so, the exchange is back in its initial state.
        /// The loop calls this when libcurl has ended the transfer.
        func needsRestart(after code: CURLcode) -> Bool {
            if wantsAnotherConnection {
                // No byte of the request has been sent, and libcurl has closed that connection, unless another request
                // uses it.
                wantsAnotherConnection = false
                handle.set(CURLOPT_FRESH_CONNECT, true)
                return true
            }
            guard failure == nil, !transfer.isCancelled else { return false }
            // An address that does not answer at once may answer later, whatever the other addresses of the host do.
            let hasSilentAddress = code == CURLE_COULDNT_CONNECT && hasAbandonedAddress
            if !hasSilentAddress || requestCount > 0 {
                // A server that closes an HTTP/2 connection tells which requests it has not processed. libcurl 7.88
                // does not send these again. It sends a request again whose kept connection was lost, but does not try
                // the addresses of the host again if that fails.
                let hasLeftovers = hasReceivedLeftovers(code)
                guard hasSilentAddress || code == CURLE_HTTP2 || hasLeftovers, head == nil, requestCount == 1,
                    transfer.request.isIdempotent, source?.rewind(to: 0) ?? true
                else { return false }
                if hasLeftovers { handle.set(CURLOPT_FRESH_CONNECT, true) }
                (connection, wholeSentCount, sentCount) = (nil, 0, 0)
                isSendingPaused = false
                limits.endSpeedMeasurement()
                parser = HeadParser(url: transfer.request.url)
            }
            if hasSilentAddress {
                hasAbandonedAddress = false
                attemptLimit = min(attemptLimit * 3, .longest)
            }
            connectionEnds()
            errorText[0] = 0
            return true
        }

        /// Returns whether a kept connection has failed because of bytes before the response that are no HTTP. They
        /// belong to the previous response, and arrived after ``requestBegins(on:)`` had looked for such bytes.
        private func hasReceivedLeftovers(_ code: CURLcode) -> Bool {
            code == CURLE_UNSUPPORTED_PROTOCOL && isOnKeptConnection && !usesHTTP2
                && String(cString: errorText.baseAddress!).hasPrefix("Received HTTP/0.9")
        }

        /// Stops waiting for the connection of another request, which takes too long. The caller makes libcurl start
        /// over, with a connection of its own.
        func stopWaitingForOthers() {
            waitsForOthers = false
            handle.set(CURLOPT_PIPEWAIT, false)
            limits.beginAgain(at: clock.now)
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
            let version = isSecure ? handle.version : .http1
            connections.recordConnection(openedSockets.map(\.socket), as: connection, version)
            connectionEnds()
            waitsForOthers = false
            // libcurl 7.88 also puts requests on an HTTP/1.1 connection in use if another connection to the host uses
            // HTTP/2. It leaves that connection as it is if the request is not sent.
            let isTaken = version == .http1 && connections.isTaken(connection, byOtherThan: self)
            if isTaken || !isNew && connections.hasLeftovers(connection, onceRead: handle.hasReadMore) {
                wantsAnotherConnection = true
                return false
            }
            self.connection = connection
            isOnKeptConnection = !isNew
            waitsForConnection = false
            usesHTTP2 = connections.usesHTTP2(connection)
            if connections.usesHTTP1(connection) { setBufferSize(forHeadOfHTTP2: false) }
            limits.beginRequest(acknowledgedCount: connections.acknowledgedCount(connection))
            noteActivity()
            beginSpeedMeasurement()
            requestCount += 1
            (chunks, hasAskedForBody) = (UploadedChunks(), false)
            transfer.requestBegins()
            if let head {
                // libcurl would send the request once more after 417, but that status is the response. It would also do
                // so if the server asks for HTTP/1.1 in the middle of a body.
                if head.status == 417 {
                    isAnswered = true
                } else {
                    failure = HTTPError(.connectionBroken, transfer.request)
                }
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
            if isConnecting { return receive(lineOfTunnel: line) }
            switch parser.line(line) {
            case .more: return true
            case .head(var head):
                head.proxy = proxy.isEmpty ? nil : proxy
                // libcurl misreads some status lines, and the end of the body depends on the status.
                guard handle.number(CURLINFO_RESPONSE_CODE) == head.status else {
                    return fail(.invalidAnswer("its first line is not a status line"))
                }
                // A SOCKS proxy has no statuses, so this one is the server's.
                if head.status == 407, !proxy.isEmpty, !proxy.hasPrefix("socks"), !isSecure {
                    retryAfterOfProxy = RetryAfter.delay(head, now: Date())
                    return fail(.proxyRefused(proxy: proxy, status: 407))
                }
                self.head = head
                setBufferSize(forHeadOfHTTP2: false)
                noteVersion()
                if keepsCookies, !head.headers.values(of: "Set-Cookie").isEmpty { cookies.note(in: handle) }
                transfer.receive(head)
                // If this head comes instead of 100, libcurl 7.88 does not send the body, and would send the next
                // request on the connection. The server would take that request for the body (RFC 9110, 10.1.1).
                if isAnsweredInsteadOfContinue { prepareForRemoval() }
                // libcurl would take the body, if the server does send it, for the response to the next request.
                if head.promisesForbiddenBody, !isMultiplexed { prepareForRemoval() }
                // After such a head libcurl 7.88 sends no more of the body (RFC 9112, 9.5), but a pause would keep it
                // from ending.
                if head.status >= 300, isSendingPaused { resumeSending() }
                return true
            case .invalid(let problem): return fail(.invalidAnswer(problem))
            }
        }

        /// Receives a line of the head with which the proxy answers the request for a tunnel. Returns false if the
        /// transfer has to be stopped. In other cases, libcurl decides what the head means.
        private func receive(lineOfTunnel line: UnsafeRawBufferPointer) -> Bool {
            switch tunnelParser.line(line) {
            case .more: return true
            case .head(let head):
                tunnelParser = HeadParser(url: nil)
                retryAfterOfProxy = RetryAfter.delay(head, now: Date())
                // libcurl would wait for the body of this response.
                return head.status == 407 ? fail(.proxyRefused(proxy: proxy, status: 407)) : true
            case .invalid:
                // libcurl would wait for an empty line. It ignores the length of a head that makes a tunnel.
                return tunnelParser.hasStatus || fail(.proxyNotReached(proxy: proxy, "its answer is not HTTP"))
            }
        }

        private func noteVersion() {
            guard let connection else { return }
            let isHTTP2 = handle.number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0)
            connections.setVersion(isHTTP2 ? .http2 : .http1, of: connection)
            if !isHTTP2 || isMultiplexed { return }
            isMultiplexed = true
            // The bytes that the peer acknowledges on such a connection belong to several transfers.
            limits.beginRequest(acknowledgedCount: nil)
            connections.multiplexedCount += 1
        }

        func receive(_ piece: UnsafeRawBufferPointer) -> Receipt {
            connections.recordEvent()
            // The receiver may move the clock, so it is read before.
            let now = noteActivity()
            guard parser.isComplete else {
                _ = fail(.invalidAnswer("its head does not end"))
                return .stop
            }
            isReceivingPaused = !transfer.receive(piece)
            if isReceivingPaused { return .pause }
            receivedCount += Int64(piece.count)
            if head?.headers["Content-Encoding"] == nil {
                arrivedCount = receivedCount
                noteMovedBytes(at: now)
            }
            return .taken
        }

        /// A Boolean value that indicates whether the server decides whether the body is sent.
        private var expectsContinue: Bool {
            source != nil && source?.length != 0 && transfer.request.value(forHTTPHeaderField: "Expect") != nil
        }

        /// A Boolean value that indicates whether the response has come before the server asked for the body.
        private var isAnsweredInsteadOfContinue: Bool { head != nil && expectsContinue && !hasAskedForBody }

        private var hasWholeAnswer: Bool {
            guard let head else { return false }
            return [204, 304].contains(head.status) || head.contentLength.map { receivedCount >= $0 } ?? false
        }

        /// Returns what libcurl expects from its read callback: the number of bytes, or a code that pauses or aborts
        /// the transfer.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            connections.recordEvent()
            // libcurl asks for the body a second after the request, even if the response has begun meanwhile.
            if isAnsweredInsteadOfContinue || discardSocket != nil { return 0 }
            hasAskedForBody = true
            switch source?.read(into: buffer) {
            case .bytes(let count)?:
                if source?.length == nil { chunks.append(count) }
                return count
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

        /// Notes how many bytes of the bodies have been moved.
        ///
        /// - Parameters:
        ///   - arrivedCount: The number of bytes that have arrived, before they are unpacked.
        ///   - sentCount: The number of bytes that have been sent.
        func hasMoved(arrived arrivedCount: Int64, sent sentCount: Int64) {
            hasReceived(arrivedCount)
            hasSent(sentCount)
        }

        /// Notes bytes of a packed body, which may arrive without yielding any byte to receive.
        private func hasReceived(_ count: Int64) {
            if count <= arrivedCount || head == nil { return }
            connections.recordEvent()
            arrivedCount = count
            noteMovedBytes(at: noteActivity())
        }

        private func hasSent(_ count: Int64) {
            if count == wholeSentCount { return }
            connections.recordEvent()
            wholeSentCount = count
            let formerCount = sentCount
            sentCount = source?.length == nil ? chunks.bodyCount(ofSent: count) : count
            noteMovedBytes(at: noteActivity())
            if sentCount != formerCount { transfer.sent(sentCount) }
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
            beginSpeedMeasurement()
            setPauses()
        }

        func resumeSending() {
            isSendingPaused = false
            noteActivity()
            setPauses()
        }

        private func setPauses() { handle.unpause(receiving: !isReceivingPaused, sending: !isSendingPaused) }

        /// A Boolean value that indicates whether the response has begun. libcurl does not wait for the end of the
        /// connection any more when the response is complete.
        var hasHead: Bool { head != nil }

        /// A Boolean value that indicates whether ``checkWhilePaused(at:)`` has something to do that no earlier check
        /// has found.
        var needsCheckWhilePaused: Bool {
            if hasWholeAnswer, head?.closesConnection == true { return true }
            guard !isReceivingPaused, let connection, limits.lastActivity != lastActivityAtPreviousCheck else {
                return false
            }
            return connections.isClosed(connection)
        }

        /// While the source of the body has nothing, libcurl neither ends the transfer nor reports that the peer has
        /// closed the connection, so this method checks both.
        func checkWhilePaused(at now: ContinuousClock.Instant) -> CheckResult? {
            if hasWholeAnswer, head?.closesConnection == true { return .end(nil) }
            guard !isReceivingPaused, let connection, connections.isClosed(connection) else { return nil }
            // Since the previous check, libcurl has had time to read what arrived before the connection was closed. It
            // reports whether the response is complete when it has nothing left to send.
            if limits.lastActivity == lastActivityAtPreviousCheck {
                if head != nil { discardSocket = connections.replaceWithDiscardSocket(connection) }
                if discardSocket == nil { return .end(completed(HTTPError(.connectionBroken, transfer.request))) }
                prepareForRemoval()
                resumeSending()
            }
            lastActivityAtPreviousCheck = limits.lastActivity
            return .again(now + .milliseconds(50))
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
        func completed(_ error: HTTPError) -> HTTPError {
            if error.isOfStream { return error }
            var error = error
            error.proxy = proxy.isEmpty ? nil : proxy
            error.retryAfterOfProxy = retryAfterOfProxy
            if requestCount > 0 { error.isAfterTheRequest = true } else { error.isBeforeTheConnection = true }
            return error
        }

        private func reason(_ code: CURLcode) -> HTTPError.Reason? {
            if code != CURLE_OK, lacksDescriptors { return .tooManyOpenFiles }
            // Only a request whose kept connection was lost, and that must not be sent again, gets here.
            if code == CURLE_COULDNT_CONNECT, hasAbandonedAddress { return .connectionBroken }
            let text = String(cString: errorText.baseAddress!)
            let result = CurlResult(
                code: code, text: text, handle: handle, configuration: configuration, limit: limits.idle,
                proxy: proxy, isSent: requestCount > 0, usesHTTP2: usesHTTP2)
            if hasReceivedLeftovers(code) { return .invalidAnswer(CurlResult.leftovers) }
            return result.reason(head: head, receivedCount: receivedCount, request: transfer.request)
        }
    }

    extension URLRequest {
        fileprivate var isIdempotent: Bool { HTTPRetry.idempotentMethods.contains(httpMethod?.uppercased() ?? "GET") }
    }

    extension HTTPHead {
        /// A Boolean value that indicates whether the status forbids the body that the fields promise (RFC 9112, 6.3).
        /// In responses to HEAD and in 304 responses, such fields promise nothing.
        fileprivate var promisesForbiddenBody: Bool {
            status == 204 && (headers["Transfer-Encoding"] != nil || contentLengths.contains { $0 != "0" })
        }

        /// A Boolean value that indicates whether the server closes the connection after this response (RFC 9112, 9.6).
        fileprivate var closesConnection: Bool {
            headers.values(of: "Connection").flatMap { $0.parts(separatedBy: ",") }.contains {
                $0.lowercased() == "close"
            }
        }
    }
#endif
