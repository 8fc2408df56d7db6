/// The exclusions that operations hold or wait for in the whole process: the driver of ``ExclusionStateMachine``, which
/// it guards with a lock.
///
/// An operation that waits for the exclusions of its run is in no list and on no task: its claim owns the queue's
/// reference to it. A call that takes the claim from the state machine, with a grant or a withdrawal, passes this
/// reference to its caller. A claim for the evaluation of conditions owns no reference: the worker that evaluates them
/// does.
enum ExclusionManager {
    private struct State {
        var machine = ExclusionStateMachine<AnyOperation>()
        /// The operations that have ended after their worker decided to request exclusions and before it did. The
        /// request finds them here.
        var endedBeforeRequest: Set<ObjectIdentifier> = []
        /// The operations whose request was impossible, and whose worker then found that they had ended. The thread
        /// that ends such an operation finds it here.
        var impossibleRequests: Set<ObjectIdentifier> = []

        /// Grants the exclusions if nobody holds or waits for any of them. The operation's ancestors do not matter
        /// then. Returns false if they were not granted and the caller has to call
        /// ``place(_:for:inside:isFurtherAttempt:)``.
        mutating func grantIfFree(_ exclusions: ExclusionSet, to operation: AnyOperation) -> Bool {
            guard endedBeforeRequest.isEmpty, exclusions.allSatisfy({ machine.isFree($0.name) }) else { return false }
            return machine.request(operation, exclusions, inside: []) == .granted
        }

        mutating func place(
            _ exclusions: ExclusionSet, for operation: AnyOperation, inside scope: [AnyOperation],
            isFurtherAttempt: Bool
        ) -> Placement {
            if !endedBeforeRequest.isEmpty, endedBeforeRequest.remove(ObjectIdentifier(operation)) != nil {
                return Placement(result: .withdrawn)
            }
            let conflict = machine.conflictingLimit(for: exclusions)
            switch machine.request(operation, exclusions, inside: scope, isFurtherAttempt: isFurtherAttempt) {
            case .granted:
                return Placement(result: .granted, conflict: conflict, operation: conflict == nil ? nil : operation)
            case .waiting:
                // The operation's own ancestors would leave it no room even if all other holders were gone.
                if let conflict, !scope.isEmpty,
                    !machine.fits(operation, beside: Set(scope.map { ObjectIdentifier($0) }))
                {
                    _ = machine.release(operation)
                    return Placement(result: .waiting, conflict: conflict, isImpossible: true, operation: operation)
                }
                let mayDeadlock = ExclusionManager.mayDeadlock
                let isObserved = operation.isObserved
                return Placement(
                    result: .waiting, conflict: conflict, mayDeadlock: mayDeadlock,
                    obstacle: isObserved ? machine.obstacle(for: operation) : nil,
                    operation: mayDeadlock || conflict != nil || isObserved ? operation : nil)
            }
        }
    }

    private static let state = Locked(State())

    /// The number of bodies and evaluations that hold exclusions and have waited for other operations. As long as it is
    /// zero there can be no deadlock.
    ///
    /// It is incremented before the search from such a wait, and read in the locked step in which a claim begins to
    /// wait. So the later of the two sees the other.
    private static let waitingHolders = HoldCounter()

    // MARK: Requesting

    enum RequestResult {
        case granted
        case waiting
        /// The operation has ended.
        case withdrawn
        /// The exclusions can never be granted, because the operation's own ancestors have a smaller limit for the
        /// name.
        case impossible(Misuse)
    }

    /// Requests the exclusions of a run for an operation that a worker has dequeued. If the result is
    /// ``RequestResult/waiting``, the caller must not use the operation any more.
    static func request(
        _ exclusions: ExclusionSet, for operation: Unretained<AnyOperation>, inside holder: AnyOperation?
    ) -> RequestResult {
        let (placement, request) = operation.use { operation in
            // The number cannot change meanwhile, because only this worker requests exclusions for the operation.
            let request =
                operation.isObserved ? operation.withLifecycle { $0.optionalState?.preconditions.requests } : nil
            return (place(exclusions, for: operation, inside: holder, reportsOwnConflict: true), request)
        }
        if let (name, holder) = placement.obstacle, let operation = placement.operation, let request {
            operation.publishExcluded(by: holder.reference, from: name, in: request)
        }
        if placement.mayDeadlock, let origin = placement.operation { Deadlocks.break(through: origin) }
        return placement.result
    }

