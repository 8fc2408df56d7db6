#if os(Linux)
    import Testing

    @testable import BatonNetwork

    struct TransferLimitsTests {
        private let start = ContinuousClock.now

        private func moment(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

        private func limits(
            _ lowestSpeed: CurlTransport.Configuration.LowestSpeed? = nil, hasBegun: Bool = true
        ) -> TransferLimits {
            TransferLimits(idle: .seconds(60), lowestSpeed, at: hasBegun ? start : nil)
        }

        private func check(
            _ limits: inout TransferLimits, at seconds: Double, isWaiting: Bool = true, isReading: Bool = true,
            silence: Duration? = nil
        ) -> TransferLimits.Verdict {
            limits.check(
                at: moment(seconds), upTo: .seconds(1000), isWaiting: isWaiting, isReading: isReading,
                silence: { silence })
        }

        @Test("The idle limit begins again with each activity")
        func activities() {
            var limits = limits()
            #expect(check(&limits, at: 59) == .again(moment(60)))
            limits.noteActivity(at: moment(59), systemCount: nil)
            #expect(check(&limits, at: 60) == .again(moment(119)))
            #expect(check(&limits, at: 119) == .idle)
        }

        @Test("The idle limit does not count before it has begun, nor while the network is not to blame")
        func pauses() {
            var limits = limits(hasBegun: false)
            #expect(check(&limits, at: 100) == .again(moment(1100)))
            limits.beginAgain(at: moment(100))
            #expect(limits.lastActivity == nil)
            limits.begin(at: moment(100))
            limits.begin(at: moment(200))
            #expect(check(&limits, at: 100) == .again(moment(160)))
            #expect(check(&limits, at: 160, isWaiting: false) == .again(moment(1160)))
            #expect(check(&limits, at: 160) == .idle)
            limits.beginAgain(at: moment(300))
            #expect(check(&limits, at: 300) == .again(moment(360)))
        }

        @Test("Bytes that the system has received later than the last activity extend the idle limit")
        func silence() {
            var limits = limits()
            #expect(check(&limits, at: 60, silence: .seconds(10)) == .again(moment(110)))
            let short = Duration.seconds(60) - .nanoseconds(1)
            #expect(check(&limits, at: 60, silence: short) == .again(moment(60) + .milliseconds(1)))
            #expect(check(&limits, at: 60, silence: .seconds(60)) == .idle)
        }

        @Test("The counts of the system tell activities, also those of a second socket")
        func counts() {
            var limits = limits()
            #expect(limits.noteSystemCount(nil) == false)
            #expect(limits.noteSystemCount(0) == false)
            #expect(limits.noteSystemCount(5) == true)
            #expect(limits.noteSystemCount(5) == false)
            #expect(limits.noteSystemCount(nil) == false)
            #expect(limits.noteSystemCount(3) == true)
            limits.noteActivity(at: start, systemCount: 8)
            #expect(limits.noteSystemCount(8) == false)
            limits.beginRequest(acknowledgedCount: 100)
            #expect(limits.noteAcknowledged(100) == false)
            #expect(limits.noteAcknowledged(101) == true)
            #expect(limits.noteAcknowledged(101) == false)
        }

        @Test("The lowest speed counts from the beginning of the request, and while the reader takes what arrives")
        func speeds() {
            let lowest = CurlTransport.Configuration.LowestSpeed(bytesPerSecond: 100, over: .seconds(10))
            var limits = limits(lowest)
            #expect(limits.longestInterval == .seconds(10))
            #expect(check(&limits, at: 10) == .again(moment(60)))
            limits.beginSpeedMeasurement(at: moment(10), count: 0)
            limits.noteMoved(1000, at: moment(15))
            #expect(check(&limits, at: 15) == .again(moment(25)))
            #expect(check(&limits, at: 25, isReading: false) == .again(moment(60)))
            #expect(check(&limits, at: 25) == .tooSlow(lowest))
            limits.endSpeedMeasurement()
            #expect(check(&limits, at: 25) == .again(moment(60)))
        }
    }
#endif
