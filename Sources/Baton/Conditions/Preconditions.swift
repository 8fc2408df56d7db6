/// The conditions, exclusions and rates between an operation that is ready and its body. A pure state machine; it is
/// part of ``OptionalState``, so the operation's lock guards it.
struct Preconditions {
    /// How far the operation is with the exclusions that it holds while its body runs.
    enum Standing {
        case asksForNone
        case requested
        case held
    }

    /// The next step towards the body.
    enum Step {
        case fail(Misuse.Kind)
        case pause
        case evaluate
        case request(ExclusionSet)
        /// Asks these rates for a start. The caller calls ``startIsCounted()`` when they have counted it.
        case pace([Rate])
        case run
    }

    /// The exclusions and rates of the few operations that have any. A class, so that conditions alone take little
    /// room.
    private final class Names {
        @exclusivity(unchecked) var exclusions = ExclusionSet()
        @exclusivity(unchecked) var standing = Standing.asksForNone
        /// True while an evaluation runs under the exclusions of the conditions.
        @exclusivity(unchecked) var areHeldByEvaluation = false
        /// True if the operation has waited for another operation while it held exclusions.
        @exclusivity(unchecked) var haveWaited = false
        @exclusivity(unchecked) var requests: UInt32 = 0
        /// The continuation of an evaluation that waits for the exclusions of its conditions.
        @exclusivity(unchecked) var waitingEvaluation: UnsafeContinuation<OperationError?, Never>?
        /// The rates, or nil as for most operations.
        @exclusivity(unchecked) var pace: Pace?

        var arePassed: Bool {
            guard let pace else { return standing == .held }
            return pace.isCounted && (standing == .held || exclusions.isEmpty)
        }
    }

    /// The rates within which the body starts.
    private final class Pace {
        @exclusivity(unchecked) var rates: [Rate] = []
        /// True if the rates have counted the next start.
        @exclusivity(unchecked) var isCounted = false
    }

    /// Nil, and not an empty object, if the operation has neither exclusions nor rates. Stored first, so that what
    /// follows this struct in memory leaves no gap.
    private var names: Names?
    /// The add freezes `conditions` and `conditionsHaveNames`, which are read without the lock from then on.
    private(set) var conditions = TinyArray<StoredCondition>.none
    /// True if any of the conditions has exclusions.
    private(set) var conditionsHaveNames = false
    private var isEvaluated = false
    private var isDelayed = false

    /// True if there are no conditions, exclusions or rates.
    var areNone: Bool { names == nil && conditions.isEmpty }

    /// The condition of an operation whose only condition is a closure; otherwise nil.
    @inline(__always) var onlyClosure: ClosureCondition? {
        if case .one(.closure(let condition)) = conditions { condition } else { nil }
    }

    /// The condition of an operation whose only condition has no exclusions; otherwise nil.
    var onlyCondition: (any OperationCondition)? {
        if !conditionsHaveNames, case .one(let stored) = conditions { stored.condition } else { nil }
    }

    @inline(__always)
    mutating func add(_ condition: consuming StoredCondition, _ exclusions: [Exclusion]) {
        conditions.append(condition)
        if exclusions.isEmpty { return }
        conditionsHaveNames = true
        add(exclusions)
    }

    /// Adds exclusions to be held while the body runs.
    mutating func add(_ exclusions: [Exclusion]) {
        if exclusions.isEmpty { return }
        let names = names ?? Names()
        self.names = names
        for exclusion in exclusions { names.exclusions.insert(exclusion) }
    }

    /// Adds rates. If two rates have the same name, the slower one counts.
    mutating func add(_ rates: [Rate]) {
        if rates.isEmpty { return }
        let names = names ?? Names()
        self.names = names
        let pace = names.pace ?? Pace()
        names.pace = pace
        for rate in rates {
            if let place = pace.rates.firstIndex(where: { $0.key == rate.key }) {
                let other = pace.rates[place]
                let isSlower = RateLimits.slower(other.limits, rate.limits) != other.limits
                if rate.problem != nil || other.problem == nil && isSlower { pace.rates[place] = rate }
            } else {
                pace.rates.append(rate)
            }
        }
    }

