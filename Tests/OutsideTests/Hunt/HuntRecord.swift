import Baton
import Synchronization

/// What a round has seen of one operation. The bodies write it, so it holds no lock that would order them.
final class HuntRecord: Sendable {
    let bodies = Atomic<Int>(0)
    let running = Atomic<Int>(0)
    let willFinish = Atomic<Int>(0)
    let didFinish = Atomic<Int>(0)
    let didStart = Atomic<Int>(0)
    let didCancel = Atomic<Int>(0)
    let handlersAdded = Atomic<Int>(0)
    /// Of a body that waits until somebody cancels it.
    let isWaiting = Atomic<Bool>(false)
}

/// What the bodies of a round must not do at once.
final class HuntCounts: Sendable {
    private let holding: [Counter]
    private let holders: [Counter]

    final class Counter: Sendable {
        let now = Atomic<Int>(0)
        let limit: Atomic<Int>

        init(limit: Int) { self.limit = Atomic(limit) }
    }

    init(widths: [Int], limits: [Int]) {
        holding = widths.map(Counter.init(limit:))
        holders = limits.map(Counter.init(limit:))
    }

    /// The greatest width that a queue has had counts; a narrower one holds for what starts later.
    func widen(_ queue: Int, to width: Int) { holding[queue].limit.max(width, ordering: .relaxed) }

    /// Nil if all is right.
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
