/// A limit on how often operations may start, for all that name it: so many in a time, one after the other.
///
/// ```swift
/// call.addCondition(.rate("partner API", 100, per: .seconds(60), burst: 10))
/// ```
///
/// Rates of one name meet wherever their operations were added. An operation that has to wait for its turn holds no
/// permit of its queue, no exclusion, no thread and no task. Those who wait are served in the order in which they came,
/// each when its own queue had a permit for it, whatever their priority; in a queue that runs several at a time that is
/// not exactly the order in which they were added. One that is cancelled, or ends for another reason, leaves its place
/// to those behind it. Names of rates count in the process, whatever the ``OperationScope``.
///
/// The rate is asked last, when the dependencies have finished, the conditions are satisfied, the exclusions are held
/// and the queue has a free permit: so what it counts are starts of bodies. Each attempt of a retry and each run of a
/// repetition is one more start, and waits for its turn again. An operation that is kept from running by anything else
/// takes no turn. If the queue is full when the turn has come, the operation starts when there is a permit and the rate
/// allows it then, and meanwhile others may go first.
///
/// The time is that of the queue's clock. Queues share a rate if they share a clock: the system's `ContinuousClock` or
/// `SuspendingClock`, or one instance of a class. Queues with different clocks each have the whole rate, because their
/// times cannot be compared; so has each queue whose clock is a value of another type. What has been used of a rate is
/// forgotten when the last queue with its clock has gone, unless that is one of the system's clocks.
///
/// This is the generic cell rate algorithm of ITU-T Recommendation I.371, which does what a bucket of tokens does with
/// one time for each rate. In every span of the length of the period no more than `count + burst - 1` operations start.
///
/// A count below 1, a period that is not positive, or a burst below 1 or above the count ends the operation with
/// ``OperationError/misuse(_:)``. Two operations that name one rate with different numbers are ``Misuse``, which is
/// reported, and the slower rate counts for both, until the rate has not been used for so long that it would allow a
/// whole burst. Of two rates of one name on one operation the slower counts. An operation with several rates starts
/// when all of them allow it; others that use each of them all the time may overtake it. One that needs an exclusion,
/// too, gives it back while it waits for the rate, and takes it again when its turn has come. If others have used that
/// turn up meanwhile, it keeps the exclusion from then on until it starts, so that it does not wait for ever; a
/// suspension of its queue takes the exclusion from it when its next turn comes. ``OperationCondition/negated`` and
/// other combinations of conditions keep the rates of what they wrap as they are.
///
/// - Complexity: O(log n) for each start, where n operations wait for the rate. A rate that is not used takes no memory
///   for long.
public struct Rate: OperationCondition, Hashable {
    let key: String
    /// So many starts.
    let count: Int
    /// In this time.
    let period: Duration
    /// So many at once.
    let burst: Int

    /// The name in typographic quotes, for errors and explanations.
    public var name: String { "‘\(key.singleLine)’" }

    /// Satisfied: the operation waits for its turn later, when its conditions have been evaluated.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }

    /// Why nobody could ever start within it; nil if it makes sense.
    var problem: String? {
        if count < 1 { return "the count of the rate \(name) is \(count), and must be at least 1" }
        if period <= .zero {
            return "the period of the rate \(name) is \(ExplanationFormatter.text(period)), and must be positive"
        }
        if burst < 1 { return "the burst of the rate \(name) is \(burst), and must be at least 1" }
        if burst > count { return "the burst of the rate \(name) is \(burst), more than the count of \(count)" }
        return nil
    }

    /// To be asked for one that makes sense.
    var limits: RateLimits { RateLimits(count: count, period: period, burst: burst) }
}

// Here, so that `addCondition(.rate("partner API", 100, per: .seconds(60)))` finds it.
extension OperationCondition where Self == Rate {
    /// Lets `count` operations start in each period, on average, of all that give the same name. See ``Rate``.
    ///
    /// - Parameters:
    ///   - name: What those who share the rate agree on, in the whole process.
    ///   - count: How many may start in a period, at least 1. All that use the name give the same numbers.
    ///   - period: On the clock of the queue; more than zero.
    ///   - burst: How many may start at once when the rate has not been used, at least 1 and at most `count`. With 1,
    ///     the default, starts are spaced evenly, and no span of the period's length has more than `count` of them. A
    ///     larger burst lets a span have up to `count + burst - 1`, which a service that counts strictly refuses.
    public static func rate(_ name: String, _ count: Int, per period: Duration, burst: Int = 1) -> Rate {
        Rate(key: name, count: count, period: period, burst: burst)
    }
}

extension Rate: CustomStringConvertible {
    /// The name, and how many in which time: "‘partner API’ (100 in 60 seconds)".
    public var description: String {
        let time =
            period.attoseconds % 1_000_000_000_000_000_000 == 0
            ? "\(period.components.seconds) second\(period == .seconds(1) ? "" : "s")"
            : ExplanationFormatter.text(period)
        return "\(name) (\(count) in \(time)\(burst == 1 ? "" : ", up to \(burst) at once"))"
    }
}

/// Conditions that limit how often their operation starts, also inside others.
extension OperationCondition {
    var wantedRates: [Rate] {
        if let rate = self as? Rate { return [rate] }
        return (self as? any WrappingCondition)?.wrappedRates ?? []
    }
}
