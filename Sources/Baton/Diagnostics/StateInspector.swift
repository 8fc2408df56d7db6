/// An operation that another operation waits for, and the reason for the wait.
public struct OperationWait: Sendable, Hashable, Codable {
    /// The reason why an operation waits for another one, the source.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The waiting operation reads the output of the source.
        case input
        /// The source is a dependency whose output is not an input.
        case order
        /// The source is a barrier of the queue that was added earlier.
        case barrier
        /// The waiting operation runs the source: with `context.run`, as a child of a group, or for a condition.
        case child
        /// The body, a handler or a condition of the waiting operation awaits the outcome of the source.
        case awaited
        /// The source is made for an element of a sequence that the body of the waiting operation iterates.
        case element
        /// The waiting operation is a duplicate of the source and shares its outcome.
        case original
        /// The waiting operation has replaced the source, and starts after the source has finished.
        case replaced
        /// The source holds an exclusion that the waiting operation needs, or came before it in the queue for the
        /// exclusion.
        case exclusion
    }

    /// The reason for the wait.
    public let kind: Kind
    /// The operation that is waited for.
    public let source: OperationReference
    /// The name of the exclusion, if the wait is for one.
    public let exclusion: String?
}

extension OperationWait: CustomStringConvertible {
    /// The name of the obstacle: "‘download’", "the barrier ‘commit’" or "the exclusion ‘disk’, after ‘copy’", for
    /// example.
    public var description: String { ExplanationFormatter.brief([self]).singleLine }
}

/// The internal form of ``OperationWait``, which retains the source so that it can be followed.
struct Wait {
    let kind: OperationWait.Kind
    let source: AnyOperation
    var exclusion: ExclusionName?

    var publicValue: OperationWait {
        OperationWait(kind: kind, source: source.reference, exclusion: exclusion.map { "\($0)" })
    }
}

extension AnyOperation {
    /// All operations that this one waits for, finished ones included. Empty if nobody has added this operation.
    final var waits: [Wait] {
        var (waits, groups, listeners, replacement) = withLifecycle {
            life -> ([Wait], [ChildGroup], [any OutcomeListener], Deduplication.EntryNumber?) in
            switch life.phase {
            case .created, .finished: return ([], [], [], nil)
            case .added:
                guard life.optionalState?.endAfterLinking == nil else { return ([], [], [], nil) }
                let uniqueness = life.optionalState?.uniqueness
                let hasJoined = uniqueness?.joined != nil
                let inputCount = hasJoined ? 0 : life.inputCount
                let waits = edges.all.enumerated().map { place, source in
                    Wait(kind: place < inputCount ? .input : hasJoined ? .original : .order, source: source)
                }
                return (waits, [], [], uniqueness?.policy == .replace ? uniqueness?.place : nil)
            case .evaluating, .executing, .finishing:
                guard let optionalState = life.optionalState else { return ([], [], [], nil) }
                let waits = optionalState.awaited.map {
                    Wait(kind: $0.isChild ? .child : .awaited, source: $0.operation)
                }
                return (waits, optionalState.childGroups, optionalState.allListeners, nil)
            }
        }
        if let replacement {
            waits = waits.map { $0.source.hasIdentity(at: replacement) ? Wait(kind: .replaced, source: $0.source) : $0 }
        }
        if waits.contains(where: { $0.source.isFence }) {
            waits = waits.flatMap { wait in (wait.source as? Fence)?.underlyingWaits ?? [wait] }
        }
        return waits + groups.flatMap(\.waitsFor).map { Wait(kind: .child, source: $0) }
            + listeners.flatMap { listener in listener.waitsFor.map { Wait(kind: listener.kindOfWait, source: $0) } }
    }

    private final func hasIdentity(at place: Deduplication.EntryNumber) -> Bool {
        withLifecycle { $0.optionalState?.uniqueness?.place == place }
    }
}

// MARK: - Inspection

