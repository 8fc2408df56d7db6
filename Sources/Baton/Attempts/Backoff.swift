/// The time that an operation waits before its next attempt.
///
/// ```swift
/// image.retry(.exponential(from: .milliseconds(100)).capped(at: .seconds(10)).jittered(), attempts: 5)
/// ```
///
/// A backoff is a value that can be used for any number of operations. Negative durations count as zero.
public struct Backoff: Sendable {
    /// The properties that few backoffs have.
    private struct Modifiers: Sendable {
        /// The delay grows by this duration instead of by a factor.
        var step: Duration?
        var cap: Duration?
        var random: (@Sendable (ClosedRange<Double>) -> Double)?
        var hint: (@Sendable (OperationError) -> Duration?)?
        /// True if the backoff was made with a factor below 1, which counts as 1.
        var hasInvalidFactor = false
    }

    /// A box keeps a backoff at four words, which every operation with a retry stores.
    private final class Box: Sendable {
        let modifiers: Modifiers

        init(_ modifiers: Modifiers) { self.modifiers = modifiers }
    }

    /// The properties that all backoffs have.
    struct Curve: Equatable, Sendable {
        /// The delay before the second attempt.
        let first: Duration
        var factor = 1.0

        /// Compares the numbers, which is several times as fast as comparing durations.
        @inline(__always)
        static func == (left: Curve, right: Curve) -> Bool {
            left.first.attoseconds == right.first.attoseconds && left.factor == right.factor
        }
    }

    private var curve: Curve
    private var box: Box?

    private var modifiers: Modifiers? { box?.modifiers }

    init(_ curve: Curve) { self.curve = curve }

    private init(from first: Duration) { curve = Curve(first: first) }

    private func with(_ change: (inout Modifiers) -> Void) -> Backoff {
        var modifiers = modifiers ?? Modifiers()
        change(&modifiers)
        var backoff = self
        backoff.box = Box(modifiers)
        return backoff
    }

    // MARK: Making a backoff

    /// A backoff that does not wait.
    public static let immediately = constant(.zero)

    /// A backoff of 100 ms that doubles with each attempt, up to 10 s, with full jitter.
    ///
    /// It is `.exponential(from: .milliseconds(100)).capped(at: .seconds(10)).jittered()`.
    public static let standard = exponential(from: .milliseconds(100)).capped(at: .seconds(10)).jittered()

    /// Returns a backoff that waits equally long before every attempt.
    ///
    /// - Parameter delay: The delay before every attempt after the first.
    public static func constant(_ delay: Duration) -> Backoff { Backoff(from: delay) }

    /// Returns a backoff that waits `first` before the second attempt, and `step` longer each time.
    ///
    /// ```swift
    /// .linear(from: .seconds(1)) // waits 1 s, 2 s, 3 s
    /// ```
    ///
    /// - Parameters:
    ///   - first: The delay before the second attempt.
    ///   - step: The duration by which the delay grows, or nil for `first`.
    public static func linear(from first: Duration, by step: Duration? = nil) -> Backoff {
        Backoff(from: first).with { $0.step = step ?? first }
    }

    /// Returns a backoff that waits `first` before the second attempt, and `factor` times as long each time.
    ///
    /// ```swift
    /// .exponential(from: .seconds(1)) // waits 1 s, 2 s, 4 s
    /// ```
    ///
    /// Without ``capped(at:)`` the delay grows up to a year.
    ///
    /// - Parameters:
    ///   - first: The delay before the second attempt.
    ///   - factor: The factor by which the delay grows. A factor below 1 or a NaN is reported as ``Misuse`` by
    ///     ``AnyOperation/retry(_:attempts:deadline:file:line:)``, and counts as 1.
    public static func exponential(from first: Duration, factor: Double = 2) -> Backoff {
        var backoff = Backoff(from: first)
        if factor > 1 { backoff.curve.factor = factor }
        return factor >= 1 ? backoff : backoff.with { $0.hasInvalidFactor = true }
    }

    /// Returns the same backoff with delays of at most `longest`.
    ///
    /// - Parameter longest: The longest delay.
    public func capped(at longest: Duration) -> Backoff {
        with { $0.cap = longest }
    }

    /// Returns the same backoff with random delays between zero and the delay that it would have used.
    ///
    /// Random delays keep clients that failed together from coming back together. This is the "full jitter" of Marc
    /// Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    ///
    /// - Parameter random: Draws a number from a range. Called on the operation's task, and by several operations at
    ///   once if they share the backoff.
    public func jittered(
        using random: @escaping @Sendable (ClosedRange<Double>) -> Double = { .random(in: $0) }
    ) -> Backoff {
        with { $0.random = random }
    }

