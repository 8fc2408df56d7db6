/// A report that nothing has progressed in a queue for some time, with the reasons.
///
/// A handler receives it, see ``AsyncOperationQueue/onStall(after:file:line:_:)``.
public struct StallReport: Sendable, CustomStringConvertible {
    /// The queue that has stalled.
    public let queue: QueueReference
    /// A lower bound of the time for which nothing has progressed.
    public let duration: Duration
    /// The number of operations of the queue that have not finished.
    public let operationCount: Int
    /// Explanations of up to ten *roots*: operations that the queue's operations ultimately wait for. A root may belong
    /// to another queue.
    ///
    /// Operations that run, or that nobody has added, come before operations that only wait for a permit.
    public let explanations: [Explanation]
    /// The number of roots, of which ``explanations`` contains at most ten.
    public let rootCount: Int
    /// Up to ten operations whose handlers have been called and have not returned, those whose handlers were called
    /// first. `willFinish` handlers are not among them: they are a part of the operation's run. The queue becomes idle
    /// when the handlers have returned.
    public let operationsInHandlers: [OperationReference]
    /// True if some bodies run and other operations wait for permits, or for exclusions of these bodies: one of the
    /// bodies may wait for another operation in a way that the queue cannot see.
    let mayHideDependency: Bool

    /// True if an operation is about to start, and no thread has picked it up.
    private var lacksThreads: Bool {
        explanations.contains { explanation in
            explanation.roots.contains { if case .starting = $0.cause { true } else { false } }
        }
    }

    /// One line of text that states the stall, followed by the text of each explanation.
    public var description: String {
        let name = queue.name == nil ? "\(queue)" : "the queue \(queue)"
        let count = operationCount == 1 ? "1 operation has" : "\(operationCount) operations have"
        let quiet = "Nothing has progressed in \(name) for \(ExplanationFormatter.text(duration))"
        let beginning = operationCount == 0 ? "\(quiet)." : "\(quiet), and \(count) not finished."
        let handlers = operationsInHandlers.map(\.description)
        let inHandlers =
            handlers.isEmpty
            ? []
            : [
                "Handlers of \(ExplanationFormatter.list(handlers)) have not returned: the queue is idle when they "
                    + "have."
            ]
        let more = rootCount > explanations.count ? ["And \(rootCount - explanations.count) more."] : []
        let hint =
            mayHideDependency
            ? [
                "If one of these bodies waits for another operation in an unstructured task, or iterates over its "
                    + "events or progress, the queue cannot see that, and the body keeps its permit and its "
                    + "exclusions: await the `value` of the other operation in the body itself or in a child task of "
                    + "it, or call `context.run`."
            ] : []
        let threads =
            lacksThreads
            ? [
                "No thread is free for operations that are about to start, because bodies of this queue or of other "
                    + "queues block all threads. Run those bodies on a `ThreadExecutor` with enough threads, or let "
                    + "them await instead of blocking."
            ] : []
        return ([beginning] + explanations.map(\.description) + more + inHandlers + hint + threads).joined(
            separator: " ")
    }
}

/// The registration of a stall handler, with which it can be removed.
///
/// Releasing this object changes nothing.
public final class StallObservation: Sendable {
    private weak let core: QueueCore?
    private let id: UInt64

    fileprivate init(of core: QueueCore, id: UInt64) {
        self.core = core
        self.id = id
    }

    /// Removes the handler and releases it. A call that is in progress goes on.
    public func cancel() { core?.stalls.remove(id, on: core) }
}