/// Inspects operations and their queues. It caches what it reads of queues, rates and clocks, so that many operations
/// of one queue can be inspected in linear time. It is used without holding a lock.
struct StateInspector {
    private struct QueueView {
        let core: QueueCore
        let scheduler: (width: Int, isFull: Bool, isSuspended: Bool, suspendsFurtherAttempts: Bool)
        /// The first few operations that hold permits; `nil` until somebody needs them.
        var running: [OperationReference]?
        var now: Duration?
        /// The time on the clock of the queue's events.
        var eventNow: Duration?

        var reference: QueueReference { QueueReference(name: core.name, number: core.number) }

        init(_ core: QueueCore) {
            self.core = core
            scheduler = core.state.withLock { state in
                let scheduler = state.scheduler
                return (
                    scheduler.width, scheduler.running >= scheduler.width, scheduler.isSuspended,
                    scheduler.suspendsFurtherAttempts
                )
            }
        }
    }

    private var queueViews: [ObjectIdentifier: QueueView] = [:]
    private var rates: [RateTable.Key: (view: RateTable.View, now: Duration)] = [:]
    /// The queue of a stall report, and for how long nothing has started in it.
    private let quiet: (queue: QueueCore, time: Duration)?

    init(quiet: (queue: QueueCore, time: Duration)? = nil) { self.quiet = quiet }

    // MARK: Waits

    /// Returns the unfinished operations that this one waits for, each once.
    func waits(of operation: AnyOperation) -> [Wait] {
        let hasPreconditions = operation.withLifecycle { $0.optionalState?.preconditions.areNone == false }
        var seen: Set<ObjectIdentifier> = []
        var waits = operation.waits.filter { wait in
            !wait.source.hasFinished && seen.insert(ObjectIdentifier(wait.source)).inserted
        }
        if hasPreconditions, waits.isEmpty, let (name, holder) = ExclusionManager.obstacle(for: operation) {
            waits.append(Wait(kind: .exclusion, source: holder, exclusion: name))
        }
        return waits
    }

    // MARK: Causes

    /// Returns why the operation has not finished, or how it has finished. The operation must not wait for another one.
    mutating func cause(of operation: AnyOperation) -> Explanation.Cause {
        let view = operation.withLifecycle { OperationView($0, at: operation) }
        switch view.phase {
        case .created: return view.kinship == .childOfPlannedGroup ? .awaitingGroup : .notAdded
        case .finished: return .finished(operation.outcomeKind)
        case .added:
            guard let core = view.core else { return .starting }
            if let pause = view.pause { return cause(of: pause, on: core) }
            if view.hasRates, let cause = causeOfRateWait(of: operation) { return cause }
            return causeOfQueueWait(in: core, goesFirst: view.goesFirst)
        case .evaluating: return .evaluating(conditions: view.conditions.all.map(\.condition.name))
        case .executing, .finishing:
            // An operation that ends before a queue has taken it only has handlers left to run.
            guard let core = view.core else { return view.phase == .finishing ? .finishing : .starting }
            if view.hasReleasedPermit {
                if view.listeners.contains(where: \.awaitsMore) { return .awaitingElement }
                if view.listeners.isEmpty || view.phase == .executing { return causeOfPermitWait(in: core) }
            }
            if view.phase == .finishing { return .finishing }
            let time = time(of: view, operation)
            let run = Explanation.Run(attempt: view.attempt, time: time, isCancelled: view.isCancelled)
            return view.awaitsCallback ? .awaitingCallback(run) : .executing(run)
        }
    }

    /// Returns the queue of an operation with this cause, if the queue is suspended and the operation runs or waits for
    /// its next attempt nevertheless, because the queue does not suspend further attempts.
    mutating func suspendedQueueIgnored(by operation: AnyOperation, with cause: Explanation.Cause) -> QueueReference? {
        switch cause {
        case .retrying: break
        case .executing(let run), .awaitingCallback(let run): if run.attempt == 1 { return nil }
        case .notAdded, .awaitingGroup, .queueSuspended, .queueFull, .starting, .delayed, .repeating, .evaluating,
            .excluded, .waitingForRate, .awaitingElement, .waitingForPermit, .finishing, .finished:
            return nil
        }
        guard let core = operation.withLifecycle({ $0.isUnderWay ? operation.core : nil }) else { return nil }
        let view = view(of: core)
        return view.scheduler.isSuspended && !view.scheduler.suspendsFurtherAttempts ? view.reference : nil
    }

