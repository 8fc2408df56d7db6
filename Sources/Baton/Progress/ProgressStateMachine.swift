/// The progress of one operation: what its body has reported, and what its children have reached.
///
/// A pure value: ``ProgressState`` locks it, asks it, unlocks it, and performs the actions. Children are identified by
/// numbers.
struct ProgressStateMachine<Waiter> {
    enum Outcome: Equatable {
        case succeeded
        /// The operation has failed, was cancelled, or was released before it ran. It counts for what it had reached.
        case failed
    }

    /// The progress as its parents see it. Snapshots may reach a parent late and out of order.
    struct Snapshot: Equatable {
        /// Rises with every change, from 1.
        var version: UInt64 = 1
        var fraction = 0.0
        var outcome: Outcome?
    }

    private struct Child {
        let weight: Int
        /// The version of the newest snapshot that has arrived; 0 if there is none.
        var version: UInt64 = 0
        var fraction = Int128(0)
    }

    /// The effects of an event, which the driver performs after unlocking.
    struct Actions {
        var waiters: [Waiter] = []
        /// True if the parents have to be informed of the new snapshot.
        var changesSnapshot = false
    }

    private(set) var value: OperationProgress
    private(set) var snapshot = Snapshot()
    /// True if a child was ever added. If false, this operation is nobody's ancestor.
    private(set) var mayHaveChildren = false
    /// The number of the body's current run. Children are forgotten between two runs.
    private(set) var run: UInt64 = 0

    /// Not clamped to the total, because the total may grow.
    private var completed = 0
    private var total: Int?
    private var sumOfWeights = 0
    private var children: [UInt64: Child] = [:]
    /// The units that unfinished and failed children have reached, in the unit of ``scaled(_:)``.
    private var partialUnits = Int128(0)

    var waiters: [UInt64: Waiter] = [:]
    var lastWaiterID: UInt64 = 0
    private(set) var isReleased = false

    init(outcome: Outcome? = nil) {
        value = OperationProgress(
            completedUnitCount: 0, totalUnitCount: nil, fractionCompleted: 0, isFinished: false)
        if let outcome { _ = end(outcome) }
    }

    // MARK: Reports of the operation

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

    /// Resets the progress, because the body will run again. Later changes of children of the former run have no
    /// effect.
    mutating func restart() -> Actions {
        change {
            $0.run += 1
            $0.completed = 0
            $0.sumOfWeights = 0
            $0.children = [:]
            $0.partialUnits = 0
        }
    }

    /// Notes the outcome of the operation. Only the first call has an effect.
    mutating func end(_ outcome: Outcome) -> Actions {
        change {
            $0.snapshot.outcome = outcome
            $0.children = [:]
        }
    }

    /// Notes that the operation was released without an outcome, and leaves `value` unchanged.
    mutating func release() -> Actions {
        if hasEnded { return Actions() }
        isReleased = true
        children = [:]
        snapshot.version += 1
        snapshot.outcome = .failed
        return Actions(waiters: takeWaiters(), changesSnapshot: true)
    }

    // MARK: Children