extension AsyncOperationQueue {
    /// Calls `handler` with a report when nothing has progressed for `limit` although the queue has operations.
    ///
    /// ```swift
    /// queue.onStall(after: .seconds(30)) { report in print(report) }
    /// ```
    ///
    /// An operation that is added, starts an attempt, or finishes is progress, and so is a handler that returns. A body
    /// that runs for longer than `limit` is therefore a stall if nothing else happens, and the report says for how
    /// long, at least, it has been executing. A long delay and a suspension are stalls as well. A stall is reported
    /// once; after progress, the next stall is reported again. Time is measured by the queue's clock, which is read
    /// four times per `limit`, so the call comes up to a quarter of `limit` late.
    ///
    /// The handler runs on a task of its own that is not cancelled, in the isolation domain that it declares. A slow
    /// handler delays nothing, not even its call for the next stall, and the queue does not wait for it to become idle.
    /// The queue retains the handler until it is removed or the queue is released, so capture the queue weakly. When
    /// the last handle to the queue is released, reports go on until the last operation has finished.
    ///
    /// - Parameters:
    ///   - limit: The time without progress. A limit below one millisecond counts as one millisecond. A negative limit
    ///     is also reported as ``Misuse``.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    ///   - handler: Called once for every stall.
    /// - Returns: The registration of the handler. It may be discarded.
    /// - Complexity: O(1). Each check takes time proportional to the number of handlers. The report, which all handlers
    ///   of a stall share, takes time proportional to the number of operations and dependencies that the queue's
    ///   operations wait for.
    @discardableResult
    public func onStall(
        after limit: Duration, file: StaticString = #fileID, line: UInt = #line,
        _ handler: nonisolated(nonsending) @escaping @Sendable (_ report: StallReport) async -> Void
    ) -> StallObservation {
        if limit < .zero {
            let place = CallSite(file: file, line: line)
            core.report(Misuse(.negativeDuration("the time of a stall"), queue: name, callSite: place))
        }
        return StallObservation(of: core, id: core.stalls.add(handler, after: limit, on: core))
    }
}

extension QueueCore {
    private static let maxExplanationCount = 10

    /// Returns `nil` if all operations have finished meanwhile.
    func stallReport(after quiet: Duration) -> StallReport? {
        var (members, inHandlers) = state.withLock {
            ($0.registry.members(), $0.handlerDispatcher.operationsInHandlers())
        }
        members.removeAll(where: \.hasFinished)
        inHandlers.removeAll { !$0.hasFinished }
        if members.isEmpty, inHandlers.isEmpty { return nil }
        var search = RootSearch(StateInspector(quiet: (self, quiet)))
        search.start(from: members)
        let roots = search.roots.enumerated().sorted { left, right in
            (left.element.cause.rank, left.offset) < (right.element.cause.rank, right.offset)
        }
        return StallReport(
            queue: QueueReference(name: name, number: number), duration: quiet, operationCount: members.count,
            explanations: roots.prefix(Self.maxExplanationCount).map {
                $0.element.explanation(startedBy: search.group(of: $0.element))
            },
            rootCount: roots.count,
            operationsInHandlers: Array(inHandlers.map(\.reference).prefix(Self.maxExplanationCount)),
            mayHideDependency: search.roots.mayHideDependency)
    }
}

extension [RootSearch.Root] {
    /// True if some bodies run, and others wait for permits or for what these bodies hold.
    fileprivate var mayHideDependency: Bool {
        let running = Set(lazy.filter(\.cause.isExecuting).map(\.operation.reference))
        if running.isEmpty { return false }
        return contains { root in
            if case .excluded(let holder, _) = root.cause { return running.contains(holder) }
            return root.cause.waitsForPermit
        }
    }
}

extension RootSearch.Root {
    /// An explanation of the root alone.
    fileprivate func explanation(startedBy group: Explanation.PlannedGroup?) -> Explanation {
        let reference = operation.reference
        return Explanation(
            operation: reference, state: operation.state, waits: [],
            roots: [
                Explanation.Root(
                    operation: reference, cause: cause, suspendedQueue: suspendedQueue,
                    isCancelled: operation.isCancelled, path: Explanation.Path(), group: group)
            ],
            timeLimit: nil, error: nil, openHandlers: nil)
    }
}

extension Explanation.Cause {
    fileprivate var isExecuting: Bool {
        if case .executing = self { true } else { false }
    }

    fileprivate var waitsForPermit: Bool {
        switch self {
        case .queueFull, .waitingForPermit: true
        case .notAdded, .awaitingGroup, .queueSuspended, .starting, .delayed, .retrying, .repeating, .evaluating,
            .excluded, .waitingForRate, .executing, .awaitingCallback, .awaitingElement, .finishing, .finished:
            false
        }
    }

    /// The order of roots in a report: the lower the rank, the more likely it is that others wait for this one.
    fileprivate var rank: Int {
        switch self {
        case .notAdded, .awaitingGroup, .executing, .evaluating, .finishing, .awaitingCallback, .awaitingElement: 0
        case .delayed, .retrying, .repeating, .waitingForRate: 1
        case .excluded, .waitingForPermit: 2
        case .queueFull, .queueSuspended, .starting, .finished: 3
        }
    }
}

// MARK: - Watch

