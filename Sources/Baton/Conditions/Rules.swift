/// What stands between an operation that is ready and its body: conditions to be evaluated, then names to be held. A state
/// machine without lock, clock or callback: part of ``Details``, and so guarded by the operation's lock.
///
/// An object, because it is looked at more often than it changes, and copies of it would cost more than it. The lock forbids
/// what `@exclusivity(unchecked)` does not look for.
final class Rules {
    /// How far the operation is with the names that it holds while its body runs.
    enum Standing {
        case asksForNone
        case requested
        case held
    }

    /// What comes next.
    enum Step {
        case fail(Misuse.Kind)
        case evaluate
        /// Of ``exclusions``.
        case request
        case run
    }

    /// This and the next two are frozen by the add, and read without the lock from then on.
    @exclusivity(unchecked) private(set) var conditions = Few<StoredCondition>.none
    /// Some of the conditions have names.
    @exclusivity(unchecked) private(set) var conditionsHaveNames = false
    /// Of the run: its own, and those of its conditions.
    @exclusivity(unchecked) private(set) var exclusions = ExclusionSet()
    @exclusivity(unchecked) private(set) var standing = Standing.asksForNone
    @exclusivity(unchecked) private(set) var isEvaluated = false
    /// An evaluation runs under the names of the conditions.
    @exclusivity(unchecked) private var isHeldByEvaluation = false
    /// It has waited for another operation while it held names.
    @exclusivity(unchecked) private var hasWaitedWithNames = false
    /// How often names were asked for: two looks that find the same number have seen the same claim.
    @exclusivity(unchecked) private(set) var requests: UInt32 = 0
    /// Of an evaluation that waits for the names of its conditions.
    @exclusivity(unchecked) private var waitingEvaluation: UnsafeContinuation<OperationError?, Never>?

    /// It has one, and one without names.
    var onlyCondition: StoredCondition? {
        if case .one(let condition) = conditions, !conditionsHaveNames { condition } else { nil }
    }

    func add(_ condition: StoredCondition, _ exclusions: [Exclusion]) {
        conditions.append(condition)
        if exclusions.isEmpty { return }
        conditionsHaveNames = true
        add(exclusions)
    }

    /// Names to be held while the body runs.
    func add(_ exclusions: [Exclusion]) {
        for exclusion in exclusions { self.exclusions.insert(exclusion) }
    }

    var hasConditionsLeft: Bool { !isEvaluated && !conditions.isEmpty }

    /// Nothing stands before the body any more.
    var isPassed: Bool { !hasConditionsLeft && (exclusions.isEmpty || standing == .held) }

    func next() -> Step {
        if isPassed { return .run }
        if !exclusions.isEmpty, let problem = exclusions.problem { return .fail(.invalidExclusion(problem)) }
        if hasConditionsLeft { return .evaluate }
        standing = .requested
        requests &+= 1
        return .request
    }

    func conditionsAreSatisfied() { isEvaluated = true }

    // MARK: Names

    func evaluationWaits(_ continuation: UnsafeContinuation<OperationError?, Never>) {
        waitingEvaluation = continuation
        requests &+= 1
    }

    /// Nil: it does not wait, or somebody else wakes it.
    func takeWaitingEvaluation() -> UnsafeContinuation<OperationError?, Never>? {
        isHeldByEvaluation = waitingEvaluation != nil
        return waitingEvaluation.take()
    }

    var holdsNames: Bool { standing == .held || isHeldByEvaluation }

    /// It waits for another operation. True: while it holds names, and for the first time.
    func noteWait() -> Bool {
        guard holdsNames, !hasWaitedWithNames else { return false }
        hasWaitedWithNames = true
        return true
    }

    /// It gives its names back. True: it has waited while it held them.
    func endHolding() -> Bool {
        isHeldByEvaluation = false
        defer { hasWaitedWithNames = false }
        return hasWaitedWithNames
    }

    func namesAreHeld() { standing = .held }

    /// They were given back before the run, because the queue was suspended.
    func namesAreGivenBack() { standing = .asksForNone }
}
