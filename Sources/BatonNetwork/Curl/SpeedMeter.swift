#if os(Linux)
    /// The measurement of a transfer's speed: the number of bytes that it has moved within the last so many seconds. It
    /// is pure: it has no clock.
    struct SpeedMeter {
        /// The time over which the speed is measured.
        private let time: Duration
        /// The number of bytes that have to be moved within that time.
        private let leastCount: Double
        /// Two samples are closer together only if the later one is the last. Bytes then count for at most this time
        /// longer than they should.
        private let spacing: Duration
        /// The numbers of bytes that had been moved in all at certain times. The first one is the last that is not
        /// later than the beginning of the measured time.
        private var samples: [(time: ContinuousClock.Instant, count: Int64)]

        /// Begins to measure.
        ///
        /// - Parameters:
        ///   - lowest: The lowest speed, and the time over which it is measured.
        ///   - now: The time at which the measurement begins.
        ///   - count: The number of bytes that have been moved by then.
        init(_ lowest: CurlTransport.Configuration.LowestSpeed, at now: ContinuousClock.Instant, count: Int64) {
            time = lowest.wholeTime
            leastCount = Double(max(1, lowest.bytesPerSecond)) * (time / .seconds(1))
            spacing = time / 16
            samples = [(now, count)]
        }

        /// Notes that bytes have been moved.
        ///
        /// - Parameter count: The number of bytes that have been moved in all.
        mutating func note(_ count: Int64, at now: ContinuousClock.Instant) {
            removeSamples(before: now - time)
            if samples.count > 1, samples[samples.count - 1].time - samples[samples.count - 2].time < spacing {
                samples.removeLast()
            }
            samples.append((now, count))
        }

        /// Returns the time at which the transfer becomes too slow if no byte is moved until then, or nil if it is too
        /// slow now.
        mutating func end(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
            removeSamples(before: now - time)
            let count = samples[samples.count - 1].count
            // No bytes have been moved since the last sample, so there is one.
            let first = samples.first { Double(count - $0.count) < leastCount } ?? samples[samples.count - 1]
            let end = first.time + time
            return end > now ? end : nil
        }

        private mutating func removeSamples(before start: ContinuousClock.Instant) {
            samples.removeFirst(samples.dropFirst().prefix { $0.time <= start }.count)
        }
    }
#endif
