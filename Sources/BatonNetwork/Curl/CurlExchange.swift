#if os(Linux)
    internal import Baton
    internal import CBatonCurl
    internal import Foundation
    internal import FoundationNetworking

    /// A transfer in the hands of libcurl, from its start to its end: the handle, and what its callbacks do. The thread of the transport
    /// alone uses it.
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
        var look: Deadlines<ContinuousClock.Instant, CurlExchange>.Ticket?

        private let configuration: CurlTransport.Configuration
        private let cookies: CurlCookies
        private let connections: CurlConnections
        private let header: CurlList
        private let resolved: CurlList
        private let source: UploadSource?
        private let queue: UploadQueue?
        private let errorText: UnsafeMutableBufferPointer<CChar>
        private let clock = ContinuousClock()

        private var parser: HeadParser
        private var head: HTTPHead?
        private var receivedCount: Int64 = 0
        private var sentCount: Int64 = 0
        /// Why a callback has stopped the transfer.
        private var failure: (any Error)?
        private var isReceivingPaused = false
        private var isSendingPaused = false
        private var requestCount = 0
        private var isConnecting = false
        private var isMultiplexed = false
        /// The kept connection that libcurl has chosen is of no use.
        private var wantsAnotherConnection = false
        /// The sockets that were opened for it, until one of them is the connection.
        private var openedSockets: [curl_socket_t] = []
        private(set) var localPort: Int32?
        /// The answer has come. What libcurl does after that is stopped.
        private var isAnswered = false
        /// There was no socket to be had.
        private var lacksDescriptors = false
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
            lastMoved = configuration.limitsConnections ? nil : now
            parser = HeadParser(url: request.url)
            header = CurlList(request.headerLines)
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

        /// It is to be taken from libcurl before its end. libcurl 7.88 keeps what it has to tell a server of HTTP/2 of that, and a server that
        /// does not know goes on, so the connection is closed, unless it has others.
        func giveUp() { handle.set(CURLOPT_FORBID_REUSE, true) }

        /// Makes libcurl send what it has kept of others on the same connection. False: it cannot be done with this one.
        func flush() -> Bool {
            if isReceivingPaused || isSendingPaused { return false }
            handle.unpause(receiving: false, sending: true)
            handle.unpause(receiving: true, sending: true)
            return true
        }

        /// Once, when libcurl does not work on it any more.
        func close() {
            connectionEnds()
            if isMultiplexed { connections.multiplexedCount -= 1 }
            queue?.close()
            handle.close()
            errorText.deallocate()
        }

        // MARK: Options

        private func setUp() {
            let request = transfer.request
            handle.setErrorBuffer(errorText.baseAddress!)
            handle.set(CURLOPT_NOSIGNAL, true)
            // A transfer that ends while its host is resolved would wait for the thread that does it.
            handle.set(CURLOPT_QUICK_EXIT, true)
            if configuration.idleConnections < 1 { handle.set(CURLOPT_FORBID_REUSE, true) }
            handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
            handle.set(CURLOPT_FOLLOWLOCATION, false)
            handle.set(CURLOPT_PATH_AS_IS, true)
            handle.set(CURLOPT_URL, request.url?.absoluteString)
            handle.set(CURLOPT_HTTPHEADER, header)
            handle.set(CURLOPT_ACCEPT_ENCODING, "")
            handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
            handle.set(CURLOPT_TCP_KEEPALIVE, true)
            setMethod(of: request)
            setConnection(of: request)
            setCertificates()
            if request.value(forHTTPHeaderField: "User-Agent") == nil {
                handle.set(CURLOPT_USERAGENT, configuration.userAgent)
            }
            // libcurl 7.88 never ends the head of a longer one if it has a cookie for it.
            let hasShortAddress = request.url.map { $0.absoluteString.utf8.count <= 8000 } ?? true
            if request.httpShouldHandleCookies, hasShortAddress { cookies.serve(handle) }
            if let cookie = request.value(forHTTPHeaderField: "Cookie") { handle.set(CURLOPT_COOKIE, cookie) }
        }

        private func setMethod(of request: URLRequest) {
            let method = request.httpMethod ?? "GET"
            if let source {
                handle.set(CURLOPT_UPLOAD, true)
                handle.setUploadLength(source.length)
                handle.set(CURLOPT_NOPROGRESS, false)
                handle.set(CURLOPT_UPLOAD_BUFFERSIZE, 64 * 1024)
            } else if method.uppercased() == "HEAD" {
                handle.set(CURLOPT_NOBODY, true)
                return
            } else {
                handle.set(CURLOPT_HTTPGET, true)
            }
            handle.set(CURLOPT_CUSTOMREQUEST, method)
        }

        private func setConnection(of request: URLRequest) {
            switch configuration.version {
            case .automatic: handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
            case .http1: handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
            }
            // The first connection tells whether the others are needed.
            if request.url?.scheme?.lowercased() == "https" { handle.set(CURLOPT_PIPEWAIT, true) }
            switch configuration.proxy {
            case .environment: break
            case .none: handle.set(CURLOPT_PROXY, "")
            case .address(let address):
                handle.set(CURLOPT_PROXY, address)
                handle.set(CURLOPT_NOPROXY, "")
            }
            // Several addresses of a host share the time limit of a connection.
            if !configuration.limitsConnections { handle.set(CURLOPT_CONNECTTIMEOUT_MS, limit.wholeMilliseconds) }
            if !configuration.resolved.isEmpty { handle.set(CURLOPT_RESOLVE, resolved) }
            if let lowest = configuration.lowestSpeed {
                handle.set(CURLOPT_LOW_SPEED_LIMIT, max(1, lowest.bytesPerSecond))
                handle.set(CURLOPT_LOW_SPEED_TIME, max(1, Int(lowest.time.bounded.components.seconds)))
            }
        }

        private func setCertificates() {
            if let file = configuration.certificateAuthorities {
                handle.set(CURLOPT_CAINFO, file.path)
                // Those of the system are in a folder, too.
                handle.set(CURLOPT_CAPATH, nil as String?)
            }
            guard let own = configuration.clientCertificate else { return }
            handle.set(CURLOPT_SSLCERT, own.certificate.path)
            handle.set(CURLOPT_SSLKEY, (own.key ?? own.certificate).path)
            if let password = own.password { handle.set(CURLOPT_KEYPASSWD, password) }
        }

        // MARK: What libcurl calls

        func connectionBegins() {
            if lastMoved == nil { lastMoved = clock.now }
            if isConnecting { return }
            isConnecting = true
            connections.connectingCount += 1
        }

        /// - Parameter error: Why there is no socket.
        func socketOpened(_ socket: curl_socket_t, error: Int32) {
            if socket < 0 {
                lacksDescriptors = [EMFILE, ENFILE].contains(error)
                return
            }
            openedSockets.append(socket)
            // A host whose addresses are known already is not resolved.
            connectionBegins()
        }

        /// Whether libcurl has to begin anew, after which everything is as it was at the start. Asked when it has ended.
        func beginsAnew(after code: CURLcode) -> Bool {
            if wantsAnotherConnection {
                // Nothing has been sent. libcurl has closed that connection.
                wantsAnotherConnection = false
                handle.set(CURLOPT_FRESH_CONNECT, true)
                return true
            }
            // A server that ends a connection of HTTP/2 says which requests it has not looked at. libcurl 7.88 does not send those again.
            guard code == CURLE_HTTP2, head == nil, failure == nil, requestCount == 1, transfer.request.isIdempotent,
                !transfer.isCancelled, source?.rewind(to: 0) ?? true
            else { return false }
            connectionEnds()
            (localPort, sentCount, isSendingPaused) = (nil, 0, false)
            parser = HeadParser(url: transfer.request.url)
            errorText[0] = 0
            return true
        }

        private func connectionEnds() {
            if isConnecting { connections.connectingCount -= 1 }
            isConnecting = false
            openedSockets = []
        }

        /// False: the request would be sent a second time, and must not be.
        func requestBegins(localPort: Int32) -> Bool {
            let isNew = !openedSockets.isEmpty
            connections.note(openedSockets, localPort: localPort)
            connectionEnds()
            if !isNew, !wantsAnotherConnection, connections.hasLeftovers(localPort: localPort) {
                wantsAnotherConnection = true
                return false
            }
            self.localPort = localPort
            lastMoved = clock.now
            requestCount += 1
            if head != nil {
                // libcurl would send the request once more after 417, which is the answer.
                isAnswered = true
                return false
            }
            if requestCount == 1 || transfer.request.isIdempotent { return true }
            failure = HTTPError(.connectionBroken, transfer.request)
            return false
        }

        /// False: the transfer is to be stopped.
        func receive(line: UnsafeRawBufferPointer) -> Bool {
            lastMoved = clock.now
            switch parser.line(line) {
            case .more: return true
            case .head(let head):
                // libcurl takes some first lines for others than they are, and the body depends on the status.
                guard handle.number(CURLINFO_RESPONSE_CODE) == head.status else {
                    return fail(.invalidAnswer("its first line is no status line"))
                }
                self.head = head
                if handle.number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0), let localPort {
                    connections.noteHTTP2(localPort: localPort)
                    if !isMultiplexed { connections.multiplexedCount += 1 }
                    isMultiplexed = true
                }
                if !head.headers.values(of: "Set-Cookie").isEmpty { cookies.note(in: handle) }
                transfer.receive(head)
                return !endsBeforeUpload()
            case .invalid(let problem): return fail(.invalidAnswer(problem))
            }
        }

        func receive(_ piece: UnsafeRawBufferPointer) -> Receipt {
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

        private var hasWholeAnswer: Bool { head?.contentLength.map { receivedCount >= $0 } ?? false }

        /// Whether the answer is complete and the request is not: then a server of HTTP/2 wants no more of it (RFC 9113, 8.1). libcurl 7.88
        /// would not end, and take all of a core.
        private func endsBeforeUpload() -> Bool {
            guard isMultiplexed, hasWholeAnswer, let source, !source.isSent(sentCount) else { return false }
            isAnswered = true
            return true
        }

        /// Returns what libcurl wants to know: how many bytes there are, or to pause, or to stop.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
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
            case end((any Error)?)
        }

        /// How long it may be left alone.
        var lookInterval: Duration { queue == nil ? limit : min(limit, .seconds(1)) }

        /// When to look again, or how it ends: nothing has come or gone for too long, for example.
        ///
        /// While a reader or the source of a body is slow, the network is not to blame. libcurl tells of whole lines of a head only, so the
        /// system is asked when the connection received something last; a connection of HTTP/2 receives for others, too.
        func nextLook(at now: ContinuousClock.Instant) -> Look {
            if isSendingPaused {
                // libcurl neither ends the transfer nor tells that the other side has gone until there is more to be sent.
                if hasWholeAnswer { return .end(nil) }
                if let localPort, connections.isClosed(localPort: localPort) {
                    return .end(HTTPError(.connectionBroken, transfer.request))
                }
            }
            guard !isReceivingPaused, !isSendingPaused, let lastMoved else { return .again(now + lookInterval) }
            return nextLook(at: now, lastMoved: lastMoved).map { .again(min($0, now + lookInterval)) }
                ?? .end(hasWholeAnswer ? nil : HTTPError(.timedOut(after: limit), transfer.request))
        }

        private func nextLook(
            at now: ContinuousClock.Instant, lastMoved: ContinuousClock.Instant
        ) -> ContinuousClock.Instant? {
            if lastMoved + limit > now { return lastMoved + limit }
            if let localPort, let silence = connections.silence(localPort: localPort), silence < limit {
                return now + max(limit - silence, .milliseconds(1))
            }
            return nil
        }

        // MARK: Ends

        /// Nil: the answer is complete.
        func error(_ code: CURLcode) -> (any Error)? {
            if transfer.isCancelled { return CancellationError() }
            if isAnswered { return nil }
            if let failure { return failure }
            if code != CURLE_OK, lacksDescriptors { return HTTPError(.tooManyOpenFiles, transfer.request) }
            let text = String(cString: errorText.baseAddress!)
            let result = CurlResult(code: code, text: text, handle: handle, configuration: configuration, limit: limit)
            guard let reason = result.reason(head: head, receivedCount: receivedCount, request: transfer.request)
            else { return nil }
            return HTTPError(reason, transfer.request)
        }
    }

    extension CurlTransport.Configuration {
        /// Requests may wait for a connection.
        fileprivate var limitsConnections: Bool { connections != nil || connectionsPerHost != nil }
    }

    extension URLRequest {
        /// The header fields, one line each, as libcurl wants them: an empty value is a semicolon, and a name without a value takes out what
        /// libcurl would send.
        fileprivate var headerLines: [String] {
            var lines: [String] = []
            var names: Set<String> = []
            for (name, value) in allHTTPHeaderFields ?? [:] {
                names.insert(name.lowercased())
                // libcurl knows how the body is framed, and puts all cookies into one field.
                if ["content-length", "transfer-encoding", "cookie"].contains(name.lowercased()) { continue }
                lines.append(value.trimmed.isEmpty ? "\(name);" : "\(name): \(value)")
            }
            // Servers that do not know it would make each large body wait for a second.
            if !names.contains("expect") { lines.append("Expect:") }
            return lines
        }

        /// RFC 9110, 9.2.2.
        fileprivate var isIdempotent: Bool {
            ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(httpMethod?.uppercased() ?? "GET")
        }
    }

    extension Duration {
        /// At least one, and at most what libcurl takes: some 24 days.
        fileprivate var wholeMilliseconds: Int { Int(min(max(1, self / .milliseconds(1)), Double(Int32.max))) }
    }
#endif
