#if os(Linux)
    internal import Foundation

    /// The checks of the transfer's limits, and what the system tells about its connection.
    extension CurlExchange {
        enum CheckResult {
            case again(ContinuousClock.Instant)
            /// libcurl has to start the transfer over. The next check is due at this time.
            case restart(ContinuousClock.Instant)
            case end((any Error)?)
        }

        // MARK: Checks

        /// The longest time until the next check.
        var checkInterval: Duration {
            let limit = limits.idle
            if waitsForOthers { return min(limit / 2, .seconds(1)) }
            return source == nil ? limits.longestInterval : min(limits.longestInterval, limit / 4, .seconds(1))
        }

        /// Returns when to check again, or how the transfer ends, for example because no byte has arrived or been sent
        /// for too long.
        ///
        /// While the reader or the source of the body is slow, the network is not to blame, so the idle limit does not
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
            return clock.isContinuous ? checkLimits(at: now, upTo: checkInterval) : .again(now + checkInterval)
        }

        /// Checks the limits by a clock other than the system's.
        func checkOwnLimits() -> CheckResult {
            noteSystemActivity()
            return checkLimits(at: clock.now, upTo: limits.longestInterval)
        }

        /// Checks the limits at a time of the clock that measures them.
        ///
        /// - Parameter interval: The longest time until the next check.
        private func checkLimits(at now: ContinuousClock.Instant, upTo interval: Duration) -> CheckResult {
            let verdict = limits.check(
                at: now, upTo: interval, isWaiting: !isReceivingPaused && !isSendingPaused,
                isReading: !isReceivingPaused, silence: { clock.isContinuous ? timeSinceReceive : nil })
            switch verdict {
            case .again(let next): return .again(next)
            case .idle: return .end(completed(HTTPError(.timedOut(after: limits.idle), transfer.request)))
            case .tooSlow(let lowest):
                let reason = HTTPError.Reason.tooSlow(bytesPerSecond: lowest.bytesPerSecond, over: lowest.time)
                return .end(completed(HTTPError(reason, transfer.request)))
            }
        }

        // MARK: What the system tells

        /// The time since the system last received bytes for the transfer, or nil if it is unknown. During a TLS
        /// handshake, and while a proxy opens a tunnel, there is no connection yet, but there are sockets.
        private var timeSinceReceive: Duration? {
            if openedSockets.isEmpty { return connection.flatMap { connections.timeSinceReceive($0) } }
            return openedSockets.compactMap(\.timeSinceReceive).min()
        }

        /// The number of bytes that the system has received for the transfer, or nil if it is unknown.
        private var systemReceivedCount: Int64? {
            if openedSockets.isEmpty { return connection.flatMap { connections.receivedCount($0) } }
            return openedSockets.compactMap(\.receivedCount).reduce(0, +)
        }

        /// Notes the bytes that the system has received or that the peer has acknowledged since the last activity.
        ///
        /// The system tells the time of both by its own clock only. If the transfer has another clock, the loop calls
        /// this method often, so that the time at which it finds them is not much later.
        func noteSystemActivity() {
            noteAcknowledged()
            guard limits.lastActivity != nil else { return }
            if limits.noteSystemCount(systemReceivedCount) { noteActivity() }
        }

        private func noteAcknowledged() {
            guard source != nil, let connection, let count = connections.acknowledgedCount(connection),
                limits.noteAcknowledged(count)
            else { return }
            let now = clock.now
            limits.beginAgain(at: now)
            noteMovedBytes(at: now)
        }

        /// Notes that the network is active, and returns the time.
        @discardableResult
        func noteActivity() -> ContinuousClock.Instant {
            let now = clock.now
            limits.noteActivity(at: now, systemCount: clock.isContinuous ? nil : systemReceivedCount)
            return now
        }

        func beginSpeedMeasurement() { limits.beginSpeedMeasurement(at: clock.now, count: movedCount) }

        func noteMovedBytes(at now: ContinuousClock.Instant) { limits.noteMoved(movedCount, at: now) }
    }
#endif