    /// Returns when the exclusions are held, or with an error when they can never be granted. Also returns when the
    /// operation has been cancelled. The caller calls ``release(by:)`` afterwards in any case.
    nonisolated(nonsending) static func hold(
        _ exclusions: ExclusionSet, whileEvaluating operation: AnyOperation
    ) async -> OperationError? {
        let holder = operation.withLifecycle { $0.optionalState?.exclusionHolder }
        let error = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<OperationError?, Never>) in
                operation.withLifecycle { $0.optionalState?.preconditions.evaluationWaits(continuation) }
                let placement = place(exclusions, for: operation, inside: holder)
                switch placement.result {
                case .granted, .withdrawn: operation.wakeEvaluation()
                case .waiting:
                    // A cancellation may have come before there was a claim to withdraw. A later cancellation finds the
                    // claim.
                    if operation.isCancelled {
                        operation.wakeEvaluation(withdrawing: true)
                    } else if placement.mayDeadlock {
                        Deadlocks.break(through: operation)
                    }
                case .impossible(let misuse):
                    operation.wakeEvaluation(with: .misuse(misuse))
                }
            }
        } onCancel: {
            operation.wakeEvaluation(withdrawing: true)
        }
        TSanAnnotations.didAwait(operation)
        return error
    }

    private struct Placement {
        var result: RequestResult
        /// The conflict with another operation that has a different limit for the same name.
        var conflict: (conflict: LimitConflict, owner: AnyOperation?)?
        /// True if the conflict keeps the operation from ever holding its exclusions.
        var isImpossible = false
        var mayDeadlock = false
        /// The exclusion that keeps the operation waiting, for its observers.
        var obstacle: (name: ExclusionName, holder: AnyOperation)?
        /// The operation if there is more to do with it, retained because a waiting operation may be released at any
        /// moment.
        var operation: AnyOperation?
    }

    private static func place(
        _ exclusions: ExclusionSet, for operation: AnyOperation, inside holder: AnyOperation?,
        reportsOwnConflict: Bool = false
    ) -> Placement {
        let exclusions = operation.core?.resolve(exclusions) ?? exclusions
        if reportsOwnConflict { operation.reportConflict(in: exclusions) }
        // This comes first, because it takes constant time however deep the operation is nested.
        if holder != nil, state.withLock({ $0.grantIfFree(exclusions, to: operation) }) {
            return Placement(result: .granted)
        }
        let scope = holder?.enclosingHolders ?? []
        let isFurtherAttempt = operation.comesFirstInQueues
        var placement = state.withLock {
            $0.place(exclusions, for: operation, inside: scope, isFurtherAttempt: isFurtherAttempt)
        }
        if let (conflict, owner) = placement.conflict, let operation = placement.operation {
            let site = conflict.other.site
            let other = owner.map { "by \($0.reference)\(site.suffix)" } ?? site.text
            let effect = placement.isImpossible ? ", too few for it beside what its parents hold" : ""
            let misuse = operation.misuse(conflict, with: other + effect)
            if placement.isImpossible { placement.result = .impossible(misuse) } else { operation.report(misuse) }
        }
        return placement
    }

    // MARK: Inspection

    static var mayDeadlock: Bool { !waitingHolders.isZero }

    /// The exclusion that keeps the operation waiting, and an operation that holds it or came before.
    static func obstacle(for operation: AnyOperation) -> (name: ExclusionName, holder: AnyOperation)? {
        state.withLock { $0.machine.obstacle(for: operation) }
    }

    /// Returns true if nobody holds the name or waits for it.
    static func isFree(_ name: ExclusionName) -> Bool { state.withLock { $0.machine.isFree(name) } }

    /// The wait of an operation for exclusions.
    struct Wait {
        let arrival: UInt64
        /// Some of the holders that keep the operation waiting.
        let holders: [AnyOperation]
        /// True if claims before it in a wait queue keep the operation waiting as well.
        let isBehindOthers: Bool
    }

    /// Returns the wait of the operation, or nil if it waits for no exclusions.
    static func wait(of operation: AnyOperation, upTo limit: Int) -> Wait? {
        state.withLock { state in
            guard case .waiting = state.machine.claimState(of: operation),
                let arrival = state.machine.arrival(of: operation)
            else { return nil }
            return Wait(
                arrival: arrival, holders: state.machine.blockers(of: operation, upTo: limit),
                isBehindOthers: state.machine.isQueuedBehindOthers(operation))
        }
    }

    /// See ``ExclusionStateMachine/isQueuedAsFurtherAttempt(_:)``.
    static func isQueuedAsFurtherAttempt(_ operation: AnyOperation) -> Bool {
        state.withLock { $0.machine.isQueuedAsFurtherAttempt(operation) }
    }

    /// See ``ExclusionStateMachine/isQueued(_:behind:)``.
    static func isQueued(_ operation: AnyOperation, behind other: AnyOperation) -> Bool {
        state.withLock { $0.machine.isQueued(operation, behind: other) }
    }

    /// See ``ExclusionStateMachine/possibleBlockers(of:within:)``.
    static func possibleBlockers(
        of operation: AnyOperation, within search: inout ExclusionTable.BlockerSearch
    ) -> [AnyOperation] {
        state.withLock { $0.machine.possibleBlockers(of: operation, within: &search) }
    }

    /// See ``ExclusionStateMachine/possiblyBlocked(by:within:)``.
    static func possiblyBlocked(
        by operation: AnyOperation, within search: inout ExclusionTable.BlockerSearch
    ) -> [AnyOperation] {
        state.withLock { $0.machine.possiblyBlocked(by: operation, within: &search) }
    }

    /// Returns true if a waiting operation would get its exclusions if `others` were the only holders and nobody came
    /// before it.
    static func fits(_ operation: AnyOperation, beside others: Set<ObjectIdentifier>) -> Bool {
        state.withLock { $0.machine.fits(operation, beside: others) }
    }

    /// A copy of the state machine, which the caller may change, or nil if it has more claims than `limit`. The next
    /// change of the original copies it under the lock, so use this method rarely.
    static func snapshot(maxClaims limit: Int) -> ExclusionStateMachine<AnyOperation>? {
        state.withLock { $0.machine.count <= limit ? $0.machine : nil }
    }

    /// Takes the operation out of its wait queues, so that it waits only for holders and delays no claim behind it.
    /// Returns false if it was in no wait queue.
    static func leaveQueues(_ operation: AnyOperation) -> Bool {
        let (wasQueued, granted) = state.withLock { state -> (Bool, [AnyOperation]) in
            guard state.machine.claimState(of: operation) == .waiting(isQueued: true) else { return (false, []) }
            return (true, state.machine.leaveQueues(operation))
        }
        notifyGranted(granted)
        return wasQueued
    }

    /// Called by the worker whose request is impossible, if it finds that the operation has ended in between.
    static func endedInBetween(_ operation: AnyOperation) {
        state.withLock { state in
            if state.endedBeforeRequest.remove(ObjectIdentifier(operation)) == nil {
                state.impossibleRequests.insert(ObjectIdentifier(operation))
            }
        }
    }

    // MARK: Releasing

    /// Releases what an evaluation holds or waits for, or what an operation holds that may not start now.
    static func release(by operation: AnyOperation) { notifyGranted(releaseReturningGranted(by: operation)) }

    /// Releases what an operation holds, or withdraws what it waits for, because the operation has ended.
    static func release(atEndOf operation: AnyOperation) { notifyGranted(releaseReturningGranted(atEndOf: operation)) }

    /// Does the same as ``release(by:)``, but returns the operations whose claims were granted, for the caller to pass
    /// to ``notifyGranted(_:)``.
    static func releaseReturningGranted(by operation: AnyOperation) -> [AnyOperation] {
        endHolding(operation)
        return state.withLock { $0.machine.release(operation).granted }
    }

    /// Does the same as ``release(atEndOf:)``, but returns the operations whose claims were granted, for the caller to
    /// pass to ``notifyGranted(_:)``.
    static func releaseReturningGranted(atEndOf operation: AnyOperation) -> [AnyOperation] {
        endHolding(operation)
        let (wasWaiting, granted) = state.withLock { state in
            let released = state.machine.release(operation)
            switch released.claim {
            case .held: return (false, released.granted)
            case .waiting: return (true, released.granted)
            // A worker is about to request the exclusions, or its request was impossible and it has found the end.
            case .none:
                if state.impossibleRequests.remove(ObjectIdentifier(operation)) == nil {
                    state.endedBeforeRequest.insert(ObjectIdentifier(operation))
                }
                return (false, [])
            }
        }
        if wasWaiting { Retained(handedOver: operation).release() }
        return granted
    }

    private static func endHolding(_ operation: AnyOperation) {
        let hasWaited = operation.withLifecycle { $0.optionalState?.preconditions.endHolding() ?? false }
        if hasWaited { _ = waitingHolders.end() }
    }

    /// Counts a body or an evaluation that holds exclusions, at its first wait. Called in the locked step that records
    /// the wait, so it precedes the search from the wait and the decrement in ``endHolding(_:)``. The count is never
    /// too small.
    static func noteHolderWait() { waitingHolders.begin() }

    /// Tells operations that their claims were granted. The operations are not retained meanwhile: once one is listed,
    /// it may run, and its queue may become idle.
    ///
    /// This is a loop, because an operation whose queue is suspended releases its exclusions at once, to the next
    /// claim, whose queue may be suspended as well.
    static func notifyGranted(_ granted: consuming [AnyOperation]) {
        if granted.isEmpty { return }
        var notifications = granted.map(GrantNotification.init)
        granted = []
        while !notifications.isEmpty {
            var next: [GrantNotification] = []
            for notification in notifications { next += notification.perform().map(GrantNotification.init) }
            notifications = next
        }
    }

    private enum GrantNotification {
        /// Carries the queue's reference to the operation.
        case run(Unretained<AnyOperation>, QueueCore)
        case evaluate(UnsafeContinuation<OperationError?, Never>)
        case release(Unretained<AnyOperation>)
        case nothing

        init(_ operation: AnyOperation) {
            self = operation.withLifecycle { life in
                switch life.grantExclusions() {
                case .toRun:
                    life.note(.granted)
                    return .run(Unretained(operation), operation.core!)
                case .toEvaluate(let continuation): return .evaluate(continuation)
                case .ended: return .release(Unretained(operation))
                case .alreadyResumed: return .nothing
                }
            }
            TSanAnnotations.willResume(operation)
        }

        /// Returns the operations whose claims were granted because this operation released its exclusions.
        func perform() -> [AnyOperation] {
            switch self {
            case .run(let operation, let core):
                operation.use { if $0.isObserved { $0.publishEvents() } }
                return core.requeue(withExclusions: operation)
            case .evaluate(let continuation): continuation.resume(returning: nil)
            case .release(let operation): Retained(handedOver: operation).release()
            case .nothing: break
            }
            return []
        }
    }
}

