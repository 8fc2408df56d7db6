/// How long an operation waits before it tries again.
///
/// ```swift
/// image.retry(.exponential(from: .milliseconds(100)).capped(at: .seconds(10)).jittered(), attempts: 5)
/// ```
///
/// A value: it can be kept and used for many operations. Negative durations count as zero.
public struct Backoff: Sendable {
    private enum Growth {
        case linear(Duration)
        case exponential(Double)
    }

    /// What few have.
    private final class Extras: Sendable {
        let cap: Duration?
        let random: (@Sendable (ClosedRange<Double>) -> Double)?
        let hint: (@Sendable (OperationError) -> Duration?)?

        init(
            cap: Duration? = nil, random: (@Sendable (ClosedRange<Double>) -> Double)? = nil,
            hint: (@Sendable (OperationError) -> Duration?)? = nil
        ) {
            self.cap = cap
            self.random = random
            self.hint = hint
        }
    }

    /// Before the second attempt.
    private let first: Duration
    private let growth: Growth
    private var extras: Extras?

    private init(from first: Duration, _ growth: Growth) {
        self.first = first
        self.growth = growth
    }

    // MARK: Making

    /// Tries again at once.
    public static let immediately = constant(.zero)

    /// Waits equally long every time.
    public static func constant(_ delay: Duration) -> Backoff { Backoff(from: delay, .linear(.zero)) }

    /// Waits `first` before the second attempt, and `step` longer each time: 1 s, 2 s, 3 s by default from 1 s.
    public static func linear(from first: Duration, by step: Duration? = nil) -> Backoff {
        Backoff(from: first, .linear(step ?? first))
    }

    /// Waits `first` before the second attempt, and `factor` times as long each time: 1 s, 2 s, 4 s by default from 1 s.
    ///
    /// A factor below 1, or none that is a number, counts as 1. Without ``capped(at:)`` it grows up to a year.
    public static func exponential(from first: Duration, factor: Double = 2) -> Backoff {
        Backoff(from: first, .exponential(factor > 1 ? factor : 1))
    }

    /// Waits no longer than `longest` at a time.
    public func capped(at longest: Duration) -> Backoff {
        var backoff = self
        backoff.extras = Extras(cap: longest, random: extras?.random, hint: extras?.hint)
        return backoff
    }

    /// Waits a random part of what it would have waited, from nothing to all of it, so that clients that failed together do not
    /// come back together.
    ///
    /// This is the "full jitter" of Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    ///
    /// - Parameter random: Draws a number from a range. Called on the operation's task, from several operations at once if the
    ///   backoff is shared.
    public func jittered(
        using random: @escaping @Sendable (ClosedRange<Double>) -> Double = { .random(in: $0) }
    ) -> Backoff {
        var backoff = self
        backoff.extras = Extras(cap: extras?.cap, random: random, hint: extras?.hint)
        return backoff
    }

    /// Waits as long as the error says, if it says so: a server's `Retry-After`, for example.
    ///
    /// - Parameter hint: Called on the operation's task with the error of the attempt. Nil: the backoff decides. What it returns
    ///   is waited as it is, with no cap and no jitter.
    public func honoring(_ hint: @escaping @Sendable (OperationError) -> Duration?) -> Backoff {
        var backoff = self
        backoff.extras = Extras(cap: extras?.cap, random: extras?.random, hint: hint)
        return backoff
    }

    // MARK: Using

    /// A year: nobody waits longer, and sums of it do not overflow.
    private static let longest = 365.0 * 24 * 60 * 60

    /// How long to wait after `failures` failed attempts, at least one, of which the last failed with `error`.
    public func delay(after failures: Int, error: OperationError) -> Duration {
        if let told = extras?.hint?(error) { return max(.zero, told.bounded) }
        let whole = undisturbed(after: failures)
        guard let random = extras?.random else { return whole }
        let longest = whole / .seconds(1)
        let drawn = random(0...longest)
        // Whatever a generator returns.
        return drawn < longest ? .seconds(max(0, drawn)) : whole
    }

    private func undisturbed(after failures: Int) -> Duration {
        let steps = Double(max(0, failures - 1))
        let start = max(.zero, first) / .seconds(1)
        let seconds =
            switch growth {
            case .linear(let step): start + steps * (max(.zero, step) / .seconds(1))
            case .exponential(let factor): start > 0 ? start * Double.power(factor, steps) : 0
            }
        let cap = max(.zero, extras?.cap ?? .seconds(Self.longest))
        return seconds < Self.longest ? min(cap, .seconds(seconds)) : min(cap, .seconds(Self.longest))
    }

    var keepsClosures: Bool { extras != nil }

    /// It was made with a negative duration.
    var isNegative: Bool {
        if case .linear(let step) = growth, step.attoseconds < 0 { return true }
        return first.attoseconds < 0 || extras?.cap.map { $0 < .zero } ?? false
    }
}

extension Double {
    /// By squaring: the core does without a mathematics library. `exponent` is a whole number.
    fileprivate static func power(_ base: Double, _ exponent: Double) -> Double {
        var (result, factor, left) = (1.0, base, exponent)
        while left > 0, result.isFinite {
            if left.truncatingRemainder(dividingBy: 2) == 1 { result *= factor }
            factor *= factor
            left = (left / 2).rounded(.down)
        }
        return result
    }
}
