/// The driver of a ``ProgressStateMachine``. Wakes tasks that iterate the progress, and passes changes on to the
/// parents.
///
/// The operation's ``OptionalState``, reporters and iterators retain this object. It retains no operation, and
/// references its parents weakly, so it keeps nothing alive, and a chain of such objects is never released recursively.
final class ProgressState: Sendable {
    /// The continuation of a task that waits. The thread that resumes it removes it from the machine, so it is resumed
    /// once.
    typealias Waiter = UnsafeContinuation<Void, Never>
    typealias Machine = ProgressStateMachine<Waiter>

    private struct Content {
        var machine: Machine
        /// The parents by their ids. Living parents stay listed after this operation has ended, so that no parent
        /// counts it twice in one of the parent's runs.
        var parents: [UInt64: Parent] = [:]
        /// The number of parents at which those that have ended or were released are removed.
        var sweepCount = Self.leastSweepCount
        /// True once every parent that was known at the end has been informed of it.
        var hasInformedParentsOfEnd = false
        /// True if somebody observes the operation.
        var isWatched = false
        var hasReportedMisuse = false

        static let leastSweepCount = 8

        /// The living parents, in the order in which they were made, so that a seeded schedule repeats.
        ///
        /// A copy that the caller releases after unlocking, because releasing it may release a parent.
        var livingParents: [ProgressState] {
            if parents.count <= 1 { return parents.values.compactMap(\.state) }
            return parents.sorted { $0.key < $1.key }.compactMap(\.value.state)
        }
    }

    private struct Parent {
        weak var state: ProgressState?
        /// The run of the parent's body.
        var run: UInt64
    }

    private static let ids = NumberGenerator()

    /// Identifies this object for its parents. Unlike an address, it is never used again.
    private let id = ProgressState.ids.next()
    private weak let operation: AnyOperation?
    private let content: Locked<Content>

    init(of operation: AnyOperation? = nil, outcome: Machine.Outcome? = nil) {
        self.operation = operation
        content = Locked(Content(machine: Machine(outcome: outcome)))
    }

    var value: OperationProgress { content.withLock { $0.machine.value } }

    /// The number of links to parents, for tests.
    var linkCount: Int { content.withLock { $0.parents.count } }

    private var hasEnded: Bool { content.withLock { $0.machine.hasEnded } }

    /// The number of iterators that wait.
    var waiterCount: Int { content.withLock { $0.machine.waiters.count } }

    // MARK: Events

    func report(_ event: (inout Machine) -> Machine.Actions) {
        if apply(event) { informAncestors() }
    }

    /// Ends the progress. When the call returns, the parents have been informed, even if another thread ended it and
    /// has not informed them yet.
    func end(_ outcome: Machine.Outcome) {
        if content.withLock({ $0.hasInformedParentsOfEnd }) { return }
        _ = apply { $0.end(outcome) }
        informAncestors()
        // An operation that becomes a parent from here on asks for the snapshot itself.
        content.withLock { $0.hasInformedParentsOfEnd = true }
    }

    /// Ends the progress of an operation that was released. If it has no outcome, this is the end for its iterators.
    func release() { report { $0.release() } }

    /// Returns true if the parents have to be informed.
    private func apply(_ event: (inout Machine) -> Machine.Actions) -> Bool {
        let (actions, snapshot, isWatched) = content.withLock { content in
            (event(&content.machine), content.machine.snapshot, content.isWatched)
        }
        for waiter in actions.waiters { resume(waiter) }
        if actions.changesSnapshot, isWatched, let operation {
            operation.publishProgress(snapshot.fraction, version: snapshot.version)
        }
        return actions.changesSnapshot
    }

    /// Makes the operation publish its progress as events from now on.
    func watch() { content.withLock { $0.isWatched = true } }

    /// A number of a progress that must not be negative.
    enum CheckedNumber {
        case total, completed, step
        case weight(AnyOperation)

        /// The name of the number, as the subject of a sentence.
        fileprivate var text: String {
            switch self {
            case .total: "the total of its progress"
            case .completed: "the completed count of its progress"
            case .step: "the number of units to advance by"
            case .weight(let child): "the weight of \(child.reference) in its progress"
            }
        }
    }

    /// Reports a negative number, once for the operation.
    @inline(__always)
    func check(_ number: Int, _ what: @autoclosure () -> CheckedNumber) {
        if number < 0 { reportNegative(number, what()) }
    }