extension AnyOperation {
    /// - Parameter other: A part of the sentence that says who has given the other limit, and where.
    fileprivate final func misuse(_ conflict: LimitConflict, with other: String) -> Misuse {
        let kind = Misuse.Kind.conflictingLimits(
            name: "\(conflict.name)", limit: conflict.limit.limit, other: conflict.other.limit)
        return Misuse(
            kind, operation: reference, declaredAt: conflict.limit.site, other: other)
    }

    /// Reports two limits that this operation has given for one name, before its first attempt.
    fileprivate final func reportConflict(in exclusions: ExclusionSet) {
        guard let conflict = exclusions.conflict, withLifecycle({ ($0.optionalState?.timing?.attempt ?? 0) == 0 })
        else {
            return
        }
        report(misuse(conflict, with: "by the same operation\(conflict.other.site.suffix)"))
    }

    /// The further attempts of an operation that come before first attempts of others that wait for the same
    /// exclusions. The number is limited, because an operation may fail and try again without end.
    private static let attemptsThatComeFirst: ClosedRange<Int32> = 1...16

    /// True if the exclusions are for a further attempt that comes before first attempts.
    fileprivate final var comesFirstInQueues: Bool {
        withLifecycle { Self.attemptsThatComeFirst.contains($0.optionalState?.timing?.attempt ?? 0) }
    }

