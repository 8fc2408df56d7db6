/// The progress of one operation as a state machine: what its body has reported, and what its children have reached.
///
/// Pure: no lock, clock or callback in it. ``ProgressState`` locks, asks, unlocks, and then acts on the answer. The
/// children are known by numbers; for those who wait for a change, see `ProgressStateMachine+Waiting.swift`.
struct ProgressStateMachine<Waiter> {
    enum Ending: Equatable {
        case succeeded
        /// Also: cancelled, or released before anybody ran it. It counts for what it had reached.
        case failed
    }

    /// How far an operation has come, as its parents are told. It may reach them late, and out of order.
    struct Standing: Equatable {
        /// The greater one is the newer one. From 1.
        var version: UInt64 = 1
        var fraction = 0.0
        var ending: Ending?
    }

    private struct Child {
        let weight: Int
        /// The newest that has come; 0 for none.
        var version: UInt64 = 0
        var fraction = Int128(0)
    }

    /// What follows from an event, to be done after unlocking.
    struct Actions {
        var waiters: [Waiter] = []
        /// The parents do not know yet.
        var changesStanding = false
    }

    private(set) var value: OperationProgress
    private(set) var standing = Standing()
    /// Without this, it can be an ancestor of nobody.
    private(set) var mayHaveChildren = false
    /// Which run of the body it is: children are forgotten between two.
    private(set) var run: UInt64 = 0

    /// Not clamped: the total may grow later.
    private var completed = 0
    private var total: Int?
    private var sumOfWeights = 0
    private var children: [UInt64: Child] = [:]
    /// What children have reached that have not succeeded, in units. See ``scaled(_:)``.
    private var partialUnits = Int128(0)

    var waiters: [UInt64: Waiter] = [:]
    var lastWaiterID: UInt64 = 0
    private(set) var isReleased = false

    init(ending: Ending? = nil) {
        value = OperationProgress(
            completedUnitCount: 0, totalUnitCount: nil, fractionCompleted: 0, isFinished: false)
        if let ending { _ = end(ending) }
    }

    // MARK: The operation

    mutating func setCompleted(_ count: Int) -> Actions { change { $0.completed = max(count, 0) } }

    mutating func setTotal(_ count: Int?) -> Actions { change { $0.total = count.map { max($0, 0) } } }

    mutating func report(completed: Int, of total: Int?) -> Actions {
        change {
            $0.completed = max(completed, 0)
            $0.total = total.map { max($0, 0) }
        }
    }

    mutating func advance(by count: Int) -> Actions {
        change { $0.completed = $0.completed.addingUpToMaximum(max(count, 0)) }
    }

    /// The body will run again. What children of its former run are still to reach does not count.
    mutating func restart() -> Actions {
        change {
            $0.run += 1
            $0.completed = 0
            $0.sumOfWeights = 0
            $0.children = [:]
            $0.partialUnits = 0
        }
    }

    /// The operation has its outcome; only the first call counts.
    mutating func end(_ ending: Ending) -> Actions {
        change {
            $0.standing.ending = ending
            $0.children = [:]
        }
    }

    /// The operation was let go without an outcome. `value` stays as it is: there is none.
    mutating func release() -> Actions {
        if isOver { return Actions() }
        isReleased = true
        children = [:]
        standing.version += 1
        standing.ending = .failed
        return Actions(waiters: takeWaiters(), changesStanding: true)
    }

    // MARK: Its children

    /// Returns the run that it will count for. Nil: it is too late for children.
    mutating func expectChild() -> UInt64? {
        if isOver { return nil }
        mayHaveChildren = true
        return run
    }

    mutating func addChild(_ child: UInt64, weight: Int) -> Actions {
        if weight <= 0 { return Actions() }
        return change {
            $0.children[child] = Child(weight: weight)
            $0.sumOfWeights = $0.sumOfWeights.addingUpToMaximum(weight)
        }
    }

    /// Children that had ended before anybody wanted to know, of weight 1.
    mutating func addEnded(_ count: Int, succeeded: Int) -> Actions {
        change {
            $0.sumOfWeights = $0.sumOfWeights.addingUpToMaximum(count)
            $0.completed = $0.completed.addingUpToMaximum(succeeded)
        }
    }

    mutating func childMoved(_ child: UInt64, to standing: Standing) -> Actions {
        change { $0.count(child, standing) }
    }

    private mutating func count(_ number: UInt64, _ standing: Standing) {
        // Not found: it has ended, and this comes too late. Older: two threads passed one another on their way up.
        guard var child = children[number], standing.version > child.version else { return }
        let fraction = Self.scaled(standing.fraction)
        // Wraps instead of trapping, which takes 2²⁴ children of weight `Int.max`; the way back makes it right again.
        partialUnits &+= (fraction - child.fraction) * Int128(child.weight)
        child.version = standing.version
        child.fraction = fraction
        switch standing.ending {
        case nil: children[number] = child
        case .failed: children[number] = nil
        case .succeeded:
            children[number] = nil
            partialUnits &-= fraction * Int128(child.weight)
            completed = completed.addingUpToMaximum(child.weight)
        }
    }

    // MARK: The sum

    var isOver: Bool { value.isFinished || isReleased }

    private mutating func change(_ body: (inout Self) -> Void) -> Actions {
        // A report that crossed the end: too late.
        if isOver { return Actions() }
        body(&self)
        return settle()
    }

    private mutating func settle() -> Actions {
        let now = computed()
        if now == value { return Actions() }
        value = now
        let changesStanding = now.fractionCompleted != standing.fraction || now.isFinished
        if changesStanding {
            standing.version += 1
            standing.fraction = now.fractionCompleted
        }
        return Actions(waiters: takeWaiters(), changesStanding: changesStanding)
    }

    private func computed() -> OperationProgress {
        let total = total ?? (sumOfWeights > 0 ? sumOfWeights : nil)
        let hasSucceeded = standing.ending == .succeeded
        return OperationProgress(
            completedUnitCount: total.map { hasSucceeded ? $0 : min(completed, $0) } ?? completed,
            totalUnitCount: total,
            fractionCompleted: hasSucceeded ? 1 : fraction(of: total ?? 0),
            isFinished: standing.ending != nil
        )
    }

    private func fraction(of total: Int) -> Double {
        if total == 0 { return 0 }
        let reached = max(Int128(completed) * Self.scaled(1) &+ partialUnits, 0)
        return min(Double(reached) / Double(Int128(total) * Self.scaled(1)), 1)
    }

    /// In 2⁻⁴⁰: a sum of integers is the same in whatever order the children come and go, and never drifts.
    private static func scaled(_ fraction: Double) -> Int128 { Int128((fraction * 0x1p40).rounded()) }
}

extension Int {
    /// Both are 0 or more.
    fileprivate func addingUpToMaximum(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

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
