/// The children of one operation, from the first that is given to the outcome of the last. Pure; see ``ChildGroup``.
struct GroupStateMachine<Child> {
    /// Counts the children in the order in which they were given.
    typealias Place = Int

    private enum Phase {
        /// Children are given, and do not run yet.
        case planned
        case running
        /// What is left is waited for; no child is taken any more.
        case closing
        case over
    }

    private let policy: GroupPolicy
    /// False: what follows a failure is kept from running by its dependencies, and needs no cancel.
    private let cancelsRest: Bool
    private var phase = Phase.planned
    /// Nil for those that have ended.
    private var children: [Child?] = []
    private var unfinished = 0
    /// Who is just starting children. It is not over before that.
    private var starters = 0
    private var failures: [(place: Place, failure: OperationFailure)] = []
    private var successes = 0
    /// The parent was cancelled, or has failed by itself.
    private var isCancelled = false
    /// Of the parent itself.
    private var ownFailure: OperationFailure?
    /// A child was cancelled because of that, or because the others had decided.
    private var hasCutOff = false

    init(policy: GroupPolicy, cancelsRest: Bool = true) {
        self.policy = policy
        self.cancelsRest = cancelsRest
    }

    /// Those that have not ended, of a group that runs.
    var waitsFor: [Child] {
        switch phase {
        case .planned, .over: []
        case .running, .closing: unended
        }
    }

    /// So many of these, in no particular order; also of a group that does not run yet, if it `includesPlanned`
    /// children.
    func waitsFor(first limit: Int, includesPlanned: Bool) -> [Child] {
        switch phase {
        case .planned where !includesPlanned: []
        case .over: []
        // From the end: as a rule the first ones end first.
        case .planned, .running, .closing: Array(children.lazy.reversed().compactMap(\.self).prefix(limit))
        }
    }

    private var unended: [Child] { children.compactMap { $0 } }

    /// For the progress of the parent.
    var count: (ended: Int, succeeded: Int, unended: [Child]) { (children.count - unfinished, successes, unended) }

    // MARK: Giving children

    enum Insertion: Equatable {
        /// It will run with the others.
        case planned(Place)
        /// To be started by the caller, who then says that they ``haveStarted()``.
        case start(Place)
        /// The group closes, or has ended.
        case refused
    }

    mutating func insert(_ child: Child) -> Insertion {
        if isCancelled { return .refused }
        switch phase {
        case .planned, .running:
            children.append(child)
            unfinished += 1
            let place = children.count - 1
            if phase == .planned { return .planned(place) }
            starters += 1
            return .start(place)
        case .closing, .over: return .refused
        }
    }

    // MARK: Running

    enum Start {
        case run([Child])
        /// The parent was cancelled before: they are not to be run. Told what they end with all the same.
        case cancel([Child])
    }

    /// The caller does it, and then says that they ``haveStarted()``.
    mutating func start() -> Start {
        starters += 1
        phase = isCancelled ? .closing : .running
        return isCancelled ? .cancel(unended) : .run(unended)
    }

    /// True: it is over.
    mutating func haveStarted() -> Bool {
        starters -= 1
        return endsNow()
    }

    private mutating func endsNow() -> Bool {
        if unfinished > 0 || starters > 0 { return false }
        phase = .over
        return true
    }

    struct Actions {
        /// To be cancelled, because the others have decided.
        var cancel: [Child] = []
        var isOver = false
    }

    /// - Parameters:
    ///   - failure: Nil for a success.
    ///   - isCutOff: It was cancelled with the parent, or because the others had decided.
    mutating func ended(_ place: Place, _ failure: OperationFailure?, isCutOff: Bool = false) -> Actions {
        children[place] = nil
        unfinished -= 1
        switch failure?.error.outcome {
        case nil: successes += 1
        case .skipped: break
        case .cancelled where isCutOff: hasCutOff = true
        case .success, .failure, .cancelled: failures.append((place, failure!))
        }
        var actions = Actions()
        if phase == .running, isDecided, cancelsRest {
            phase = .closing
            actions.cancel = unended
        }
        actions.isOver = endsNow()
        return actions
    }

    private var isDecided: Bool {
        switch policy {
        case .collectAll: false
        case .failFast: !failures.isEmpty
        case .firstSuccess: successes > 0
        }
    }

    /// The parent was cancelled: these with it. No child is taken any more.
    mutating func cancel() -> [Child] {
        isCancelled = true
        switch phase {
        case .planned: return unended
        case .running:
            phase = .closing
            return unended
        // Those that were not cancelled before have ended.
        case .closing: return cancelsRest ? [] : unended
        case .over: return []
        }
    }

    /// The parent fails by itself, whatever its children do: these are to be cancelled. The first call counts.
    mutating func fail(_ failure: OperationFailure) -> [Child] {
        if ownFailure != nil || phase == .over { return [] }
        ownFailure = failure
        return cancel()
    }

    /// The parent has ended, without having started if any child is left: nobody will run these.
    mutating func parentEnded() -> [Child] {
        defer {
            phase = .over
            children = []
        }
        return phase == .planned ? unended : []
    }

    // MARK: Outcome

    /// Of a group that is over: its own failure, then those of the children, in the order in which they were given; nil
    /// for a success.
    var outcome: [OperationFailure]? {
        let childFailures = failures.sorted { $0.place < $1.place }.map(\.failure)
        if let ownFailure { return [ownFailure] + childFailures }
        let hasFailed =
            switch policy {
            case .collectAll, .failFast: !failures.isEmpty || isCancelled && hasCutOff
            case .firstSuccess: successes == 0
            }
        return hasFailed ? childFailures : nil
    }
}