    @inline(__always) var hasConditionsLeft: Bool { !isEvaluated && !conditions.isEmpty }

    /// Makes the delay of the operation its next step.
    mutating func delay() { isDelayed = true }

    mutating func delayBegins() { isDelayed = false }

    /// True if the operation waits next for a permit, exclusions or a rate.
    var isReady: Bool { !isDelayed && !hasConditionsLeft }

    /// True if the body may run.
    @inline(__always) var isPassed: Bool {
        !isDelayed && !hasConditionsLeft && (names == nil || names!.arePassed)
    }

    @inline(__always)
    func next() -> Step {
        if isPassed { return .run }
        if isDelayed { return .pause }
        return names == nil ? .evaluate : nextWithNames()
    }

    private func nextWithNames() -> Step {
        if let problem = names?.exclusions.problem { return .fail(.invalidExclusion(problem)) }
        if let problem = names?.pace?.rates.lazy.compactMap(\.problem).first { return .fail(.invalidRate(problem)) }
        if hasConditionsLeft { return .evaluate }
        if let names, let pace = names.pace, names.standing == .held || names.exclusions.isEmpty {
            return .pace(pace.rates)
        }
        names?.standing = .requested
        names?.requests &+= 1
        return .request(exclusions)
    }

    mutating func conditionsAreSatisfied() { isEvaluated = true }

    // MARK: Exclusions

    /// The exclusions that are held while the body runs: those of the operation and of its conditions. Frozen by the
    /// add.
    var exclusions: ExclusionSet { names?.exclusions ?? ExclusionSet() }

    var standing: Standing { names?.standing ?? .asksForNone }

    /// True if the operation holds exclusions or waits for some, for its body or for an evaluation.
    var hasClaim: Bool {
        guard let names else { return false }
        return names.standing != .asksForNone || names.areHeldByEvaluation || names.waitingEvaluation != nil
    }

    /// How often exclusions were requested. Two reads that return the same number have seen the same claim.
    var requests: UInt32 { names?.requests ?? 0 }

    func evaluationWaits(_ continuation: UnsafeContinuation<OperationError?, Never>) {
        names!.waitingEvaluation = continuation
        names!.requests &+= 1
    }

    /// Takes the continuation of an evaluation that waits. Returns nil if none waits, or another thread has taken it.
    func takeWaitingEvaluation() -> UnsafeContinuation<OperationError?, Never>? {
        guard let names else { return nil }
        names.areHeldByEvaluation = names.waitingEvaluation != nil
        return names.waitingEvaluation.take()
    }

    /// Records that the operation waits for another one. Returns true if this is the first such wait while it holds
    /// exclusions.
    func noteWait() -> Bool {
        guard let names, names.standing == .held || names.areHeldByEvaluation, !names.haveWaited else { return false }
        names.haveWaited = true
        return true
    }

    /// Records that the operation releases its exclusions. Returns true if it has waited while it held them.
    func endHolding() -> Bool {
        guard let names else { return false }
        names.areHeldByEvaluation = false
        defer { names.haveWaited = false }
        return names.haveWaited
    }

    func namesAreHeld() { names?.standing = .held }

    /// Records that the exclusions were released before the body ran, because the queue was suspended.
    func namesAreGivenBack() { names?.standing = .asksForNone }

    // MARK: Rates

    /// True if rates count the starts of the operation.
    var isPaced: Bool { names?.pace != nil }

    /// Records that the rates have counted the next start, so that the body may run.
    func startIsCounted() { names?.pace?.isCounted = true }

    /// Records that a run has ended, so that the rates have to count the next one.
    func runEnds() { names?.pace?.isCounted = false }
}
