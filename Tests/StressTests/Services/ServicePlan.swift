import Baton

/// A round of operations that call a few services through circuit breakers and rates. The plan is a plain value that a
/// seed determines.
struct ServicePlan: Sendable {
    var services: [ServiceNote] = []
    var calls: [CallNote] = []
    var widths: [Int] = []
    /// The time at which the first queue is suspended, and for how long.
    var suspension: (begin: Duration, length: Duration)?
}

/// A service, its breaker and its rate.
struct ServiceNote: Sendable {
    /// The number of failures in a row after which the breaker opens.
    let failures: Int
    let openTime: Duration
    /// The times at which every call fails.
    let outages: [Range<Duration>]
    /// The rate of all calls, or nil if there is none.
    let rate: RateNote?

    func isDown(at time: Duration) -> Bool { outages.contains { $0.contains(time) } }
}

/// An operation that calls a service.
struct CallNote: Sendable {
    enum Ending: Sendable {
        case success
        /// The call throws an error that counts.
        case failure
        /// The call throws an error that does not count, because the service has answered.
        case rejection
    }

    /// A further condition of the call.
    enum Guard: Sendable {
        case satisfied(yields: Int)
        case skip(yields: Int)
    }

    let id: Int
    let service: Int
    let queue: Int
    let addedAt: Duration
    let duration: Duration
    let ending: Ending
    /// The attempts that fail before the one with ``ending``.
    var failedAttempts = 0
    /// The time limit of each attempt.
    var limit: Duration?
    /// The time from the add to a cancellation.
    var cancelledAfter: Duration?
    var guardBefore: Guard?
    var guardAfter: Guard?
    /// True if the breaker is part of two conditions of the call.
    var asksTwice = false
    /// True if the call is a group, whose children end as the call does.
    var isGroup = false
    /// True if the call needs an exclusion that other calls need, too.
    var hasExclusion = false
    /// The number of yields of a `willFinish` handler that is called before the breaker learns the outcome.
    var lastStep: Int?
    /// The call of another service that the body runs.
    var child: Int?
    /// True if only the body of another call adds the call.
    var isNested = false

    var name: String { "n\(id)" }
}

extension ServicePlan {
    init(seed: UInt64, callCounts: ClosedRange<Int>) {
        var random = SeededRandom(seed: seed &* 0x9FB2_1C65 &+ 5)
        widths = (0..<random.number(1...2)).map { _ in random.pick([1, 2, 4, 64]) }
        let length = random.pick([20, 60, 200])
        services = (0..<random.number(1...3)).map { _ in Self.service(&random, length) }
        if random.isLucky(percent: 20) {
            suspension = (.ticks(random.number(0...length)), .ticks(random.number(1...length / 2)))
        }
        let failing = random.pick([5, 20, 60])
        let unusual = random.pick([0, 10, 30])
        for id in 0..<random.number(callCounts) { calls.append(call(id, &random, length, failing, unusual)) }
    }

    private static func service(_ random: inout SeededRandom, _ length: Int) -> ServiceNote {
        let outages = (0..<random.number(0...2)).map { _ in
            let begin = random.number(0...length)
            return Duration.ticks(begin)..<Duration.ticks(begin + random.number(1...length / 2))
        }
        return ServiceNote(
            failures: random.pick([1, 1, 2, 3, 5]), openTime: .ticks(random.pick([0, 1, 4, 10, 30])), outages: outages,
            rate: random.isLucky(percent: 40) ? Graph.rate(&random) : nil)
    }

    private mutating func call(
        _ id: Int, _ random: inout SeededRandom, _ length: Int, _ failing: Int, _ unusual: Int
    ) -> CallNote {
        var call = CallNote(
            id: id, service: random.number(0...services.count - 1), queue: random.number(0...widths.count - 1),
            addedAt: .ticks(random.number(0...length)), duration: .ticks(random.pick([0, 0, 1, 2, 6])),
            ending: random.isLucky(percent: failing) ? random.pick([.failure, .failure, .rejection]) : .success)
        call.isNested = random.isLucky(percent: unusual / 2)
        if random.isLucky(percent: unusual) { call.failedAttempts = random.number(1...2) }
        if random.isLucky(percent: unusual) { call.limit = .ticks(random.number(1...3)) }
        if random.isLucky(percent: unusual), !call.isNested { call.cancelledAfter = .ticks(random.number(0...8)) }
        if random.isLucky(percent: unusual) { call.guardBefore = Self.condition(&random) }
        if random.isLucky(percent: unusual) { call.guardAfter = Self.condition(&random) }
        call.asksTwice = random.isLucky(percent: unusual)
        call.hasExclusion = random.isLucky(percent: unusual)
        if random.isLucky(percent: unusual) { call.lastStep = random.number(0...3) }
        // A group runs once, and its rate would count the start of the group alone.
        if random.isLucky(percent: unusual / 2), call.failedAttempts == 0 { call.isGroup = true }
        let children = calls.filter { $0.isNested && $0.service != call.service && !hasParent($0.id) }.map(\.id)
        // A child runs once, so its parent must not run again.
        let hasChild = !call.isGroup && call.failedAttempts == 0 && !children.isEmpty && random.isLucky(percent: 50)
        if hasChild { call.child = random.pick(children) }
        return call
    }

    private func hasParent(_ id: Int) -> Bool { calls.contains { $0.child == id } }

    private static func condition(_ random: inout SeededRandom) -> CallNote.Guard {
        random.isLucky(percent: 40) ? .skip(yields: random.number(0...3)) : .satisfied(yields: random.number(0...3))
    }
}
