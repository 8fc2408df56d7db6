/// One task that runs many operations, one after another, for as long as there is something to run. A lane belongs to one
/// task for ever and is never used again, so that a cancel meant for one operation cannot reach another.
final class Lane: Sendable {
    private struct Link {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let link = LockedState(Link())
    /// Of the attempt that it runs, if that has a time limit.
    let watch = LockedState(AttemptWatch())
    let hand: Hand

    init(hand: Hand = Hand()) { self.hand = hand }

    /// - Parameter first: An operation that another lane has taken, with the slot of that lane.
    static func start(on core: QueueCore, beginningWith first: Unmanaged<AnyOperation>? = nil) {
        let lane = Lane(hand: Hand(least: core.leastReach, isTimed: !core.slicesByCount))
        let task = core.spawner.spawn {
            await OwnTask.run(of: core) { await core.work(on: lane, as: $0, beginningWith: first) }
            lane.takeAlarmOut(of: core.sleeper)
        }
        // It runs by now, and may have adopted another one that goes on for it.
        lane.adopt(task, unlessOtherIsKnown: true)
    }

    /// From now on a cancel reaches this task. One may have come before.
    func adopt(_ task: Task<Void, Never>, unlessOtherIsKnown: Bool = false) {
        let wasCancelled = link.withLock { link in
            if !unlessOtherIsKnown || link.task == nil { link.task = task }
            return link.isCancelled
        }
        if wasCancelled { Trampoline.run(.cancelTask(self)) }
    }

    /// Called with no lock held: cancelling a task runs the user's `onCancel` handlers at once.
    func cancelTask() {
        let isKnown = link.withLock { link in
            link.isCancelled = true
            return link.task != nil
        }
        if isKnown { Trampoline.run(.cancelTask(self)) }
    }

    /// For ``Trampoline`` only.
    func cancelTaskNow() { link.withLock { $0.task }?.cancel() }
}
