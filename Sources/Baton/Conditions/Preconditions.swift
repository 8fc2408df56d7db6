/// What stands between an operation that is ready and its body: conditions to be evaluated, then names to be held. A
/// state machine without lock, clock or callback: part of ``OptionalState``, and so guarded by the operation's lock.
struct Preconditions {
    /// How far the operation is with the names that it holds while its body runs.
    enum Standing {
        case asksForNone
        case requested
        case held
    }

    /// What comes next.
    enum Step {
        case fail(Misuse.Kind)
        case pause
        case evaluate
        case request(ExclusionSet)
        /// To be told with ``startIsCounted()`` that these let the operation start.
        case pace([Rate])
        case run
    }

    /// Of the few that have any. An object, so that conditions alone take little room.
    private final class Names {
        @exclusivity(unchecked) var exclusions = ExclusionSet()
        @exclusivity(unchecked) var standing = Standing.asksForNone
        /// An evaluation runs under the names of the conditions.
        @exclusivity(unchecked) var areHeldByEvaluation = false
        /// It has waited for another operation while it held names.
        @exclusivity(unchecked) var haveWaited = false
        @exclusivity(unchecked) var requests: UInt32 = 0
        /// Of an evaluation that waits for the names of its conditions.
        @exclusivity(unchecked) var waitingEvaluation: UnsafeContinuation<OperationError?, Never>?
        /// Nil for most.
        @exclusivity(unchecked) var pace: Pace?

        var arePassed: Bool {
            guard let pace else { return standing == .held }
            return pace.isCounted && (standing == .held || exclusions.isEmpty)
        }
    }

    /// The rates within which the body starts.
    private final class Pace {
        @exclusivity(unchecked) var rates: [Rate] = []
        /// They have counted the start that comes next.
        @exclusivity(unchecked) var isCounted = false
    }

    /// Nil if there is none: not empty. First, for what comes after the last leaves no gap then.
    private var names: Names?
    /// This and the next are frozen by the add, and read without the lock from then on.
    private(set) var conditions = TinyArray<StoredCondition>.none
    /// Some of the conditions have names.
    private(set) var conditionsHaveNames = false
    private var isEvaluated = false
    private var isDelayed = false

    /// There are neither conditions nor names.
    var areNone: Bool { names == nil && conditions.isEmpty }

    /// It has one, and that is a closure.
    @inline(__always) var onlyClosure: ClosureCondition? {
        if case .one(.closure(let condition)) = conditions { condition } else { nil }
    }

    /// It has one, and one without names.
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

    /// Names to be held while the body runs.
    mutating func add(_ exclusions: [Exclusion]) {
        if exclusions.isEmpty { return }
        let names = names ?? Names()
        self.names = names
        for exclusion in exclusions { names.exclusions.insert(exclusion) }
    }

    /// If two rates have one name, the slower one counts.
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

    /// It is not to go on before a time of its own.
    mutating func delay() { isDelayed = true }

    mutating func delayBegins() { isDelayed = false }

    /// The operation waits for a permit next, or for names.
    var isReady: Bool { !isDelayed && !hasConditionsLeft }

    /// Nothing stands before the body any more.
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

    // MARK: Names

    /// Of the run: its own, and those of its conditions. Frozen, too.
    var exclusions: ExclusionSet { names?.exclusions ?? ExclusionSet() }

    var standing: Standing { names?.standing ?? .asksForNone }

    /// It holds names or waits for some, for its run or for an evaluation.
    var hasClaim: Bool {
        guard let names else { return false }
        return names.standing != .asksForNone || names.areHeldByEvaluation || names.waitingEvaluation != nil
    }

    /// How often names were asked for: two looks that find the same number have seen the same claim.
    var requests: UInt32 { names?.requests ?? 0 }

    func evaluationWaits(_ continuation: UnsafeContinuation<OperationError?, Never>) {
        names!.waitingEvaluation = continuation
        names!.requests &+= 1
    }

    /// Nil: it does not wait, or somebody else wakes it.
    func takeWaitingEvaluation() -> UnsafeContinuation<OperationError?, Never>? {
        guard let names else { return nil }
        names.areHeldByEvaluation = names.waitingEvaluation != nil
        return names.waitingEvaluation.take()
    }

    /// It waits for another operation. True: while it holds names, and for the first time.
    func noteWait() -> Bool {
        guard let names, names.standing == .held || names.areHeldByEvaluation, !names.haveWaited else { return false }
        names.haveWaited = true
        return true
    }

    /// It gives its names back. True: it has waited while it held them.
    func endHolding() -> Bool {
        guard let names else { return false }
        names.areHeldByEvaluation = false
        defer { names.haveWaited = false }
        return names.haveWaited
    }

    func namesAreHeld() { names?.standing = .held }

    /// They were given back before the run, because the queue was suspended.
    func namesAreGivenBack() { names?.standing = .asksForNone }

    // MARK: Rates

    /// Its starts are counted.
    var isPaced: Bool { names?.pace != nil }

    /// The body may start.
    func startIsCounted() { names?.pace?.isCounted = true }

    /// The next start is another one.
    func runEnds() { names?.pace?.isCounted = false }
}