    private mutating func causeOfQueueWait(in core: QueueCore, goesFirst: Bool) -> Explanation.Cause {
        let view = view(of: core)
        if view.scheduler.isSuspended, !goesFirst { return .queueSuspended(view.reference) }
        if !view.scheduler.isFull { return .starting }
        return .queueFull(busyQueue(view, core))
    }

    /// Returns the rate with the longest wait, or `nil` if the operation waits for no rate.
    private mutating func causeOfRateWait(of operation: AnyOperation) -> Explanation.Cause? {
        var longest: (rate: Rate, left: Duration, behind: Int)?
        for (key, rate, arrival) in RateManager.places(of: operation) {
            if rates[key] == nil, let view = RateManager.view(of: key) { rates[key] = (view, view.time.now) }
            guard let (view, now) = rates[key] else { continue }
            let turn = view.turn(of: arrival)
            let left = max(.zero, turn.time - now)
            if longest.map({ $0.left < left }) ?? true { longest = (rate, left, turn.behind) }
        }
        return longest.map { .waitingForRate("\($0.rate)", timeLeft: $0.left, behind: $0.behind) }
    }

    private mutating func causeOfPermitWait(in core: QueueCore) -> Explanation.Cause {
        let view = view(of: core)
        return .waitingForPermit(busyQueue(view, core))
    }

    private mutating func busyQueue(_ view: QueueView, _ core: QueueCore) -> Explanation.BusyQueue {
        Explanation.BusyQueue(queue: view.reference, width: view.scheduler.width, running: running(in: core))
    }

    private mutating func cause(of pause: OperationView.Pause, on core: QueueCore) -> Explanation.Cause {
        let now = now(of: core)
        // The end of the pause is unknown if a thread is about to set the timer, or if the pause has just ended.
        func left(until end: Duration?) -> Duration { max(.zero, (end ?? now) - now) }
        return switch pause {
        case .delay(let end): .delayed(timeLeft: left(until: end))
        case .attempt(let number, let end, let error):
            .retrying(attempt: number, timeLeft: left(until: end), lastError: "\(error)")
        case .repetition(let end): .repeating(timeLeft: left(until: end))
        }
    }

    /// Returns how long the body has run, or `nil` if its start was not recorded.
    // MARK: Waits in brief

    /// Returns what an operation that has not begun waits for, as the end of a sentence; nil if it is about to start.
    ///
    /// Costs little even if many operations of a queue are asked, because it does not read the other operations of
    /// the queue.
    mutating func waitInBrief(of operation: AnyOperation) -> String? {
        let waits = waits(of: operation)
        if !waits.isEmpty { return ExplanationFormatter.brief(waits.map(\.publicValue)) }
        let view = operation.withLifecycle { OperationView($0, at: operation) }
        switch view.phase {
        case .evaluating: return ExplanationFormatter.answers(of: view.conditions.all.map(\.condition.name))
        case .created, .executing, .finishing, .finished: return nil
        case .added: break
        }
        guard let core = view.core else { return nil }
        switch view.pause {
        case .delay: return "the end of its delay"
        case .attempt(let number, _, _): return "attempt \(number)"
        case .repetition: return "its next run"
        case nil: break
        }
        if view.hasRates, let place = RateManager.places(of: operation).first { return "the rate \(place.rate)" }
        let queue = self.view(of: core)
        if queue.scheduler.isSuspended, !view.goesFirst { return ExplanationFormatter.resumption(of: queue.reference) }
        return queue.scheduler.isFull
            ? ExplanationFormatter.turn(in: queue.reference, width: queue.scheduler.width) : nil
    }

