/// The conditions, exclusions and rates between an operation that is ready and its body. A pure state machine; it is
/// part of ``OptionalState``, so the operation's lock guards it.
struct Preconditions {
    /// The state of the claim on the exclusions that the operation holds while its body runs.
    enum ClaimState {
        case notRequested
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
        case requestStart([Rate])
        /// Asks these circuit breakers to admit the operation. The caller calls
        /// ``admissionsAreRequested()`` in the same step.
        case admit([CircuitBreaker])
        case run
    }

    /// The exclusions and rates of the few operations that have any. A class, so that conditions alone take little
    /// room.
    private final class ResourceClaims {
        var exclusions = ExclusionSet()
        var claimState = ClaimState.notRequested
        /// True while an evaluation runs under the exclusions of the conditions.
        var evaluationHoldsExclusions = false
        /// True if the operation has waited for another operation while it held exclusions.
        var holderHasWaited = false
        var requests: UInt32 = 0
        /// The continuation of an evaluation that waits for the exclusions of its conditions.
        var waitingEvaluation: UnsafeContinuation<OperationError?, Never>?
        /// The rates and circuit breakers, or nil as for most operations.
        var startClaim: StartClaim?

        /// True if the operation has its exclusions, and the rates have counted its start.
        var areGranted: Bool {
            guard let startClaim else { return claimState == .held }
            return startClaim.isCounted && holdsExclusions
        }

        var holdsExclusions: Bool { claimState == .held || exclusions.isEmpty }

        var isAdmitted: Bool { startClaim?.admissions.isEmpty ?? true }
    }

    /// The rates within which the body starts, and the circuit breakers that admit it.
    private final class StartClaim {
        private(set) var rates: [Rate] = []
        /// The circuit breakers that have been looked at, and that admit the operation when it holds everything else.
        var admissions: [CircuitBreaker] = []
        /// The index of each name, if there are more than a few.
        private var places: [String: Int] = [:]
        /// Pairs of rates with the same name and different numbers, until they are reported.
        var conflicts: [RateConflict] = []
        /// True if the rates have counted the next start, or there are none.
        var isCounted: Bool { hasCountedRates || rates.isEmpty }
        var hasCountedRates = false

        /// The number of rates up to which a linear search suffices. Most operations with rates have one or two; an
        /// operation that calls a service for each of its accounts may have thousands.
        private static let few = 16

        /// Adds a rate. If there is one with the same name, the slower one counts.
        func insert(_ rate: Rate) {
            guard let place = place(of: rate.key) else {
                rates.append(rate)
                if rates.count > Self.few { for new in places.count..<rates.count { places[rates[new].key] = new } }
                return
            }
            let other = rates[place]
            if rate.limits != other.limits {
                conflicts.append(RateConflict(rate: rate, other: other, isOfOneOperation: true))
            }
            let isSlower = RateLimits.slower(other.limits, rate.limits) != other.limits
            if rate.problem != nil || other.problem == nil && isSlower { rates[place] = rate }
        }

        private func place(of key: String) -> Int? {
            rates.count > Self.few ? places[key] : rates.firstIndex { $0.key == key }
        }
    }

    /// Nil, and not an empty object, if the operation has neither exclusions nor rates. Stored first, so that what
    /// follows this struct in memory leaves no gap.
    private var claims: ResourceClaims?
    /// The add freezes `conditions` and `conditionsHaveExclusions`, which are read without the lock from then on.
    private(set) var conditions = TinyArray<StoredCondition>.none
    /// True if any of the conditions has exclusions.
    private(set) var conditionsHaveExclusions = false
    private var isEvaluated = false
    private var needsDelay = false

    /// True if there are no conditions, exclusions or rates.
    var areNone: Bool { claims == nil && conditions.isEmpty }

    /// The condition of an operation whose only condition is a closure; otherwise nil.
    @inline(__always) var onlyClosure: ClosureCondition? {
        if case .one(.closure(let condition)) = conditions { condition } else { nil }
    }

    /// The condition of an operation whose only condition has no exclusions; otherwise nil.
    var onlyCondition: (any OperationCondition)? {
        if !conditionsHaveExclusions, case .one(let stored) = conditions { stored.condition } else { nil }
    }

    @inline(__always)
    mutating func add(_ condition: consuming StoredCondition, _ exclusions: [Exclusion]) {
        conditions.append(condition)
        if exclusions.isEmpty { return }
        conditionsHaveExclusions = true
        add(exclusions)
    }

    /// Adds exclusions to be held while the body runs.
    mutating func add(_ exclusions: [Exclusion]) {
        if exclusions.isEmpty { return }
        let claims = claims ?? ResourceClaims()
        self.claims = claims
        for exclusion in exclusions { claims.exclusions.insert(exclusion) }
    }

    /// Adds rates. If two rates have the same name, the slower one counts.
    mutating func add(_ rates: [Rate]) {
        if rates.isEmpty { return }
        let claims = claims ?? ResourceClaims()
        self.claims = claims
        let startClaim = claims.startClaim ?? StartClaim()
        claims.startClaim = startClaim
        for rate in rates { startClaim.insert(rate) }
    }

    @inline(__always) var hasConditionsLeft: Bool { !isEvaluated && !conditions.isEmpty }

    /// Makes the delay of the operation its next step.
    mutating func requireDelay() { needsDelay = true }

    mutating func delayHasBegun() { needsDelay = false }

