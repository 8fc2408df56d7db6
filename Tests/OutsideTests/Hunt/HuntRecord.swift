import Baton
import Synchronization

/// The observations of a round about one operation. The record uses relaxed atomics instead of a lock, because a lock
/// would order the bodies that write it.
final class HuntRecord: Sendable {
    let bodies = Atomic<Int>(0)
    let running = Atomic<Int>(0)
    let willFinish = Atomic<Int>(0)
    let didFinish = Atomic<Int>(0)
    let didStart = Atomic<Int>(0)
    let didCancel = Atomic<Int>(0)
    let handlersAdded = Atomic<Int>(0)
    /// True while the body waits for a cancellation.
    let isWaiting = Atomic<Bool>(false)
    /// The leaves of the combined condition that have been evaluated, as bits.
    let leaves = Atomic<UInt64>(0)
    /// True after the circuit breaker was asked for the first time.
    let hasAskedBreaker = Atomic<Bool>(false)
    /// True if the circuit breaker was open when it was asked for the first time.
    let sawOpenBreaker = Atomic<Bool>(false)
    /// The position of the first body among all first bodies of the round, from 1.
    let start = Atomic<Int>(0)
}

/// Counts the bodies that hold a permit or an exclusion at the same time, to check the limits.
final class HuntCounts: Sendable {
    private let holding: [Counter]
    private let holders: [Counter]

    final class Counter: Sendable {
        let now = Atomic<Int>(0)
        let limit: Atomic<Int>

        init(limit: Int) { self.limit = Atomic(limit) }

        /// Returns the number of those that count now, or nil if it is within the limit.
        func begin() -> Int? {
            let count = now.add(1, ordering: .relaxed).newValue
            return count > limit.load(ordering: .relaxed) ? count : nil
        }

        func end() { now.subtract(1, ordering: .relaxed) }
    }

    init(widths: [Int], limits: [Int]) {
        holding = widths.map(Counter.init(limit:))
        holders = limits.map(Counter.init(limit:))
    }

    /// Raises the limit of a queue. The greatest width that the queue has had counts, because a smaller width applies
    /// only to operations that start later.
    func widen(_ queue: Int, to width: Int) { holding[queue].limit.max(width, ordering: .relaxed) }

    /// Returns a description of the fault, or nil.
    func beginHolding(_ queue: Int) -> String? {
        let counter = holding[queue]
        let count = counter.now.add(1, ordering: .relaxed).newValue
        let limit = counter.limit.load(ordering: .relaxed)
        return count > limit ? "\(count) bodies at once in q\(queue), whose width is \(limit)" : nil
    }

    func endHolding(_ queue: Int) { holding[queue].now.subtract(1, ordering: .relaxed) }

    func beginExclusion(_ name: Int) -> String? {
        let counter = holders[name]
        let count = counter.now.add(1, ordering: .relaxed).newValue
        let limit = counter.limit.load(ordering: .relaxed)
        return count > limit ? "\(count) bodies at once hold exclusion \(name), whose limit is \(limit)" : nil
    }

    func endExclusion(_ name: Int) { holders[name].now.subtract(1, ordering: .relaxed) }
}
