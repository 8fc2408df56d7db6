internal import Synchronization

/// Locks a ``ProgressStateMachine``, asks it, unlocks, and acts: wakes those who iterate, and passes on to the parents.
///
/// Held by the operation's ``OptionalState``, by reporters and by those who iterate. It holds no operation, and its
/// parents weakly, so that nothing is kept alive by it, and a chain of them is never released recursively.
final class ProgressState: Sendable {
    /// Taken out of the machine by whoever resumes it, so it is resumed once.
    typealias Waiter = UnsafeContinuation<Void, Never>
    typealias Machine = ProgressStateMachine<Waiter>

    private struct Content {
        var machine: Machine
        /// By their numbers. Kept after the end while they live: each counts this once in each of its runs.
        var parents: [UInt64: Parent] = [:]
        /// With so many parents, those that have gone or ended are dropped.
        var sweepCount = Self.leastSweepCount
        /// Every parent that was known then has been told the end.
        var hasPassedEnd = false
        /// Of the operation, if somebody observes it.
        var watch: Watch?

        static let leastSweepCount = 8

        /// A copy: those that are released by it are released after unlocking. In the order in which they were made, so
        /// that a seeded schedule repeats.
        var livingParents: [ProgressState] {
            if parents.count <= 1 { return parents.values.compactMap(\.state) }
            return parents.sorted { $0.key < $1.key }.compactMap(\.value.state)
        }
    }

    private struct Parent {
        weak var state: ProgressState?
        /// Of its body.
        var run: UInt64
    }

    private struct Watch {
        weak let operation: AnyOperation?
    }

    private static let lastNumber = Atomic<UInt64>(0)

    /// What parents know it by. Not its address, which another one may have after it.
    private let number = ProgressState.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    private let content: Locked<Content>

    init(ending: Machine.Ending? = nil) { content = Locked(Content(machine: Machine(ending: ending))) }

    var value: OperationProgress { content.withLock { $0.machine.value } }

    /// For tests: how many parents it has links to.
    var linkCount: Int { content.withLock { $0.parents.count } }

    private var isOver: Bool { content.withLock { $0.machine.isOver } }

    /// How many iterators wait.
    var waiterCount: Int { content.withLock { $0.machine.waiters.count } }

    // MARK: Events

    func report(_ event: (inout Machine) -> Machine.Actions) {
        if tell(event) { passUpwards() }
    }

    /// Also when another thread has told it the end and is still on its way: on return, the parents know.
    func end(_ ending: Machine.Ending) {
        if content.withLock({ $0.hasPassedEnd }) { return }
        _ = tell { $0.end(ending) }
        passUpwards()
        // Who becomes a parent from here on asks for the standing itself.
        content.withLock { $0.hasPassedEnd = true }
    }

    /// The operation was let go. Without an outcome, this is the end for those who iterate.
    func release() { report { $0.release() } }

    /// True: the parents are to be told.
    private func tell(_ event: (inout Machine) -> Machine.Actions) -> Bool {
        let (actions, standing, watch) = content.withLock { content in
            (event(&content.machine), content.machine.standing, content.watch)
        }
        for waiter in actions.waiters { resume(waiter) }
        if actions.changesStanding, let operation = watch?.operation {
            operation.tellProgress(standing.fraction, version: standing.version)
        }
        return actions.changesStanding
    }

    /// From now on the operation tells how far it has come.
    func watch(for operation: AnyOperation) { content.withLock { $0.watch = Watch(operation: operation) } }

    // MARK: Parents and children

    /// In a loop, with one lock at a time. Of two threads the newer standing wins, whichever comes first.
    private func passUpwards() {
        var changed = FIFOQueue<ProgressState>()
        var isListed: Set<ObjectIdentifier> = []
        var next: ProgressState? = self
        while let child = next {
            let (standing, parents) = child.content.withLock { ($0.machine.standing, $0.livingParents) }
            for parent in parents where parent.tell({ $0.childMoved(child.number, to: standing) }) {
                // Of a grandparent with several ways to it, once for all of them.
                if isListed.insert(ObjectIdentifier(parent)).inserted { changed.append(parent) }
            }
            next = changed.popFirst()
            if let next { isListed.remove(ObjectIdentifier(next)) }
        }
    }

    /// `child` counts for `weight` units of this. Not if that makes a cycle, nor a second time in one run of the body.
    func addChild(_ child: ProgressState, weight: Int) {
        if weight <= 0 { return }
        // In this order, and before the link: of those who close a cycle together, the last to link finds it.
        guard let run = content.withLock({ $0.machine.expectChild() }) else { return }
        enum Link {
            case done, before, perhapsCycle
        }
        let (link, isSwept) = child.content.withLock { content -> (Link, Bool) in
            let former = content.parents.updateValue(Parent(state: self, run: run), forKey: number)
            if let former { return (former.run == run ? .before : .done, false) }
            // What has ended passes nothing on.
            let mayClose = content.machine.mayHaveChildren && !content.machine.isOver
            return (mayClose ? .perhapsCycle : .done, content.parents.count >= content.sweepCount)
        }
        if case .before = link { return }
        if case .perhapsCycle = link, isBelow(child) {
            child.content.withLock { _ = $0.parents.removeValue(forKey: number) }
            return
        }
        if isSwept { child.sweepParents() }
        report { $0.addChild(child.number, weight: weight) }
        // What the child has passed up before this has found nobody.
        let standing = child.content.withLock { $0.machine.standing }
        report { $0.childMoved(child.number, to: standing) }
    }

    /// Drops the links to parents that have gone or ended. Called when their number has doubled, so a link pays for its
    /// own end.
    private func sweepParents() {
        let links = content.withLock { $0.parents }
        let ended = links.filter { $0.value.state?.isOver ?? true }
        content.withLock { content in
            for number in ended.keys { content.parents[number] = nil }
            content.sweepCount = max(Content.leastSweepCount, 2 * content.parents.count)
        }
    }

    /// Whether it is `state` or among what that counts as its children, at any depth.
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

    /// Returns when there may be something after `last`, or the task is cancelled.
    nonisolated(nonsending) func wait(_ id: UInt64, after last: OperationProgress?) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                if !content.withLock({ $0.machine.wait(id, after: last, waiter) }) {
                    resume(waiter)
                } else if Task.isCancelled {
                    // Cancelled before it waited: the handler may have come too early.
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