    private mutating func time(of view: OperationView, _ operation: AnyOperation) -> Duration? {
        guard let core = view.core else { return nil }
        if let start = view.start ?? view.worker?.attemptTimeout.withLock({ $0.start(of: operation) }) {
            return max(.zero, now(of: core) - start)
        }
        if let start = view.eventStart { return max(.zero, eventNow(of: core) - start) }
        return quiet.flatMap { $0.queue === core ? $0.time : nil }
    }

    // MARK: Queues

    private mutating func view(of core: QueueCore) -> QueueView {
        if let view = queueViews[ObjectIdentifier(core)] { return view }
        let view = QueueView(core)
        queueViews[ObjectIdentifier(core)] = view
        return view
    }

    private mutating func now(of core: QueueCore) -> Duration {
        if let now = view(of: core).now { return now }
        let now = core.timerService.now
        queueViews[ObjectIdentifier(core)]?.now = now
        return now
    }

    private mutating func eventNow(of core: QueueCore) -> Duration {
        if let now = view(of: core).eventNow { return now }
        let now = core.time.now
        queueViews[ObjectIdentifier(core)]?.eventNow = now
        return now
    }

    private mutating func running(in core: QueueCore) -> [OperationReference] {
        if let running = view(of: core).running { return running }
        let running = core.holding {
            let members = core.state.withLock { $0.registry.members() }
            return Array(members.lazy.filter(\.holdsPermit).prefix(Explanation.maxListed).map(\.reference))
        }
        queueViews[ObjectIdentifier(core)]?.running = running
        return running
    }
}

extension AnyOperation {
    fileprivate final var holdsPermit: Bool {
        withLifecycle { $0.worker != nil && ($0.optionalState?.openWaits ?? 0) == 0 }
    }
}

/// A view of one operation, read in one locked step.
private struct OperationView {
    /// A pause and its end, which is `nil` while a thread is about to set the timer.
    enum Pause {
        case delay(until: Duration?)
        case attempt(Int, at: Duration?, after: OperationError)
        case repetition(at: Duration?)
    }

    let phase: Lifecycle.Phase
    let core: QueueCore?
    let goesFirst: Bool
    let kinship: AnyOperation.Kinship
    let isCancelled: Bool
    let conditions: TinyArray<StoredCondition>
    let hasRates: Bool
    let hasReleasedPermit: Bool
    let awaitsCallback: Bool
    let listeners: [any OutcomeListener]
    let attempt: Int
    let pause: Pause?
    let worker: Worker?
    /// The start of the current run, on the clock of the queue's timer service.
    let start: Duration?
    /// The time of the last `started` event, on the clock of the queue.
    let eventStart: Duration?

    init(_ life: Lifecycle, at operation: AnyOperation) {
        let optionalState = life.optionalState
        let timing = optionalState?.timing
        phase = life.phase
        core = life.isUnderWay ? operation.core : nil
        // In every other phase, the worker may write `goesFirst` now.
        goesFirst = life.phase == .added && operation.goesFirst
        kinship = operation.kinship
        isCancelled = life.isCancelled
        conditions = optionalState?.preconditions.conditions ?? .none
        hasRates = optionalState?.preconditions.hasRates ?? false
        hasReleasedPermit = (optionalState?.openWaits ?? 0) > 0
        awaitsCallback = optionalState?.awaitsCallback ?? false
        listeners = optionalState?.allListeners ?? []
        attempt = max(1, Int(timing?.attempt ?? 1))
        pause = timing.flatMap { $0.isPaused ? Pause($0) : nil }
        worker = life.timing?.limit == nil ? nil : life.worker
        start = timing?.rareTimedState.flatMap { $0.firstStart == nil ? nil : $0.lastStart }
        eventStart = life.outbox?.machine.start
    }
}

extension OperationView.Pause {
    fileprivate init(_ timing: TimedState) {
        let end = timing.rareTimedState?.pauseEnd
        if timing.attempt > 0, let failure = timing.rareTimedState?.failures.last, let error = failure.error {
            self = .attempt(Int(timing.attempt) + 1, at: end, after: error)
        } else if let rare = timing.rareTimedState, rare.repetitions > 0 {
            self = .repetition(at: end)
        } else {
            self = .delay(until: end)
        }
    }
}
