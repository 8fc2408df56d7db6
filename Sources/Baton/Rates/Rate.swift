/// A limit on how often operations start: all operations with a rate of the same name share it.
///
/// ```swift
/// call.addCondition(.rate("partner API", 100, per: .seconds(60), burst: 10))
/// ```
///
/// Operations with rates of the same name share the rate, whatever queue they were added to. Names of rates count in
/// the whole process, whatever the ``OperationScope``.
///
/// An operation that waits for its turn holds no permit of its queue, no exclusion, no thread and no task. Operations
/// get their turns in the order in which they began to wait, whatever their priority. An operation begins to wait when
/// its own queue has a permit for it, so in a queue that runs several operations at a time the order is not exactly
/// that of the adds. An operation that is cancelled, or ends for another reason, leaves its place to those behind it.
///
/// The rate is asked last: when the dependencies have finished, the conditions are satisfied, the exclusions are held
/// and the queue has a free permit. So it counts starts of bodies. Each attempt of a retry and each run of a repetition
/// is one more start and waits for its turn again. An operation that anything else keeps from running takes no turn. If
/// the queue has no free permit when an operation gets its turn, the operation starts when there is a permit and the
/// rate still allows it; meanwhile others may start first.
///
/// The time is measured on the queue's clock. Queues share a rate if they share a clock: the system's `ContinuousClock`
/// or `SuspendingClock`, or one instance of a class. Queues with different clocks each have the whole rate, because
/// their times cannot be compared, and so has each queue whose clock is a value of another type. The use of a rate is
/// forgotten when the last queue with its clock has gone, except on the system's clocks.
///
/// This is the generic cell rate algorithm of ITU-T Recommendation I.371, which does what a token bucket does but
/// stores only one time for each rate. In every span of the length of the period at most `count + burst - 1` operations
/// start.
///
/// A count below 1, a period that is not positive, or a burst below 1 or above the count ends the operation with
/// ``OperationError/misuse(_:)``. If two operations give the same rate different numbers, that is reported as
/// ``Misuse``, and the slower rate counts for both until the rate has been unused for so long that it would allow a
/// whole burst. If one operation has two rates of the same name with different numbers, that is reported as well, and
/// the slower one counts.
///
/// An operation with several rates starts when all of them allow it; operations that use each of these rates all the
/// time may overtake it. An operation that also needs an exclusion releases it while it waits for the rate, and takes
/// it again when it has its turn. If other operations have used the turn meanwhile, the operation keeps the exclusion
/// from then on until it starts, so that it does not wait forever; if its queue is suspended, it loses the exclusion
/// when it has its next turn. ``OperationCondition/negated`` and other combinations of conditions keep the rates of the
/// conditions that they wrap.
///
/// - Complexity: O(log n) for each start, where n operations wait for the rate. An unused rate does not keep its
///   memory.
public struct Rate: OperationCondition, Hashable {
    let key: String
    /// The number of starts in a period.
    let count: Int
    /// The length of a period.
    let period: Duration
    /// The number of starts that may come at once.
    let burst: Int
    /// The source location where the rate was added to an operation, for reports about its numbers.
    var declarationSite = DeclarationSite.unknown

    /// The name in typographic quotes, for errors and explanations.
    public var name: String { key.quoted }

    /// Returns ``ConditionResult/satisfied``: the operation waits for its turn after its conditions have been
    /// evaluated.
    ///
    /// - Parameter operation: The operation that has the condition.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }

    /// A description of the numbers that would not allow any start; nil if the numbers are valid.
    var problem: String? {
        if count < 1 { return "the count of the rate \(name) is \(count), and must be at least 1" }
        if period <= .zero {
            return "the period of the rate \(name) is \(ExplanationFormatter.text(period)), and must be positive"
        }
        if burst < 1 { return "the burst of the rate \(name) is \(burst), and must be at least 1" }
        if burst > count { return "the burst of the rate \(name) is \(burst), more than the count of \(count)" }
        return nil
    }

    /// The limits of a rate whose numbers are valid.
    var limits: RateLimits { RateLimits(count: count, period: period, burst: burst) }
}

// An extension of the protocol, so that `addCondition(.rate("partner API", 100, per: .seconds(60)))` finds the method.
extension OperationCondition where Self == Rate {
    /// Lets `count` operations with this rate start in each period, on average. See ``Rate``.
    ///
    /// - Parameters:
    ///   - name: The name that all operations with the rate share, in the whole process.
    ///   - count: The number of operations that may start in a period, at least 1. All that use the name give the same
    ///     numbers.
    ///   - period: The length of a period on the queue's clock; more than zero.
    ///   - burst: The number of operations that may start at once when the rate has not been used, at least 1 and at
    ///     most `count`. With 1, the default, starts are spaced evenly, and no span of the period's length has more
    ///     than `count` of them. With a larger burst, a span may have up to `count + burst - 1`, which a service that
    ///     counts strictly refuses.
    /// - Returns: The condition.
    public static func rate(_ name: String, _ count: Int, per period: Duration, burst: Int = 1) -> Rate {
        Rate(key: name, count: count, period: period, burst: burst)
    }
}

extension Rate: CustomStringConvertible {
    /// The name, the count and the period, such as "‘partner API’ (100 in 60 seconds)".
    public var description: String { "\(name) (\(numbers))" }

    fileprivate var numbers: String {
        let time =
            period.attoseconds % 1_000_000_000_000_000_000 == 0
            ? "\(period.components.seconds) second\(period == .seconds(1) ? "" : "s")"
            : ExplanationFormatter.text(period)
        return "\(count) in \(time)\(burst == 1 ? "" : ", up to \(burst) at once")"
    }
}

/// Two rates of one name with different numbers.
struct RateConflict {
    let rate: Rate
    let other: Rate
    /// True if one operation has both rates.
    let isOfOneOperation: Bool

    func misuse(of operation: OperationReference) -> Misuse {
        let site = other.declarationSite
        let user = isOfOneOperation ? "for the same operation\(site.suffix)" : site.text
        return Misuse(
            .conflictingRates(name: rate.name), operation: operation, declaredAt: rate.declarationSite,
            other: "is \(rate.numbers) here and \(other.numbers) \(user)")
    }
}

/// The rates of a condition, including those of the conditions that it wraps.
extension OperationCondition {
    var wantedRates: [Rate] {
        if let rate = self as? Rate { return [rate] }
        return (self as? any WrappingCondition)?.wrappedRates ?? []
    }
}