    /// Returns a backoff that waits as long as the error says, such as for a server's `Retry-After`.
    ///
    /// - Parameter hint: Returns how long to wait after the error of an attempt, without cap and jitter; nil to let
    ///   this backoff decide, with the hint that it already has. Called on the operation's task.
    public func honoring(_ hint: @escaping @Sendable (OperationError) -> Duration?) -> Backoff {
        with { modifiers in
            guard let former = modifiers.hint else {
                modifiers.hint = hint
                return
            }
            modifiers.hint = { hint($0) ?? former($0) }
        }
    }

    // MARK: Using a backoff

    /// The longest delay, one year: long enough for everybody, and short enough that sums do not overflow.
    private static let longest = Duration.seconds(365 * 24 * 60 * 60)

    /// Returns how long to wait after `failures` failed attempts (at least 1), of which the last one failed with
    /// `error`.
    ///
    /// - Parameters:
    ///   - failures: The number of attempts that have failed, at least 1.
    ///   - error: The error of the last attempt.
    /// - Returns: The time before the next attempt.
    public func delay(after failures: Int, error: OperationError) -> Duration {
        hintedDelay(for: error) ?? jitteredDelay(after: failures)
    }

    /// Returns the delay that the error asks for, or nil if it asks for none. May call the user's hint.
    func hintedDelay(for error: OperationError) -> Duration? {
        modifiers?.hint?(error).map { max(.zero, $0.bounded) }
    }

    /// Returns the delay after `failures` failed attempts. May call the user's random generator.
    func jitteredDelay(after failures: Int) -> Duration {
        let whole = baseDelay(after: failures)
        guard let random = modifiers?.random else { return whole }
        let longest = whole / .seconds(1)
        let drawn = random(0...longest)
        // The generator may return any number, so the result is clamped. It is rounded to nanoseconds, which are
        // precise enough.
        return drawn < longest ? .nanoseconds(Int64((max(0, drawn) * 1e9).rounded())) : whole
    }

    /// The delay without jitter. It is exact, so that advancing a test clock by 100, 200 and 400 ms wakes an operation
    /// that waits for exactly these times.
    private func baseDelay(after failures: Int) -> Duration {
        let steps = max(1, failures) - 1
        let longest = min(max(.zero, modifiers?.cap ?? Self.longest), Self.longest)
        let start = min(max(.zero, curve.first), Self.longest).attoseconds
        if let step = modifiers?.step {
            let (growth, overflows) = min(max(.zero, step), Self.longest).attoseconds
                .multipliedReportingOverflow(by: Int128(steps))
            return overflows
                ? longest : min(longest, Duration(attoseconds: start.addingReportingOverflow(growth).partialValue))
        }
        // A `Double` represents this product exactly if the factor is a power of two, because only the exponent
        // changes.
        let attoseconds = start == 0 ? 0 : Double(start) * Double.power(curve.factor, Double(steps))
        return attoseconds < Double(longest.attoseconds)
            ? Duration(attoseconds: Int128(attoseconds.rounded())) : longest
    }

    var hasModifiers: Bool { box != nil }

    /// The curve of a backoff that has nothing else; otherwise nil.
    var unmodifiedCurve: Curve? { box == nil ? curve : nil }

    /// True if the backoff was made with a factor below 1.
    var hasInvalidFactor: Bool { modifiers?.hasInvalidFactor ?? false }

    /// True if the backoff was made with a negative duration.
    var isNegative: Bool {
        if curve.first.attoseconds < 0 { return true }
        guard let modifiers else { return false }
        return modifiers.step.map { $0 < .zero } ?? false
            || modifiers.cap.map { $0 < .zero } ?? false
    }
}

extension Backoff: CustomStringConvertible {
    /// The first delay and how it grows, such as "0.1 seconds, then 2 times as long each time, at most 10.0 seconds,
    /// jittered".
    public var description: String {
        func text(_ duration: Duration) -> String { ExplanationFormatter.text(max(.zero, duration)) }
        var parts = [text(curve.first)]
        if let step = modifiers?.step {
            if step > .zero { parts.append("then \(text(step)) longer each time") }
        } else if curve.factor > 1 {
            let whole = Int(exactly: curve.factor)
            parts.append("then \(whole.map { "\($0)" } ?? "\(curve.factor)") times as long each time")
        }
        if let cap = modifiers?.cap { parts.append("at most \(text(cap))") }
        if modifiers?.random != nil { parts.append("jittered") }
        if modifiers?.hint != nil { parts.append("unless the error asks for another delay") }
        return parts.joined(separator: ", ")
    }
}

extension Double {
    /// Exponentiation by squaring, because the core does not import a mathematics library. `exponent` is a whole
    /// number.
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