/// Watches a queue for stalls. Drives a ``StallStateMachine`` with one timer, which is set while the queue is watched
/// and not empty.
///
/// The queue's lock guards whether the queue is empty, and the lock of the watch whether there is a timer. A thread
/// that has changed either of them therefore adjusts the timer and then checks the queue again, until the two agree.
final class StallWatch: Sendable {
    typealias Handler = nonisolated(nonsending) @Sendable (StallReport) async -> Void
    typealias Machine = StallStateMachine<Handler>

    private let machine = Locked(Machine())
    private let watched = AtomicFlag()

    /// Read by each thread that adds operations or completes the last one, after it has released the queue's lock.
    /// `add` stores true before it takes that lock, so of two such threads the one that takes the lock second sees what
    /// the other one has done.
    @inline(__always)
    var isWatched: Bool { watched.isSet }

    func add(_ handler: @escaping Handler, after limit: Duration, on core: QueueCore) -> UInt64 {
        let now = core.timerService.now
        let (id, action) = machine.withLock { machine in
            watched.isSet = true
            return machine.add(handler, after: limit, at: now)
        }
        perform(action, on: core)
        adjust(on: core)
        return id
    }

    func remove(_ id: UInt64, on core: QueueCore?) {
        // Releases the handler after unlocking.
        let (handler, action) = machine.withLock { machine in
            let removed = machine.remove(id)
            watched.isSet = machine.isWatched
            return removed
        }
        // No ``adjust(on:)`` follows, because a removal never needs a new timer.
        if let core { perform(action, on: core) }
        withExtendedLifetime(handler) {}
    }

    @inline(never)
    func adjust(on core: QueueCore) {
        while true {
            let isEmpty = core.state.withLock { $0.registry.count == 0 && $0.handlerDispatcher.isIdle }
            let action = machine.withLock { $0.adjust(isEmpty: isEmpty) }
            if case .none = action { return }
            perform(action, on: core)
        }
    }

    private func perform(_ action: Machine.Action, on core: QueueCore) {
        switch action {
        case .none: break
        case .removeTimer(let ticket): core.timerService.remove(ticket)
        case .setTimer(let number):
            // The counters are read first. If the clock is moved in between, a change seems later than it was, and not
            // earlier, so that no stall is reported too early.
            let counters = core.counters
            let now = core.timerService.now
            guard let time = machine.withLock({ $0.begin(number, at: now, counters: counters) }) else { return }
            core.timerService.add(.stall(StallTimer(core: core, number: number)), at: time) { ticket in
                if !machine.withLock({ $0.wasSet(number, ticket) }) { core.timerService.remove(ticket) }
            }
        }
    }

    fileprivate func timerFired(_ number: UInt64, at now: Duration, on core: QueueCore) {
        let counters = core.counters
        // If something has progressed since the timer woke, that was before this time, and perhaps after `now`.
        let change = core.timerService.now
        let call = machine.withLock { $0.timerFired(number, at: now, counters: counters, changedAt: change) }
        if let call { core.report(call) }
        adjust(on: core)
    }
}

/// The entry of a stall watch in the timer service. It does not retain the queue.
final class StallTimer: Sendable {
    private weak let core: QueueCore?
    private let number: UInt64

    init(core: QueueCore, number: UInt64) {
        self.core = core
        self.number = number
    }

    func fire(at now: Duration) {
        if let core { core.stalls.timerFired(number, at: now, on: core) }
    }
}

extension QueueCore {
    fileprivate var counters: StallWatch.Machine.Counters {
        state.withLock { state in
            StallWatch.Machine.Counters(
                added: state.registry.insertedCount, finished: state.registry.removedCount,
                taken: state.scheduler.dequeuedCount,
                handlersReturned: state.handlerDispatcher.completedCount,
                hasOpenHandlers: !state.handlerDispatcher.isIdle)
        }
    }

    private func makeStallReport(after quiet: Duration) -> StallReport? {
        holding { stallReport(after: quiet) }
    }

    /// Makes a single report for all handlers, because each report takes time proportional to the size of the queue.
    /// The tasks do not retain the queue, so slow handlers do not keep it alive.
    fileprivate func report(_ call: StallWatch.Machine.Call) {
        services.spawn { [services, weak self] in
            guard let report = self?.makeStallReport(after: call.quiet) else { return }
            for handler in call.handlers.dropFirst() { services.spawn { await handler(report) } }
            await call.handlers[0](report)
        }
    }
}
