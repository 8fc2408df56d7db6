/// What stands between an operation that is ready and its body: conditions to be evaluated, then names to be held. Pure; part
/// of ``Details``, and so guarded by the operation's lock.
struct Rules {
    /// A condition, with what it said about itself when it was added.
    struct Rule {
        let condition: any OperationCondition
        let exclusions: [Exclusion]
        /// It is nothing but a name to be held.
        let isExclusion: Bool

        init<Condition: OperationCondition>(_ condition: Condition) {
            self.condition = condition
            exclusions = condition.exclusions
            isExclusion = Condition.self == Exclusion.self
        }
    }

    /// How far the operation is with the names that it holds while its body runs.
    enum Standing {
        case asksForNone
        case requested
        case held
    }

    /// What comes next.
    enum Step {
        case fail(Misuse.Kind)
        case evaluate([Rule])
        case request(ExclusionSet)
        case run
    }

    private(set) var conditions: [Rule] = []
    /// Of the run: its own, and those of its conditions.
    private(set) var exclusions = ExclusionSet()
    private(set) var standing = Standing.asksForNone
    private(set) var isEvaluated = false
    /// Why no request for these names can ever be granted.
    private var problem: String?
    /// An evaluation runs under the names of the conditions.
    private var isHeldByEvaluation = false
    /// It has waited for another operation while it held names.
    private var hasWaitedWithNames = false
    /// How often names were asked for: two looks that find the same number have seen the same claim.
    private(set) var requests: UInt32 = 0
    /// Of an evaluation that waits for the names of its conditions.
    private var waitingEvaluation: UnsafeContinuation<OperationError?, Never>?

    mutating func add(_ rule: Rule) {
        add(rule.exclusions)
        if !rule.isExclusion { conditions.append(rule) }
    }

    /// Names to be held while the body runs.
    mutating func add(_ exclusions: [Exclusion]) {
        for exclusion in exclusions { self.exclusions.insert(exclusion) }
        problem = self.exclusions.problem
    }

    var hasConditionsLeft: Bool { !isEvaluated && !conditions.isEmpty }

    mutating func next() -> Step {
        if let problem { return .fail(.invalidExclusion(problem)) }
        if hasConditionsLeft { return .evaluate(conditions) }
        if exclusions.isEmpty || standing == .held { return .run }
        standing = .requested
        requests &+= 1
        return .request(exclusions)
    }

    mutating func conditionsAreSatisfied() {
        isEvaluated = true
    }

    // MARK: Names

    mutating func evaluationWaits(_ continuation: UnsafeContinuation<OperationError?, Never>) {
        waitingEvaluation = continuation
        requests &+= 1
    }

    /// Nil: it does not wait, or somebody else wakes it.
    mutating func takeWaitingEvaluation() -> UnsafeContinuation<OperationError?, Never>? {
        isHeldByEvaluation = waitingEvaluation != nil
        return waitingEvaluation.take()
    }

    var holdsNames: Bool { standing == .held || isHeldByEvaluation }

    /// It waits for another operation. True: while it holds names, and for the first time.
    mutating func noteWait() -> Bool {
        guard holdsNames, !hasWaitedWithNames else { return false }
        hasWaitedWithNames = true
        return true
    }

    /// It gives its names back. True: it has waited while it held them.
    mutating func endHolding() -> Bool {
        isHeldByEvaluation = false
        defer { hasWaitedWithNames = false }
        return hasWaitedWithNames
    }

    mutating func namesAreHeld() { standing = .held }

    /// They were given back before the run, because the queue was suspended.
    mutating func namesAreGivenBack() { standing = .asksForNone }
}
