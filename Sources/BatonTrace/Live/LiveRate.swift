internal import Foundation

/// The smoothed number of operations that end per second. A pure value.
///
/// The rate is the quotient of two exponentially weighted moving averages, as in Unix's load average: of the operations
/// that ended, and of the time that passed. Each tick of length Δ keeps `exp(-Δ/window)` of both. The rate after the
/// first ticks is therefore the plain average, where a single moving average would climb up from zero.
struct LiveRate: Sendable, Equatable {
    /// The shortest window, in seconds. If operations are slow, the window is the time in which ten of them end.
    private static let shortestWindow = 5.0
    private static let minimumCount = 10.0

    private var last: Duration?
    private var counted = 0
    private var busySeconds = 0.0
    private var weightedCount = 0.0
    private var weightedSeconds = 0.0

    /// The rate, or nil if nothing has ended yet.
    var perSecond: Double? {
        weightedCount > 0 && weightedSeconds > 0 ? weightedCount / weightedSeconds : nil
    }

    /// Starts to count time.
    mutating func begin(at now: Duration) { if last == nil { last = now } }

    /// Updates the rate.
    ///
    /// - Parameters:
    ///   - ended: The number of operations that have ended so far.
    ///   - isBusy: True if any operation runs. Time in which nothing runs and nothing ends does not count.
    ///   - now: The current time.
    mutating func tick(ended: Int, isBusy: Bool, at now: Duration) {
        guard let last, now > last else { return }
        self.last = now
        let newlyEnded = Double(ended - counted)
        counted = ended
        if newlyEnded == 0, !isBusy { return }
        let step = (now - last) / .seconds(1)
        busySeconds += step
        let window = max(Self.shortestWindow, Self.minimumCount * busySeconds / Double(max(ended, 1)))
        let kept = exp(-step / window)
        // The operations of this step ended half a step ago on average, so they have lost some of their weight.
        let share = window * (1 - kept) / step
        weightedCount = weightedCount * kept + newlyEnded * share
        weightedSeconds = weightedSeconds * kept + step * share
    }

    /// Returns the time that `count` operations take at this rate, or nil if the rate is unknown.
    func time(for count: Int) -> Duration? {
        guard let perSecond else { return nil }
        let seconds = Double(count) / perSecond
        return seconds < 1e9 ? .seconds(seconds) : nil
    }
}
