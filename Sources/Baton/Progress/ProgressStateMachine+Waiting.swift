/// Those who wait for a change. Nothing is kept for them but that they wait: each asks for the newest when it is woken,
/// so a slow one costs the reporter nothing and misses what came in between.
extension ProgressStateMachine {
    enum Next: Equatable {
        case value(OperationProgress)
        case wait(id: UInt64)
        case end
    }

    /// What comes after `last`; nil: nothing was delivered yet.
    mutating func next(after last: OperationProgress?) -> Next {
        if last != value { return .value(value) }
        if isOver { return .end }
        lastWaiterID += 1
        return .wait(id: lastWaiterID)
    }

    /// False: what it would wait for has come in between.
    mutating func wait(_ id: UInt64, after last: OperationProgress?, _ waiter: Waiter) -> Bool {
        if last != value || isOver { return false }
        waiters[id] = waiter
        return true
    }

    /// Nil: it was woken in between, or has not begun to wait.
    mutating func stopWaiting(_ id: UInt64) -> Waiter? { waiters.removeValue(forKey: id) }

    /// In the order in which they came.
    mutating func takeWaiters() -> [Waiter] {
        if waiters.isEmpty { return [] }
        let all = waiters.sorted { $0.key < $1.key }.map(\.value)
        waiters = [:]
        return all
    }
}
