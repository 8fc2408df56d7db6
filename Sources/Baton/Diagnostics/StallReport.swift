/// A queue in which nothing has been added, started or finished for some time, although operations are there; and why.
public struct StallReport: Sendable, CustomStringConvertible {
    /// The queue.
    public let queue: QueueReference
    /// For so long nothing has progressed, at least.
    public let duration: Duration
    /// How many operations of the queue have not finished.
    public let operationCount: Int
    /// What is at the roots of all that the queue's operations wait for, also in other queues: up to ten of them.
    ///
    /// Operations that run or were forgotten come before those that only wait for a permit.
    public let explanations: [Explanation]
    /// How many roots there are.
    public let rootCount: Int
    /// Operations that have finished and whose `didFinish` handlers have not returned: the queue is not idle before they
    /// have. Up to ten of them.
    public let operationsInHandlers: [OperationReference]
    /// Bodies run, and others wait for their permits: one of them may wait for another operation in a way that nobody
    /// can see.
    let mayWaitUnseen: Bool

    /// An operation is about to start, and no thread has taken it up for all that time.
    private var lacksThreads: Bool {
        explanations.contains { explanation in
            explanation.roots.contains { if case .starting = $0.cause { true } else { false } }
        }
    }

    /// A few sentences on one line: that nothing progresses, and what each explanation says.
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
                "Handlers of \(ExplanationFormatter.list(handlers)) have not returned: the queue is idle when they have."
            ]
        let more = rootCount > explanations.count ? ["And \(rootCount - explanations.count) more."] : []
        let hint =
            mayWaitUnseen
            ? [
                "If one of these bodies waits for another operation in an unstructured task, or in its events or progress, its queue "
                    + "cannot see that, and releases no permit: await its `value` in the body itself or in a child task of it, "
                    + "or call `context.run`."
            ] : []
        let threads =
            lacksThreads
            ? [
                "What is about to start gets no thread: bodies block all of them, of this queue or of others. Let those run on a "
                    + "`ThreadExecutor`, or let them await instead."
            ] : []
        return ([beginning] + explanations.map(\.description) + more + inHandlers + hint + threads).joined(
            separator: " ")
    }
}

/// One who is told of the stalls of a queue, from the call that added it: to take it away again.
///
/// Releasing this changes nothing.
public final class StallObservation: Sendable {
    private weak let core: QueueCore?
    private let id: UInt64

    fileprivate init(of core: QueueCore, id: UInt64) {
        self.core = core
        self.id = id
    }

    /// Takes the handler away and releases it. A call that is under way goes on.
    public func cancel() { core?.stalls.remove(id, on: core) }
}

extension AsyncOperationQueue {
    /// Calls `handler` when nothing has progressed for `limit` although operations are in the queue, and tells it why.
    ///
    /// ```swift
    /// queue.onStall(after: .seconds(30)) { report in print(report) }
    /// ```
    ///
    /// Progress is that an operation is added, begins, also once more, or finishes, or that its handlers return. So a body that runs for longer is a
    /// stall if nothing else happens, and the report says that it has been executing for at least so long; so are a
    /// long delay and a suspension. It is told once, and again when something has progressed and nothing did after
    /// that. The time is that of the queue's clock, which is looked at four times in `limit`, so the handler is called
    /// up to a quarter later.
    ///
    /// The handler is called on a task of the queue that is not cancelled, on the isolation that it declares; however
    /// long it takes, it delays nothing, and is called for the next stall all the same. The queue is not idle any later
    /// for it. It is retained until it is taken away or the queue has gone, so let it capture the queue weakly. When
    /// the queue's handle is released, it is called until the last operation has finished.
    ///
    /// - Parameters:
    ///   - limit: Negative is ``Misuse`` and counts as zero; less than a millisecond counts as that.
    ///   - handler: Called once for every stall, with what keeps the queue.
    /// - Complexity: O(1). Each look takes time in proportion to the number of handlers, and the report of a stall,
    ///   which all of them share, takes time in proportion to what the queue's operations wait for.
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
    private static let mostExplanations = 10

    /// Nil: everything has finished in between.
    func stallReport(after quiet: Duration) -> StallReport? {
        var (members, inHandlers) = state.withLock { ($0.members(), $0.handlerDispatcher.operationsInHandlers()) }
        members.removeAll(where: \.hasFinished)
        inHandlers.removeAll { !$0.hasFinished }
        if members.isEmpty, inHandlers.isEmpty { return nil }
        var search = RootSearch(StateInspector(quiet: (self, quiet)))
        search.look(from: members)
        let roots = search.roots.enumerated().sorted { left, right in
            (left.element.cause.rank, left.offset) < (right.element.cause.rank, right.offset)
        }
        return StallReport(
            queue: QueueReference(name: name, number: number), duration: quiet, operationCount: members.count,
            explanations: roots.prefix(Self.mostExplanations).map { $0.element.explanation }, rootCount: roots.count,
            operationsInHandlers: Array(inHandlers.map(\.reference).prefix(Self.mostExplanations)),
            mayWaitUnseen: roots.contains { $0.element.cause.isExecuting }
                && roots.contains { $0.element.cause.waitsForPermit })
    }
}

extension RootSearch.Root {
    /// Of the root itself.
    fileprivate var explanation: Explanation {
        let reference = operation.reference
        return Explanation(
            operation: reference, state: operation.state, waits: [],
            roots: [
                Explanation.Root(
                    operation: reference, cause: cause, suspendedQueue: suspendedQueue,
                    isCancelled: operation.isCancelled, links: [])
            ],
            error: nil)
    }
}

extension Explanation.Cause {
    fileprivate var isExecuting: Bool {
        if case .executing = self { true } else { false }
    }

    fileprivate var waitsForPermit: Bool {
        switch self {
        case .queueFull, .waitingForPermit: true
        case .notAdded, .queueSuspended, .starting, .delayed, .retrying, .repeating, .evaluating, .excluded,
            .waitingForRate, .executing, .awaitingCallback, .awaitingElement, .finishing, .finished:
            false
        }
    }

    /// What others wait for comes first.
    fileprivate var rank: Int {
        switch self {
        case .notAdded, .executing, .evaluating, .finishing, .awaitingCallback, .awaitingElement: 0
        case .delayed, .retrying, .repeating, .waitingForRate: 1
        case .excluded, .waitingForPermit: 2
        case .queueFull, .queueSuspended, .starting, .finished: 3
        }
    }
}
