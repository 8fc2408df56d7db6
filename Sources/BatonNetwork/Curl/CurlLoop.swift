#if os(Linux)
    internal import Baton
    internal import CBatonCurl
    internal import Foundation
    internal import FoundationNetworking

    /// The loop of a transport's thread: it performs commands, runs libcurl, ends transfers, and waits for sockets,
    /// commands and time limits. Only that thread uses this object.
    final class CurlLoop {
        let multi: CurlMulti
        private let configuration: CurlTransport.Configuration
        private let cookies: CurlCookies
        private let connections = CurlConnections()
        private let clock = ContinuousClock()
        private var running: [ObjectIdentifier: CurlExchange] = [:]
        /// The running exchanges whose limits another clock than the system's measures.
        private var otherClocked: [ObjectIdentifier: CurlExchange] = [:]
        /// The time of the last look at the connections of these exchanges.
        private var lastLook = ContinuousClock.now
        /// The time of the last look at uploads whose sources have nothing.
        private var lastLookAtUploads = ContinuousClock.now
        /// A Boolean value that indicates whether the loop has to look at such uploads soon, whatever happens.
        private var looksAtUploadsSoon = false
        /// The timed checks of the exchanges. A check stays where it is when a byte arrives or is sent; it is
        /// rescheduled when it is due.
        private var checks = TimerHeap<ContinuousClock.Instant, CurlExchange>()
        /// The connections of exchanges that were aborted in this round, whose servers do not know yet.
        private var cancelledConnections: Set<CurlConnections.ID> = []
        /// The connections on which a transfer has failed in this round. On HTTP/2 connections, other transfers have to
        /// be checked as well.
        private var failedConnections: Set<CurlConnections.ID> = []
        /// The number of consecutive rounds in which libcurl asked to be called again at once, and did nothing.
        private var emptyRounds = 0
        /// The number of bytes that libcurl had read in the last of these rounds.
        private var readCount: Int64 = 0

        /// The longest pause while something has to be looked at that does not wake the loop.
        private static let shortPause = Duration.milliseconds(20)
        /// The grid of the times at which exchanges are checked that have nothing to send.
        private static let grid = Duration.milliseconds(500)
        /// The origin of the grid.
        private let began = ContinuousClock.now

        init(_ configuration: CurlTransport.Configuration) throws(CurlFailure) {
            self.configuration = configuration
            multi = try CurlMulti(configuration)
            cookies = CurlCookies(configuration.cookies)
        }

        /// Runs until there are no more commands.
        ///
        /// - Parameter takeCommands: A closure that receives whether no transfer is left, and returns the next
        ///   commands. It returns nil if the loop has to end.
        func run(_ takeCommands: (_ isIdle: Bool) -> [CurlThread.Command]?) {
            var isIdle = true
            while let commands = takeCommands(isIdle) {
                for command in commands { perform(command) }
                let eventCount = connections.eventCount
                multi.perform()
                var isEmptyRound = commands.isEmpty && eventCount == connections.eventCount
                while let (handle, code) = multi.nextEnded() {
                    end(handle.exchange, code)
                    isEmptyRound = false
                }
                lookAtPausedUploads()
                checkLimits()
                lookAtOtherClocked()
                abandonSilentAddresses()
                flushFailedConnections()
                flushCancels()
                multi.setKeptConnections(used: running.count)
                let hasWorked = !isIdle || !commands.isEmpty
                isIdle = running.isEmpty
                // If the last transfer has just ended, the transport may have been closed before. The loop asks for
                // that before it sleeps.
                if !isIdle || !hasWorked { wait(isEmptyRound: isEmptyRound) }
            }
            cookies.close()
            multi.close()
        }

        /// Waits for the next event. libcurl 7.88 may ask to be called again at once when it can do nothing. Without a
        /// pause, that would keep a core busy.
        private func wait(isEmptyRound: Bool) {
            let began = clock.now
            multi.wait(upTo: longestPause)
            emptyRounds = isEmptyRound && clock.now - began < .milliseconds(1) ? emptyRounds + 1 : 0
            if emptyRounds <= 50 { return }
            let count = connections.readCount
            if count == readCount { usleep(2000) } else { emptyRounds = 0 }
            readCount = count
        }

        private var longestPause: Duration? {
            if connections.connectingCount > 0 || connections.multiplexedCount > 0 || connections.waitingCount > 0
                || !otherClocked.isEmpty
            {
                return Self.shortPause
            }
            let next = [checks.next, looksAtUploadsSoon ? nextLookAtUploads : nil].compactMap(\.self).min()
            return next.map { clock.now.duration(to: $0) }
        }

        /// The time of the next look at uploads whose sources have nothing.
        ///
        /// Whenever the loop runs, libcurl looks at all of its transfers. The pause between two looks therefore grows
        /// with the number of these uploads.
        private var nextLookAtUploads: ContinuousClock.Instant {
            let pause = Duration.milliseconds(2) * connections.pausedUploads.count
            return lastLookAtUploads + min(max(Self.shortPause, pause), .seconds(1))
        }

        /// Returns when to check an exchange again. If many exchanges have nothing to send, their checks fall on a few
        /// common times, because the loop takes time for all of them each time that it runs.
        private func timeOfCheck(
            of exchange: CurlExchange, at next: ContinuousClock.Instant, after now: ContinuousClock.Instant
        ) -> ContinuousClock.Instant {
            guard exchange.isSendingPaused, now.duration(to: next) >= Self.grid else { return next }
            return began + Self.grid * Int(began.duration(to: next) / Self.grid)
        }

        // MARK: Commands

        private func perform(_ command: CurlThread.Command) {
            switch command {
            case .start(let transfer, let body, let queue): start(transfer, body, queue)
            case .cancel(let transfer):
                if let exchange = running[ObjectIdentifier(transfer)] { abort(exchange, CancellationError()) }
            case .resumeReceiving(let transfer): running[ObjectIdentifier(transfer)]?.resumeReceiving()
            case .resumeSending(let transfer): running[ObjectIdentifier(transfer)]?.resumeSending()
            case .checkLimits(let transfer):
                if let exchange = running[ObjectIdentifier(transfer)] { checkOwnLimits(of: exchange) }
            case .closeUnusedConnections: multi.closeUnusedConnections()
            }
        }

        private func start(_ transfer: CurlTransfer, _ body: HTTPRequestBody?, _ queue: UploadQueue?) {
            if transfer.isCancelled {
                queue?.close()
                return transfer.end(CancellationError())
            }
            do {
                let exchange = try CurlExchange(
                    transfer, body, queue, configuration, cookies, connections)
                running[ObjectIdentifier(transfer)] = exchange
                exchange.checkTicket = checks.add(exchange, at: clock.now + exchange.checkInterval)
                if !transfer.clock.isContinuous {
                    otherClocked[ObjectIdentifier(transfer)] = exchange
                    checkOwnLimits(of: exchange)
                }
                multi.add(exchange.handle)
            } catch {
                queue?.close()
                transfer.end(error)
            }
        }

        // MARK: End of a transfer

        private func end(_ exchange: CurlExchange, _ code: CURLcode) {
            if code != CURLE_OK, let connection = exchange.connection { failedConnections.insert(connection) }
            if exchange.needsRestart(after: code) {
                multi.remove(exchange.handle)
                multi.add(exchange.handle)
            } else {
                end(exchange, with: exchange.error(code))
            }
        }

        private func end(_ exchange: CurlExchange, with error: (any Error)?) {
            let removed = running.removeValue(forKey: ObjectIdentifier(exchange.transfer))
            assert(removed === exchange, "Internal inconsistency: a transfer that ends twice")
            otherClocked[ObjectIdentifier(exchange.transfer)] = nil
            if let ticket = exchange.checkTicket { checks.remove(ticket) }
            multi.remove(exchange.handle)
            exchange.close()
            exchange.transfer.end(error)
        }

        /// When a TLS session ends and its socket stays open, libcurl 7.88 tells only one of its transfers. This method
        /// makes the others read the connection.
        private func flushFailedConnections() {
            if failedConnections.isEmpty { return }
            for exchange in running.values {
                if let connection = exchange.connection, failedConnections.contains(connection) { _ = exchange.flush() }
            }
            failedConnections = []
        }

        // MARK: Time limits

        private func checkLimits() {
            let now = clock.now
            for exchange in checks.takeDue(at: now) {
                exchange.checkTicket = nil
                switch exchange.check(at: now) {
                case .again(let next):
                    let time = timeOfCheck(of: exchange, at: next, after: now)
                    exchange.checkTicket = checks.add(exchange, at: time)
                case .restart(let next):
                    exchange.checkTicket = checks.add(exchange, at: next)
                    multi.remove(exchange.handle)
                    multi.add(exchange.handle)
                case .end(let error): abort(exchange, error)
                }
            }
        }

        /// Checks the limits of an exchange that another clock than the system's measures.
        private func checkOwnLimits(of exchange: CurlExchange) {
            switch exchange.checkOwnLimits() {
            case .again(let next), .restart(let next): exchange.transfer.setTimer(at: next)
            case .end(let error): abort(exchange, error)
            }
        }

        /// Has uploads checked at once whose sources have nothing and whose connections the servers have closed. Looks
        /// for them at most every 20 ms, and less often if there are many.
        ///
        /// libcurl does not report such an end, but reads it, which wakes the loop. If the response is complete,
        /// libcurl does not even read, so the loop looks again.
        private func lookAtPausedUploads() {
            looksAtUploadsSoon = !connections.pausedUploads.isEmpty
            if !looksAtUploadsSoon { return }
            let now = clock.now
            if now < nextLookAtUploads { return }
            lastLookAtUploads = now
            looksAtUploadsSoon = connections.pausedUploads.values.contains { $0.hasHead }
            for exchange in connections.pausedUploads.values where exchange.needsCheckWhilePaused {
                if let ticket = exchange.checkTicket { checks.remove(ticket) }
                exchange.checkTicket = checks.add(exchange, at: now)
            }
        }

        /// Notes what has happened on the connections of exchanges with another clock, at most every 20 ms.
        private func lookAtOtherClocked() {
            if otherClocked.isEmpty { return }
            let now = clock.now
            if now - lastLook < Self.shortPause { return }
            lastLook = now
            for exchange in otherClocked.values { exchange.noteSystemActivity() }
        }

        /// Makes libcurl try the next address of each host that has not answered for too long.
        private func abandonSilentAddresses() {
            for attempt in connections.attempts.takeDue(at: clock.now) { attempt.exchange.abandon(attempt) }
        }

        private func abort(_ exchange: CurlExchange, _ error: (any Error)?) {
            exchange.prepareForRemoval()
            if let connection = exchange.connection { cancelledConnections.insert(connection) }
            end(exchange, with: error)
        }

        /// Makes libcurl tell the servers of all exchanges that were aborted in this round. An HTTP/1.1 connection has
        /// no other exchange, and needs none, because libcurl closes it.
        private func flushCancels() {
            if cancelledConnections.isEmpty { return }
            for exchange in running.values {
                guard let connection = exchange.connection, cancelledConnections.contains(connection), exchange.flush()
                else {
                    continue
                }
                cancelledConnections.remove(connection)
                if cancelledConnections.isEmpty { return }
            }
            cancelledConnections = []
        }
    }
#endif
