/// How long an operation waits before it tries again.
///
/// ```swift
/// image.retry(.exponential(from: .milliseconds(100)).capped(at: .seconds(10)).jittered(), attempts: 5)
/// ```
///
/// A value: it can be kept and used for many operations. Negative durations count as zero.
public struct Backoff: Sendable {
    /// What few have.
    private struct OptionalStateStorage: Sendable {
        /// It grows by this, and not by a factor.
        var step: Duration?
        var cap: Duration?
        var random: (@Sendable (ClosedRange<Double>) -> Double)?
        var hint: (@Sendable (OperationError) -> Duration?)?
    }

    /// So that every operation that is retried has four words of it, and no more.
    private final class Box: Sendable {
        let optionalStateStorage: OptionalStateStorage

        init(_ optionalStateStorage: OptionalStateStorage) { self.optionalStateStorage = optionalStateStorage }
    }

    /// What all have.
    struct Plain: Equatable, Sendable {
        /// Before the second attempt.
        let first: Duration
        var factor = 1.0

        /// By the numbers: several times as fast as comparing durations.
        @inline(__always)
        static func == (left: Plain, right: Plain) -> Bool {
            left.first.attoseconds == right.first.attoseconds && left.factor == right.factor
        }
    }

    private var numbers: Plain
    private var box: Box?

    private var optionalStateStorage: OptionalStateStorage? { box?.optionalStateStorage }

    init(_ numbers: Plain) { self.numbers = numbers }

    private init(from first: Duration) { numbers = Plain(first: first) }

    private func with(_ change: (inout OptionalStateStorage) -> Void) -> Backoff {
        var optionalStateStorage = optionalStateStorage ?? OptionalStateStorage()
        change(&optionalStateStorage)
        var backoff = self
        backoff.box = Box(optionalStateStorage)
        return backoff
    }

    // MARK: Making

    /// Tries again at once.
    public static let immediately = constant(.zero)

    /// Waits 100 ms before the second attempt and twice as long each time, up to 10 s, of which it takes a random part.
    ///
    /// That is `.exponential(from: .milliseconds(100)).capped(at: .seconds(10)).jittered()`.
    public static let standard = exponential(from: .milliseconds(100)).capped(at: .seconds(10)).jittered()

    /// Waits equally long every time.
    public static func constant(_ delay: Duration) -> Backoff { Backoff(from: delay) }

    /// Waits `first` before the second attempt, and `step` longer each time: 1 s, 2 s, 3 s by default from 1 s.
    public static func linear(from first: Duration, by step: Duration? = nil) -> Backoff {
        Backoff(from: first).with { $0.step = step ?? first }
    }

    /// Waits `first` before the second attempt, and `factor` times as long each time: 1 s, 2 s, 4 s by default from 1
    /// s.
    ///
    /// A factor below 1, or none that is a number, counts as 1. Without ``capped(at:)`` it grows up to a year.
    public static func exponential(from first: Duration, factor: Double = 2) -> Backoff {
        var backoff = Backoff(from: first)
        if factor > 1 { backoff.numbers.factor = factor }
        return backoff
    }

    /// Waits no longer than `longest` at a time.
    public func capped(at longest: Duration) -> Backoff {
        with { $0.cap = longest }
    }

    /// Waits a random part of what it would have waited, from nothing to all of it, so that clients that failed
    /// together do not come back together.
    ///
    /// This is the "full jitter" of Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    ///
    /// - Parameter random: Draws a number from a range. Called on the operation's task, from several operations at once
    ///   if the backoff is shared.
    public func jittered(
        using random: @escaping @Sendable (ClosedRange<Double>) -> Double = { .random(in: $0) }
    ) -> Backoff {
        with { $0.random = random }
    }

    /// Waits as long as the error says, if it says so: a server's `Retry-After`, for example.
    ///
    /// - Parameter hint: Called on the operation's task with the error of the attempt. Nil: the backoff decides. What
    ///   it returns is waited as it is, with no cap and no jitter.
    public func honoring(_ hint: @escaping @Sendable (OperationError) -> Duration?) -> Backoff {
        with { $0.hint = hint }
    }

    // MARK: Using

    /// A year: nobody waits longer, and sums of it do not overflow.
    private static let longest = Duration.seconds(365 * 24 * 60 * 60)

    /// How long to wait after `failures` failed attempts, at least one, of which the last failed with `error`.
    public func delay(after failures: Int, error: OperationError) -> Duration {
        told(by: error) ?? drawn(after: failures)
    }

    /// Nil: the error says nothing. May call the user's hint.
    func told(by error: OperationError) -> Duration? {
        optionalStateStorage?.hint?(error).map { max(.zero, $0.bounded) }
    }

    /// May call the user's generator.
    func drawn(after failures: Int) -> Duration {
        let whole = undisturbed(after: failures)
        guard let random = optionalStateStorage?.random else { return whole }
        let longest = whole / .seconds(1)
        let drawn = random(0...longest)
        // Whatever a generator returns. Nobody counts less than a nanosecond.
        return drawn < longest ? .nanoseconds(Int64((max(0, drawn) * 1e9).rounded())) : whole
    }

    /// Exact: a clock that is moved by 100, 200 and 400 ms, and so on, wakes whoever waits for just that.
    private func undisturbed(after failures: Int) -> Duration {
        let steps = max(1, failures) - 1
        let longest = min(max(.zero, optionalStateStorage?.cap ?? Self.longest), Self.longest)
        let start = min(max(.zero, numbers.first), Self.longest).attoseconds
        if let step = optionalStateStorage?.step {
            let (growth, overflows) = min(max(.zero, step), Self.longest).attoseconds
                .multipliedReportingOverflow(by: Int128(steps))
            return overflows
                ? longest : min(longest, Duration(attoseconds: start.addingReportingOverflow(growth).partialValue))
        }
        // A whole number of attoseconds that is a power of two times another one keeps all of its digits.
        let attoseconds = start == 0 ? 0 : Double(start) * Double.power(numbers.factor, Double(steps))
        return attoseconds < Double(longest.attoseconds)
            ? Duration(attoseconds: Int128(attoseconds.rounded())) : longest
    }

    var keepsClosures: Bool { box != nil }

    /// Itself, if that is all that it has.
    var plain: Plain? { box == nil ? numbers : nil }

    /// It was made with a negative duration.
    var isNegative: Bool {
        if numbers.first.attoseconds < 0 { return true }
        guard let optionalStateStorage else { return false }
        return optionalStateStorage.step.map { $0 < .zero } ?? false
            || optionalStateStorage.cap.map { $0 < .zero } ?? false
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
