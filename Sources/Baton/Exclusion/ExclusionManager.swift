import Synchronization

/// The names that operations hold or wait for, in the whole process: ``ExclusionStateMachine`` behind its lock, and
/// what follows from its answers.
///
/// An operation that waits for the names of its run is in no list and on no task: its claim keeps the reference that is
/// the queue's. Whoever takes the claim from the state machine, by a grant or by withdrawing it, has that reference
/// from then on.
enum ExclusionManager {
    private struct State {
        var machine = ExclusionStateMachine<AnyOperation>()
        /// Ended between the worker's decision to ask for names and the asking: the worker finds it here.
        var ended: Set<ObjectIdentifier> = []
        /// The worker has asked, in vain, and found the end; whoever brings it will find this.
        var askedInVain: Set<ObjectIdentifier> = []

        /// Grants names that nobody holds or waits for, for which it does not matter inside whom the operation runs.
        /// False: they are not granted so, and there is more to look at.
        mutating func grantIfFree(_ exclusions: ExclusionSet, to operation: AnyOperation) -> Bool {
            guard ended.isEmpty, exclusions.allSatisfy({ machine.isFree($0.name) }) else { return false }
            return machine.request(operation, exclusions, inside: []) == .granted
        }

        mutating func place(
            _ exclusions: ExclusionSet, for operation: AnyOperation, inside scope: [AnyOperation],
            isFurtherAttempt: Bool
        ) -> Placed {
            if !ended.isEmpty, ended.remove(ObjectIdentifier(operation)) != nil { return Placed(answer: .withdrawn) }
            let conflict = machine.conflictingLimit(for: exclusions).map { conflict in
                Misuse.Kind.conflictingLimits(
                    name: "\(conflict.name)", limit: conflict.limit, other: conflict.otherLimit)
            }
            switch machine.request(operation, exclusions, inside: scope, isFurtherAttempt: isFurtherAttempt) {
            case .granted:
                return Placed(answer: .granted, conflict: conflict, operation: conflict == nil ? nil : operation)
            case .waiting:
                // Its own ancestors would leave it no room when all others have gone.
                if let conflict, !scope.isEmpty,
                    !machine.fits(operation, beside: Set(scope.map { ObjectIdentifier($0) }))
                {
                    _ = machine.release(operation)
                    return Placed(answer: .impossible(conflict))
                }
                let mayDeadlock = ExclusionManager.mayDeadlock
                let isObserved = operation.isObserved
                return Placed(
                    answer: .waiting, conflict: conflict, mayDeadlock: mayDeadlock,
                    obstacle: isObserved ? machine.obstacle(for: operation) : nil,
                    operation: mayDeadlock || conflict != nil || isObserved ? operation : nil)
            }
        }
    }

    private static let state = Locked(State())

    /// Bodies and evaluations that hold names and have waited for other operations. Without any there is no deadlock to
    /// be looked for.
    ///
    /// It is raised before such a wait is searched through, and read in the locked step in which a claim begins to
    /// wait: of the two, the one that comes second sees the other.
    private static let waitingHolders = Atomic<Int>(0)

    // MARK: Asking

    enum Answer {
        case granted
        case waiting
        /// Its end has come.
        case withdrawn
        /// Its own ancestors keep it from ever being granted, because they limit the name to less.
        case impossible(Misuse.Kind)
    }

    /// For the run of one that a worker has taken up. When it waits, the caller does not touch it any more.
    static func request(
        _ exclusions: ExclusionSet, for operation: Unmanaged<AnyOperation>, inside holder: AnyOperation?
    ) -> Answer {
        let (placed, request) = operation._withUnsafeGuaranteedRef { operation in
            // Nobody but this worker asks for it.
            let request = operation.isObserved ? operation.withLife { $0.optionalState?.preconditions.requests } : nil
            return (place(exclusions, for: operation, inside: holder), request)
        }
        if let (name, holder) = placed.obstacle, let operation = placed.operation, let request {
            operation.tellExcluded(by: holder.reference, from: name, in: request)
        }
        if placed.mayDeadlock, let origin = placed.operation { Deadlocks.break(through: origin) }
        return placed.answer
    }