    @inline(never)
    private func reportNegative(_ number: Int, _ what: CheckedNumber) {
        let isFirst = content.withLock { content in
            defer { content.hasReportedMisuse = true }
            return !content.hasReportedMisuse && !content.machine.hasEnded
        }
        guard isFirst, let operation else { return }
        operation.report(Misuse(.negativeProgress(what.text, number), operation: operation.reference))
    }

    // MARK: Parents and children

    /// Informs the ancestors, in a loop and with one lock at a time. If two threads do so, the newer snapshot wins in
    /// any order.
    private func informAncestors() {
        var changed = FIFOQueue<ProgressState>()
        var isListed: Set<ObjectIdentifier> = []
        var next: ProgressState? = self
        while let child = next {
            let (snapshot, parents) = child.content.withLock { ($0.machine.snapshot, $0.livingParents) }
            for parent in parents where parent.apply({ $0.childChanged(child.id, to: snapshot) }) {
                // Lists a grandparent once, although several of its children may have changed.
                if isListed.insert(ObjectIdentifier(parent)).inserted { changed.append(parent) }
            }
            next = changed.popFirst()
            if let next { isListed.remove(ObjectIdentifier(next)) }
        }
    }

    /// Makes `child` count for `weight` units, unless that closes a cycle or `child` already counts in this run of the
    /// body.
    func addChild(_ child: ProgressState, weight: Int) {
        if weight <= 0 { return }
        // `expectChild` comes before the link, and the search for a cycle after it: of the threads that close a cycle
        // together, the one that links last finds it.
        guard let run = content.withLock({ $0.machine.expectChild() }) else { return }
        enum Link {
            case added, existing, mayCloseCycle
        }
        let (link, isSwept) = child.content.withLock { content -> (Link, Bool) in
            let former = content.parents.updateValue(Parent(state: self, run: run), forKey: id)
            if let former { return (former.run == run ? .existing : .added, false) }
            // A child that has ended passes no changes on, so it closes no cycle.
            let mayClose = content.machine.mayHaveChildren && !content.machine.hasEnded
            return (mayClose ? .mayCloseCycle : .added, content.parents.count >= content.sweepCount)
        }
        if case .existing = link { return }
        if case .mayCloseCycle = link, isBelow(child) {
            child.content.withLock { _ = $0.parents.removeValue(forKey: id) }
            return
        }
        if isSwept { child.sweepParents() }
        report { $0.addChild(child.id, weight: weight) }
        // A change that the child passed on before it was added has been ignored, so its snapshot is read now.
        let snapshot = child.content.withLock { $0.machine.snapshot }
        report { $0.childChanged(child.id, to: snapshot) }
    }

    /// Removes the links to parents that were released or have ended. Called when the number of links has doubled, so
    /// the cost for each link is O(1) amortized.
    private func sweepParents() {
        let links = content.withLock { $0.parents }
        let ended = links.filter { $0.value.state?.hasEnded ?? true }
        content.withLock { content in
            for id in ended.keys { content.parents[id] = nil }
            content.sweepCount = max(Content.leastSweepCount, 2 * content.parents.count)
        }
    }

    /// Returns true if this is `state`, or one of its children at any depth.
    private func isBelow(_ state: ProgressState) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        var open = [self]
        while let next = open.popLast() {
            if next === state { return true }
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            open.append(contentsOf: next.content.withLock { $0.livingParents })
        }
        return false
    }

    // MARK: Waiting

    func next(after last: OperationProgress?) -> Machine.Next { content.withLock { $0.machine.next(after: last) } }

    /// Returns when the progress may differ from `last`, or when the task is cancelled.
    nonisolated(nonsending) func wait(_ id: UInt64, after last: OperationProgress?) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                if !content.withLock({ $0.machine.wait(id, after: last, waiter) }) {
                    resume(waiter)
                } else if Task.isCancelled {
                    // The task was cancelled before it began to wait, so `onCancel` may have found nothing to wake.
                    stopWaiting(id)
                }
            }
            TSanAnnotations.didAwait(self)
        } onCancel: {
            stopWaiting(id)
        }
    }

    private func stopWaiting(_ id: UInt64) {
        if let waiter = content.withLock({ $0.machine.stopWaiting(id) }) { resume(waiter) }
    }

    private func resume(_ waiter: Waiter) {
        TSanAnnotations.willResume(self)
        waiter.resume()
    }
}