    /// This holder and the holders of exclusions inside which it runs, the nearest first.
    fileprivate final var enclosingHolders: [AnyOperation] {
        var all = [self]
        while let next = all[all.count - 1].withLifecycle({ $0.optionalState?.exclusionHolder }) { all.append(next) }
        return all
    }

    /// The nearest operation with exclusions inside which the children of this operation run.
    final var exclusionHolderForChildren: AnyOperation? {
        withLifecycle { life in
            guard let optionalState = life.optionalState else { return nil }
            return optionalState.preconditions.claimState == .held ? self : optionalState.exclusionHolder
        }
    }

    /// Ends the evaluation's wait for exclusions. With `withdrawing` the claim is withdrawn at once, and not when the
    /// task goes on, because searches for deadlocks would find it meanwhile.
    fileprivate final func wakeEvaluation(with error: OperationError? = nil, withdrawing: Bool = false) {
        // The claim is withdrawn before the continuation is taken. Otherwise a search could find a claim that nobody
        // waits for, and could not end it.
        if withdrawing { ExclusionManager.release(by: self) }
        let continuation = withLifecycle { $0.optionalState?.preconditions.takeWaitingEvaluation() }
        guard let continuation else { return }
        TSanAnnotations.willResume(self)
        continuation.resume(returning: error)
    }
}