    /// True if the operation waits next for a permit, exclusions or a rate.
    var isReady: Bool { !needsDelay && !hasConditionsLeft }

    /// True if the body may run.
    @inline(__always) var isPassed: Bool {
        !needsDelay && !hasConditionsLeft && (claims == nil || claims!.areGranted && claims!.isAdmitted)
    }

    @inline(__always)
    func next() -> Step {
        if isPassed { return .run }
        if needsDelay { return .pause }
        return claims == nil ? .evaluate : nextWithClaims()
    }

    private func nextWithClaims() -> Step {
        if let problem = claims?.exclusions.problem { return .fail(.invalidExclusion(problem)) }
        if let problem = claims?.startClaim?.rates.lazy.compactMap(\.problem).first {
            return .fail(.invalidRate(problem))
        }
        if hasConditionsLeft { return .evaluate }
        if let claims, let startClaim = claims.startClaim, claims.holdsExclusions {
            if !startClaim.isCounted { return .requestStart(startClaim.rates) }
            assert(!claims.isAdmitted, "an operation that waits for nothing else waits for an admission")
            return .admit(startClaim.admissions)
        }
        claims?.claimState = .requested
        claims?.requests &+= 1
        return .request(exclusions)
    }

    mutating func conditionsAreSatisfied() { isEvaluated = true }

    // MARK: Exclusions

    /// The exclusions that are held while the body runs: those of the operation and of its conditions. Frozen by the
    /// add.
    var exclusions: ExclusionSet { claims?.exclusions ?? ExclusionSet() }

    var claimState: ClaimState { claims?.claimState ?? .notRequested }

    /// True if the operation holds exclusions or waits for some, for its body or for an evaluation.
    var hasClaim: Bool {
        guard let claims else { return false }
        return claims.claimState != .notRequested || claims.evaluationHoldsExclusions || claims.waitingEvaluation != nil
    }

    /// The number of requests for exclusions. Two reads that return the same number have seen the same claim.
    var requests: UInt32 { claims?.requests ?? 0 }

    func evaluationWaits(_ continuation: UnsafeContinuation<OperationError?, Never>) {
        guard let claims else { preconditionFailure("an evaluation without exclusions waits for exclusions") }
        assert(claims.waitingEvaluation == nil, "an operation evaluates its conditions once at a time")
        claims.waitingEvaluation = continuation
        claims.requests &+= 1
    }

    /// Takes the continuation of an evaluation that waits. Returns nil if none waits, or another thread has taken it.
    func takeWaitingEvaluation() -> UnsafeContinuation<OperationError?, Never>? {
        guard let claims else { return nil }
        claims.evaluationHoldsExclusions = claims.waitingEvaluation != nil
        return claims.waitingEvaluation.take()
    }

    /// Records that the operation waits for another one. Returns true if this is the first such wait while it holds
    /// exclusions.
    func noteWait() -> Bool {
        guard let claims, claims.claimState == .held || claims.evaluationHoldsExclusions, !claims.holderHasWaited else {
            return false
        }
        claims.holderHasWaited = true
        return true
    }

    /// Records that the operation releases its exclusions. Returns true if it has waited while it held them.
    func endHolding() -> Bool {
        guard let claims else { return false }
        claims.evaluationHoldsExclusions = false
        defer { claims.holderHasWaited = false }
        return claims.holderHasWaited
    }

    func exclusionsAreHeld() { claims?.claimState = .held }

    /// Records that the exclusions were released before the body ran, because the queue was suspended.
    func exclusionsAreReleased() { claims?.claimState = .notRequested }

    // MARK: Rates

    /// True if rates count the starts of the operation.
    var hasRates: Bool { claims?.startClaim?.rates.isEmpty == false }

    /// Takes the pairs of rates that disagree, for the caller to report.
    func takeRateConflicts() -> [RateConflict] {
        guard let startClaim = claims?.startClaim, !startClaim.conflicts.isEmpty else { return [] }
        defer { startClaim.conflicts = [] }
        return startClaim.conflicts
    }

    /// Records that the rates have counted the next start, so that the body may run.
    func startIsCounted() { claims?.startClaim?.hasCountedRates = true }

    /// The rates that have counted the next start.
    var countedRates: [Rate] {
        guard let startClaim = claims?.startClaim, startClaim.hasCountedRates else { return [] }
        return startClaim.rates
    }

    /// Records that a run has ended, so that the rates have to count the next one.
    func runEnds() { claims?.startClaim?.hasCountedRates = false }

    // MARK: Circuit breakers

    /// True if the operation has exclusions or rates, for which it waits after its conditions. Frozen by the add.
    var hasResources: Bool { claims != nil }

    /// Has a circuit breaker asked again after the waits, once for all runs of the operation. The same breaker may be
    /// part of several conditions.
    func deferAdmission(by breaker: CircuitBreaker) {
        guard let claims else {
            preconditionFailure("Internal inconsistency: an operation without waits defers its admission")
        }
        assert(!isEvaluated, "a circuit breaker is looked at while the conditions are evaluated")
        let startClaim = claims.startClaim ?? StartClaim()
        claims.startClaim = startClaim
        if !startClaim.admissions.contains(where: { $0 === breaker }) { startClaim.admissions.append(breaker) }
    }

    /// Records that the circuit breakers of ``Step/admit(_:)`` are asked. They are not asked again for further runs.
    func admissionsAreRequested() { claims?.startClaim?.admissions = [] }
}
