#if os(Linux)
    import Testing

    @testable import BatonNetwork

    struct SpeedMeterTests {
        private let start = ContinuousClock.now

        private func moment(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

        private func meter(_ bytesPerSecond: Int, over time: Duration) -> SpeedMeter {
            SpeedMeter(.init(bytesPerSecond: bytesPerSecond, over: time), at: start, count: 500)
        }

        @Test("Without a byte, the transfer is too slow when the time is over")
        func noBytes() {
            var meter = meter(1, over: .seconds(10))
            #expect(meter.end(at: start) == moment(10))
            #expect(meter.end(at: moment(9.9)) == moment(10))
            #expect(meter.end(at: moment(10)) == nil)
        }

        @Test("Many bytes at once do not count for longer than the time")
        func burst() {
            var meter = meter(100, over: .seconds(10))
            meter.note(1_000_000, at: moment(3))
            #expect(meter.end(at: moment(3)) == moment(13))
            #expect(meter.end(at: moment(12.9)) == moment(13))
            #expect(meter.end(at: moment(13)) == nil)
        }

        @Test("Bytes count within the last so many seconds, whenever these begin")
        func slidingTime() {
            var meter = meter(100, over: .seconds(10))
            meter.note(1000, at: moment(2))
            meter.note(1500, at: moment(8))
            #expect(meter.end(at: moment(8)) == moment(12))
            // From 2 to 12, 1,000 bytes have been moved: just enough.
            meter.note(2000, at: moment(11))
            #expect(meter.end(at: moment(11)) == moment(18))
            #expect(meter.end(at: moment(17.9)) == moment(18))
            #expect(meter.end(at: moment(18)) == nil)
        }

        @Test("A steady transfer at the lowest speed never ends, and one that is a little slower does")
        func steady() {
            for (count, isEnough) in [(1, true), (2, true), (99, false), (100, true), (1000, true)] {
                let speed = isEnough ? Double(count) : Double(count) * 0.9
                var meter = meter(count, over: .seconds(10))
                var time = 0.0
                var isTooSlow = false
                for step in 1...4000 {
                    time = Double(step) / 100
                    meter.note(500 + Int64(speed * time), at: moment(time))
                    isTooSlow = isTooSlow || meter.end(at: moment(time)) == nil
                }
                #expect(isTooSlow == !isEnough, "\(count)")
            }
        }

        @Test("A transfer of many small pieces ends soon after it becomes too slow")
        func precision() throws {
            var meter = meter(100, over: .seconds(10))
            // A thousand pieces in each second for thirty seconds, and none afterwards.
            for step in 1...30_000 { meter.note(500 + Int64(step), at: moment(Double(step) / 1000)) }
            let last = meter.end(at: moment(30))
            let end = try #require(last)
            #expect(moment(39) <= end && end < moment(40))
        }
    }
#endif
