/// The states of the children of one operation, from the first child that is given to the outcome of the last.
/// ``ChildGroup`` is the driver.
struct GroupStateMachine<Child> {
    /// The index of a child in the order in which the children were given.
    typealias ChildIndex = Int

    private enum Phase {
        /// Children are given, but do not run yet.
        case planned
        case running
        /// The remaining children are awaited, and no further child is accepted.
        case closing
        case ended
    }

    private let policy: GroupPolicy
    /// True if the machine returns the remaining children to be cancelled once the policy has decided. False for
    /// ordered groups, whose dependencies already skip them.
    private let cancelsRest: Bool
    private var phase = Phase.planned
    private var children = UnfinishedOperations<Child>()
    /// The number of calls that have inserted children and not started them yet. The group stays open until they have.
    private var starters = 0
    private var failures: [(place: ChildIndex, failure: OperationFailure)] = []
    /// The skips of children, which are the reasons why a group that wants one success has none.
    private var skips: [(place: ChildIndex, failure: OperationFailure)] = []
    private var successes = 0
    /// True if the parent was cancelled or has failed with an error of its own.
    private var isCutShort = false
    /// The failure of the parent itself.
    private var ownFailure: OperationFailure?
    /// True if a child was cancelled because the parent was, or because the policy had decided.
    private var parentCancelledAChild = false

    init(policy: GroupPolicy, cancelsRest: Bool = true) {
        self.policy = policy
        self.cancelsRest = cancelsRest
    }

    /// True if the group has neither started nor ended.
    var isPlanned: Bool { phase == .planned }

    /// The children that have not ended, if the group runs.
    var waitsFor: [Child] {
        switch phase {
        case .planned, .ended: []
        case .running, .closing: children.all
        }
    }

    /// The first `limit` children found that have not ended, in no particular order.
    ///
    /// - Parameters:
    ///   - limit: The greatest number of children to return.
    ///   - includesPlanned: Whether to return the children of a group that does not run yet.
    func waitsFor(first limit: Int, includesPlanned: Bool) -> [Child] {
        switch phase {
        case .planned where !includesPlanned: []
        case .ended: []
        case .planned, .running, .closing: children.latest(limit)
        }
    }

    /// The counts that the progress of the parent needs.
    var progressCounts: (ended: Int, succeeded: Int, unfinished: [Child]) {
        (children.endedCount, successes, children.all)
    }

    // MARK: Adding children

    enum Insertion: Equatable {
        /// The child will start with the others.
        case planned(ChildIndex)
        /// The caller has to start the child, and to call ``didStartChildren()`` afterwards.
        case start(ChildIndex)
        /// The group is closing or over.
        case refused
    }

    mutating func insert(_ child: Child) -> Insertion {
        if isCutShort { return .refused }
        switch phase {
        case .planned, .running:
            let place = children.append(child)
            if phase == .planned { return .planned(place) }
            starters += 1
            return .start(place)
        case .closing, .ended: return .refused
        }
    }

    // MARK: Running the children

    enum Start {
        case run([Child])
        /// The parent was cancelled before the start. The caller cancels the children and still waits for them to end.
        case cancel([Child])
    }

    /// Starts the group. The caller performs the answer, and calls ``didStartChildren()`` afterwards.
    mutating func start() -> Start {
        assert(phase == .planned, "a group starts once")
        starters += 1
        phase = isCutShort ? .closing : .running
        return isCutShort ? .cancel(children.all) : .run(children.all)
    }

    /// Returns true if the group is over.
    mutating func didStartChildren() -> Bool {
        assert(starters > 0, "nobody starts children")
        starters -= 1
        return endIfComplete()
    }

    private mutating func endIfComplete() -> Bool {
        if children.count > 0 || starters > 0 { return false }
        phase = .ended
        return true
    }

    struct Actions {
        /// The children to be cancelled because the policy has decided.
        var cancel: [Child] = []
        var hasEnded = false
    }

    /// Records the end of a child.
    ///
    /// - Parameters:
    ///   - place: The place of the child.
    ///   - failure: The failure of the child, or nil for a success.
    ///   - isCutOff: True if the child was cancelled because the parent was, or because the policy had decided.
    mutating func ended(_ place: ChildIndex, _ failure: OperationFailure?, isCutOff: Bool = false) -> Actions {
        let isFirstEnd = children.remove(place) != nil
        precondition(isFirstEnd, "Internal inconsistency: a child of a group ends twice")
        if let failure {
            switch failure.error.outcome {
            case .success: preconditionFailure("Internal inconsistency: the outcome of an error is a success")
            case .skipped: if policy == .firstSuccess, successes == 0 { skips.append((place, failure)) }
            case .cancelled where isCutOff: parentCancelledAChild = true
            case .failure, .cancelled: failures.append((place, failure))
            }
        } else {
            successes += 1
        }
        var actions = Actions()
        if phase == .running, isDecided, cancelsRest {
            phase = .closing
            actions.cancel = children.all
        }
        actions.hasEnded = endIfComplete()
        return actions
    }

    private var isDecided: Bool {
        switch policy {
        case .collectAll: false
        case .failFast: !failures.isEmpty
        case .firstSuccess: successes > 0
        }
    }

    /// Closes the group, because the parent was cancelled. Returns the children to be cancelled.
    mutating func cancel() -> [Child] {
        isCutShort = true
        switch phase {
        case .planned: return children.all
        case .running:
            phase = .closing
            return children.all
        // The transition to `.closing` has already returned the children to cancel.
        case .closing, .ended: return []
        }
    }

    /// Closes the group, because the parent fails with an error of its own. Returns the children to be cancelled. Only
    /// the first call counts.
    mutating func fail(_ failure: OperationFailure) -> [Child] {
        if ownFailure != nil || phase == .ended { return [] }
        ownFailure = failure
        return cancel()
    }

    /// Records that the parent has ended. If the group was never started, returns its children, which the caller must
    /// end because nothing else will.
    mutating func parentEnded() -> [Child] {
        defer {
            phase = .ended
            children = UnfinishedOperations()
        }
        return phase == .planned ? children.all : []
    }

    // MARK: The outcome

    /// The outcome of a group that is over: the failure of the parent itself, then those of the children in the order
    /// in which they were given, or nil for a success. If a group has failed because all children were skipped, these
    /// are listed.
    var outcome: [OperationFailure]? {
        assert(phase == .ended, "a group has an outcome when all of its children have ended")
        let childFailures = Self.inOrder(failures)
        if let ownFailure { return [ownFailure] + childFailures }
        let hasFailed =
            switch policy {
            case .collectAll, .failFast: !failures.isEmpty || isCutShort && parentCancelledAChild
            case .firstSuccess: successes == 0
            }
        if !hasFailed { return nil }
        return childFailures.isEmpty ? Self.inOrder(skips) : childFailures
    }

    private static func inOrder(_ failures: [(place: ChildIndex, failure: OperationFailure)]) -> [OperationFailure] {
        failures.sorted { $0.place < $1.place }.map(\.failure)
    }
}