    /// Returns the run that the child will count for, or `nil` if the operation has ended.
    mutating func expectChild() -> UInt64? {
        if hasEnded { return nil }
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

    /// Adds children of weight 1 that had ended before anybody asked for the progress.
    mutating func addEnded(_ count: Int, succeeded: Int) -> Actions {
        change {
            $0.sumOfWeights = $0.sumOfWeights.addingUpToMaximum(count)
            $0.completed = $0.completed.addingUpToMaximum(succeeded)
        }
    }

    mutating func childChanged(_ child: UInt64, to snapshot: Snapshot) -> Actions {
        change { $0.count(child, snapshot) }
    }

    private mutating func count(_ number: UInt64, _ snapshot: Snapshot) {
        // A child that is not found has ended. A version that is not newer was overtaken on its way by one from another
        // thread.
        guard var child = children[number], snapshot.version > child.version else { return }
        let fraction = Self.scaled(snapshot.fraction)
        // Wraps instead of trapping on overflow, which takes 2²⁴ children of weight `Int.max`. Subtracting wraps back.
        partialUnits &+= (fraction - child.fraction) * Int128(child.weight)
        child.version = snapshot.version
        child.fraction = fraction
        switch snapshot.outcome {
        case nil: children[number] = child
        case .failed: children[number] = nil
        case .succeeded:
            children[number] = nil
            partialUnits &-= fraction * Int128(child.weight)
            completed = completed.addingUpToMaximum(child.weight)
        }
    }

    // MARK: Value

    var hasEnded: Bool { value.isFinished || isReleased }

    private mutating func change(_ body: (inout Self) -> Void) -> Actions {
        // A report after the end comes too late.
        if hasEnded { return Actions() }
        body(&self)
        return updateValue()
    }

    private mutating func updateValue() -> Actions {
        let now = computed()
        if now == value { return Actions() }
        value = now
        let changesSnapshot = now.fractionCompleted != snapshot.fraction || now.isFinished
        if changesSnapshot {
            snapshot.version += 1
            snapshot.fraction = now.fractionCompleted
        }
        return Actions(waiters: takeWaiters(), changesSnapshot: changesSnapshot)
    }

    private func computed() -> OperationProgress {
        let total = total ?? (sumOfWeights > 0 ? sumOfWeights : nil)
        let hasSucceeded = snapshot.outcome == .succeeded
        return OperationProgress(
            completedUnitCount: total.map { hasSucceeded ? $0 : min(completed, $0) } ?? completed,
            totalUnitCount: total,
            fractionCompleted: hasSucceeded ? 1 : fraction(of: total ?? 0),
            isFinished: snapshot.outcome != nil
        )
    }

    private func fraction(of total: Int) -> Double {
        if total == 0 { return 0 }
        let reached = max(Int128(completed) * Self.scaled(1) &+ partialUnits, 0)
        return min(Double(reached) / Double(Int128(total) * Self.scaled(1)), 1)
    }

    /// Converts a fraction to units of 2⁻⁴⁰. A sum of integers does not depend on the order of its terms, and does not
    /// drift.
    private static func scaled(_ fraction: Double) -> Int128 { Int128((fraction * 0x1p40).rounded()) }
}

extension Int {
    /// Adds two integers that are not negative, and returns `Int.max` on overflow.
    fileprivate func addingUpToMaximum(_ other: Int) -> Int {
        assert(self >= 0 && other >= 0, "counts of units are not negative")
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

/// Tasks that wait for a change. The machine keeps no values for them: each asks for the newest value when it is woken,
/// so a slow task costs the reporter nothing, and misses the values in between.
extension ProgressStateMachine {
    enum Next: Equatable {
        case value(OperationProgress)
        case wait(id: UInt64)
        case end
    }

    /// Returns the step after `last`, which is `nil` if nothing was delivered yet.
    mutating func next(after last: OperationProgress?) -> Next {
        if last != value { return .value(value) }
        if hasEnded { return .end }
        lastWaiterID += 1
        return .wait(id: lastWaiterID)
    }

    /// Returns false if the progress has changed or ended, so that `waiter` need not wait.
    mutating func wait(_ id: UInt64, after last: OperationProgress?, _ waiter: Waiter) -> Bool {
        if last != value || hasEnded { return false }
        waiters[id] = waiter
        return true
    }

    /// Returns `nil` if the waiter was woken already, or has not begun to wait.
    mutating func stopWaiting(_ id: UInt64) -> Waiter? { waiters.removeValue(forKey: id) }

    /// Returns the waiters in the order in which they came.
    mutating func takeWaiters() -> [Waiter] {
        if waiters.isEmpty { return [] }
        let all = waiters.sorted { $0.key < $1.key }.map(\.value)
        waiters = [:]
        return all
    }
}
