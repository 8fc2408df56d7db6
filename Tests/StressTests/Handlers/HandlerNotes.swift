import Baton
import Synchronization

/// The checks of handlers.
extension RunRecorder {
    /// Checks that the `didStart`, `didCancel` and `didFinish` handlers of one operation run one at a time, in this
    /// order.
    func tell(_ id: Int, _ moment: Moment, isLate: Bool, _ handler: () async -> Void) async {
        let record = nodes[id].handlers
        check(!Task.isCancelled, "G16: a handler of n\(id) is cancelled")
        check(!record.isTelling.exchange(true, ordering: .relaxed), "G28: two handlers of n\(id) run at once")
        if !isLate {
            let last = record.lastMoment.exchange(moment.rawValue, ordering: .relaxed)
            check(last <= moment.rawValue, "G28: n\(id) was told of \(moment) after moment \(last)")
        }
        await handler()
        record.isTelling.store(false, ordering: .relaxed)
    }

    /// Checks a `willFinish` handler: the outcome is decided when it runs, and not yet visible.
    func holdBack(
        _ operation: AnyOperation, _ id: Int, _ outcome: Outcome, isLate: Bool,
        _ handler: () async -> Void
    ) async {
        let record = nodes[id].handlers
        let decided = record.decided.withLock { decided in
            if decided == nil { decided = outcome }
            return decided
        }
        check(decided == outcome, "G1: n\(id) was decided to be \(decided!) and \(outcome)")
        check(!Task.isCancelled, "G28: a willFinish handler of n\(id) is cancelled")
        let holds = operation.state != .finished
        check(holds || isLate, "G28: n\(id) was published before its willFinish handlers were called")
        if holds {
            check(operation.state == .finishing && operation.endResult == nil, "G28: n\(id) has a result already")
            let others = record.holdingBack.add(1, ordering: .relaxed).oldValue
            check(others == 0, "G28: two willFinish handlers of n\(id) run at once")
            let (starts, ends) = (nodes[id].starts.load(ordering: .relaxed), nodes[id].ends.load(ordering: .relaxed))
            check(starts == ends, "G17: n\(id) is decided, and its body has not returned")
        }
        await handler()
        let wasCancelled = operation.isCancelled
        operation.cancel(reason: .because("too late"))
        check(operation.isCancelled == wasCancelled, "G1: a cancellation reached n\(id) after its outcome was decided")
        if holds {
            check(operation.endResult == nil, "G28: n\(id) was published while a willFinish handler ran")
            record.holdingBack.subtract(1, ordering: .relaxed)
        }
        record.lastStepsCalled.add(1, ordering: .relaxed)
    }
}
