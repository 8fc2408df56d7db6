internal import Foundation

/// How many operations end per second, smoothed. Pure.
///
/// The exponentially weighted moving average, as in Unix's load average, of two things: the operations that ended, and
/// the time that passed. Each tick of length Δ keeps `exp(-Δ/window)` of both; the rate is their quotient. That of the
/// first ticks is therefore the plain average, where a single average would have to climb up from zero.
struct LiveRate: Sendable, Equatable {
    /// In seconds. Slow operations take a longer one: the time in which ten of them end.
    private static let shortestWindow = 5.0
    private static let leastEnds = 10.0

    private var last: Duration?
    private var counted = 0
    private var busySeconds = 0.0
    private var weightedCount = 0.0
    private var weightedSeconds = 0.0

    /// Nil: nothing has ended yet.
    var perSecond: Double? {
        weightedCount > 0 && weightedSeconds > 0 ? weightedCount / weightedSeconds : nil
    }

    /// Time counts from here.
    mutating func begin(at now: Duration) { if last == nil { last = now } }

    /// - Parameters:
    ///   - ended: How many have ended so far.
    ///   - isBusy: Whether any runs. Time in which nothing runs and nothing ends says nothing about the rate.
    mutating func tick(ended: Int, isBusy: Bool, at now: Duration) {
        guard let last, now > last else { return }
        self.last = now
        let news = Double(ended - counted)
        counted = ended
        if news == 0, !isBusy { return }
        let step = (now - last) / .seconds(1)
        busySeconds += step
        let window = max(Self.shortestWindow, Self.leastEnds * busySeconds / Double(max(ended, 1)))
        let kept = exp(-step / window)
        // What came in this step is a little old already, on average.
        let share = window * (1 - kept) / step
        weightedCount = weightedCount * kept + news * share
        weightedSeconds = weightedSeconds * kept + step * share
    }

    /// How long so many take at this rate. Nil: nobody knows.
    func time(for count: Int) -> Duration? {
        guard let perSecond else { return nil }
        let seconds = Double(count) / perSecond
        return seconds < 1e9 ? .seconds(seconds) : nil
    }
}