    /// Returns when the names are held, or with an error when they never will be, or when the operation has been
    /// cancelled. To be followed by ``giveBack(by:)`` in any case.
    nonisolated(nonsending) static func hold(
        _ exclusions: ExclusionSet, whileEvaluating operation: AnyOperation
    ) async -> OperationError? {
        let holder = operation.withLife { $0.optionalState?.nameHolder }
        let error = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<OperationError?, Never>) in
                operation.withLife { $0.optionalState?.preconditions.evaluationWaits(continuation) }
                let placed = place(exclusions, for: operation, inside: holder)
                switch placed.answer {
                case .granted, .withdrawn: operation.wakeEvaluation()
                case .waiting:
                    // A cancel may have come before there was anything to withdraw. One that comes later finds the
                    // claim.
                    if operation.isCancelled {
                        operation.wakeEvaluation(withdrawing: true)
                    } else if placed.mayDeadlock {
                        Deadlocks.break(through: operation)
                    }
                case .impossible(let misuse):
                    operation.wakeEvaluation(with: .misuse(Misuse(misuse, operation: operation.reference)))
                }
            }
        } onCancel: {
            operation.wakeEvaluation(withdrawing: true)
        }
        TSanAnnotations.didAwait(operation)
        return error
    }

    private struct Placed {
        var answer: Answer
        /// Somebody limits a name to another number.
        var conflict: Misuse.Kind?
        var mayDeadlock = false
        /// For those who observe the operation, if it waits.
        var obstacle: (name: ExclusionName, holder: AnyOperation)?
        /// Retained if there is more to do: one that waits may be gone at any moment.
        var operation: AnyOperation?
    }

    private static func place(
        _ exclusions: ExclusionSet, for operation: AnyOperation, inside holder: AnyOperation?
    ) -> Placed {
        let exclusions = operation.core?.resolve(exclusions) ?? exclusions
        // First, because it takes no time in proportion to how deep the operation is nested.
        if holder != nil, state.withLock({ $0.grantIfFree(exclusions, to: operation) }) {
            return Placed(answer: .granted)
        }
        let scope = holder?.holdersAround ?? []
        let isFurtherAttempt = operation.comesFirstInLines
        let placed = state.withLock {
            $0.place(exclusions, for: operation, inside: scope, isFurtherAttempt: isFurtherAttempt)
        }
        if let conflict = placed.conflict, let operation = placed.operation {
            operation.report(Misuse(conflict, operation: operation.reference))
        }
        return placed
    }

    // MARK: Looking

    static var mayDeadlock: Bool { waitingHolders.load(ordering: .relaxed) > 0 }

    /// What keeps it from the names that it waits for: a name, and who holds it or came before.
    static func obstacle(for operation: AnyOperation) -> (name: ExclusionName, holder: AnyOperation)? {
        state.withLock { $0.machine.obstacle(for: operation) }
    }

    /// Nobody holds it or waits for it.
    static func isFree(_ name: ExclusionName) -> Bool { state.withLock { $0.machine.isFree(name) } }

    /// What is to be known of one that waits for names.
    struct Wait {
        let arrival: UInt64
        /// Some of those in its way.
        let holders: [AnyOperation]
        /// Lines are in its way, too.
        let isBehindOthers: Bool
    }

    /// Nil: it waits for no names.
    static func wait(of operation: AnyOperation, upTo limit: Int) -> Wait? {
        state.withLock { state in
            guard case .waiting = state.machine.standing(of: operation),
                let arrival = state.machine.arrival(of: operation)
            else { return nil }
            return Wait(
                arrival: arrival, holders: state.machine.blockers(of: operation, upTo: limit),
                isBehindOthers: state.machine.standsBehindOthers(operation))
        }
    }

    /// See ``Arbiter/possibleBlockers(of:within:)``.
    static func possibleBlockers(
        of operation: AnyOperation, within extent: inout ExclusionTable.Extent
    ) -> [AnyOperation] {
        state.withLock { $0.machine.possibleBlockers(of: operation, within: &extent) }
    }

    /// See ``Arbiter/possiblyBlocked(by:within:)``.
    static func possiblyBlocked(
        by operation: AnyOperation, within extent: inout ExclusionTable.Extent
    ) -> [AnyOperation] {
        state.withLock { $0.machine.possiblyBlocked(by: operation, within: &extent) }
    }

    /// Whether one that waits for names would get them if of their holders these alone were left, and nobody came
    /// before it.
    static func fits(_ operation: AnyOperation, beside others: Set<ObjectIdentifier>) -> Bool {
        state.withLock { $0.machine.fits(operation, beside: others) }
    }

    /// A copy, to be changed at will. Whoever changes the original next copies it under the lock: it is for what is
    /// seldom done. Nil: it is larger than that.
    static func books(upTo limit: Int) -> ExclusionStateMachine<AnyOperation>? {
        state.withLock { $0.machine.count <= limit ? $0.machine : nil }
    }

    /// It waits in no line any more, and nobody behind it. False: it stood in none.
    static func leaveLine(_ operation: AnyOperation) -> Bool {
        let (wasInLine, granted) = state.withLock { state -> (Bool, [AnyOperation]) in
            guard state.machine.standing(of: operation) == .waiting(inLine: true) else { return (false, []) }
            return (true, state.machine.leaveLine(operation))
        }
        handOut(granted)
        return wasInLine
    }

    /// From the worker that asked in vain, and found that the operation's end had come in between.
    static func endedInBetween(_ operation: AnyOperation) {
        state.withLock { state in
            if state.ended.remove(ObjectIdentifier(operation)) == nil {
                state.askedInVain.insert(ObjectIdentifier(operation))
            }
        }
    }

    // MARK: Giving back

    /// Gives back what an evaluation holds or waits for, or what one holds that may not start now.
    static func giveBack(by operation: AnyOperation) { handOut(reclaim(from: operation)) }

    /// Gives back what it holds, or withdraws what it waits for: it has ended, after its run or before.
    static func giveBack(atEndOf operation: AnyOperation) { handOut(reclaim(atEndOf: operation)) }

    /// As ``giveBack(by:)``. Returns who is granted something because of it, to be told with ``handOut(_:)``.
    static func reclaim(from operation: AnyOperation) -> [AnyOperation] {
        endHolding(operation)
        return state.withLock { $0.machine.release(operation).granted }
    }

    /// As ``giveBack(atEndOf:)``. Returns who is granted something because of it, to be told with ``handOut(_:)``.
    static func reclaim(atEndOf operation: AnyOperation) -> [AnyOperation] {
        endHolding(operation)
        let (wasWaiting, granted) = state.withLock { state in
            let released = state.machine.release(operation)
            switch released.claim {
            case .held: return (false, released.granted)
            case .waiting: return (true, released.granted)
            // A worker is about to ask, or has asked in vain.
            case .none:
                if state.askedInVain.remove(ObjectIdentifier(operation)) == nil {
                    state.ended.insert(ObjectIdentifier(operation))
                }
                return (false, [])
            }
        }
        if wasWaiting { Unmanaged.passUnretained(operation).release() }
        return granted
    }

    private static func endHolding(_ operation: AnyOperation) {
        let hasWaited = operation.withLife { $0.optionalState?.preconditions.endHolding() ?? false }
        if hasWaited { waitingHolders.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Called with the first wait of a body or an evaluation that holds names, in the locked step in which that is
    /// noted: so it comes before the wait is searched through, and before ``endHolding(_:)`` takes it back, and the
    /// count is never too small.
    static func holderWaits() { waitingHolders.wrappingAdd(1, ordering: .relaxed) }

    /// Tells operations that they have got what they asked for. They are not retained while they are told: once listed,
    /// one may run, and its queue be idle.
    ///
    /// In a loop: one whose queue is suspended gives back at once, to the next in line, whose queue may be the same.
    static func handOut(_ granted: consuming [AnyOperation]) {
        if granted.isEmpty { return }
        var news = granted.map(News.init)
        granted = []
        while !news.isEmpty {
            var next: [News] = []
            for one in news { next += one.tell().map(News.init) }
            news = next
        }
    }

    private enum News {
        /// With the reference that is the queue's.
        case run(Unmanaged<AnyOperation>, QueueCore)
        case evaluate(UnsafeContinuation<OperationError?, Never>)
        case release(Unmanaged<AnyOperation>)
        case nothing

        init(_ operation: AnyOperation) {
            self = operation.withLife { life in
                switch life.namesAreGranted() {
                case .toRun:
                    life.note(.granted)
                    return .run(.passUnretained(operation), operation.core!)
                case .toEvaluate(let continuation): return .evaluate(continuation)
                case .ended: return .release(.passUnretained(operation))
                case .unwanted: return .nothing
                }
            }
            TSanAnnotations.willResume(operation)
        }

        /// Returns who is granted something because of it.
        func tell() -> [AnyOperation] {
            switch self {
            case .run(let operation, let core):
                operation._withUnsafeGuaranteedRef { if $0.isObserved { $0.tellEvents() } }
                return core.listAgain(withNames: operation)
            case .evaluate(let continuation): continuation.resume(returning: nil)
            case .release(let operation): operation.release()
            case .nothing: break
            }
            return []
        }
    }
}

extension AnyOperation {
    /// How many further attempts of an operation come before the first ones of others that wait for the same names.
    /// There is an end to it, because an operation may fail and try again without one.
    private static let attemptsThatComeFirst: ClosedRange<Int32> = 1...16

    /// The names are for a further attempt.
    fileprivate final var comesFirstInLines: Bool {
        withLife { Self.attemptsThatComeFirst.contains($0.optionalState?.timing?.attempt ?? 0) }
    }

    /// The operations that hold names and inside which one with this nearest holder runs: the nearest first.
    fileprivate final var holdersAround: [AnyOperation] {
        var all = [self]
        while let next = all[all.count - 1].withLife({ $0.optionalState?.nameHolder }) { all.append(next) }
        return all
    }

    /// What its children run inside of.
    final var nameScope: AnyOperation? {
        withLife { life in
            guard let optionalState = life.optionalState else { return nil }
            return optionalState.preconditions.standing == .held ? self : optionalState.nameHolder
        }
    }

    /// It does not wait for names any more. Its claim is withdrawn at once, not when its task goes on: whoever searches
    /// for deadlocks would meet it meanwhile.
    fileprivate final func wakeEvaluation(with error: OperationError? = nil, withdrawing: Bool = false) {
        // First: a claim that nobody waits for would be met by whoever searches, and could not be ended.
        if withdrawing { ExclusionManager.giveBack(by: self) }
        let continuation = withLife { $0.optionalState?.preconditions.takeWaitingEvaluation() }
        guard let continuation else { return }
        TSanAnnotations.willResume(self)
        continuation.resume(returning: error)
    }
}
