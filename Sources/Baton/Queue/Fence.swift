/// A place in the order of a queue, before or behind a barrier: an operation without a body, which finishes in the
/// moment in which all that it waits for has finished.
///
/// With fences a barrier and what comes behind it need one edge each, however many operations and barriers come before.
/// A fence is in no queue, no user sees one, and nobody can cancel it: so the order stays when one of the barriers is
/// cancelled.
final class Fence: AnyOperation, @unchecked Sendable {
    enum Side {
        /// Opens when all that was there before the barrier has finished.
        case before
        /// Opens when the barrier and all earlier ones have finished.
        case behind
    }

    private let side: Side
    /// The first edge is that to a barrier.
    private let hasBarrier: Bool
    /// The queue in which it makes the order. Nil: it is open, or nobody needs it. Written under the lock.
    @exclusivity(unchecked) private var ordered: QueueCore?
    /// Of one that is before a barrier: that barrier, and the fence before the next one. Guarded by the queue's lock.
    @exclusivity(unchecked) private var users = 1

    /// - Parameters:
    ///   - barrier: Waits for what `earlier` waits for, unless it is cancelled.
    ///   - others: Of any kind.
    init(_ side: Side, _ barrier: AnyOperation?, _ earlier: Fence?, _ others: [AnyOperation], on core: QueueCore) {
        self.side = side
        hasBarrier = barrier != nil
        ordered = core
        super.init(after: (barrier.map { [$0] } ?? []) + (earlier.map { [$0] } ?? []) + others)
        // What waits for it raises it, and so what it waits for.
        level = .veryLow
        withLife { _ = $0.claim() }
        // Until it opens, or nobody needs it.
        _ = Unmanaged.passRetained(self)
    }

    /// All that it waits for has finished.
    func open() {
        if let (core, ending) = withLife({ life in ordered.take().map { ($0, life.finish()) } }) {
            core.forget(self)
            _ = core.settle(self, ending, continuing: false)
        }
        Unmanaged.passUnretained(self).release()
    }

    /// The queue is locked by the caller. False: nobody has needed it, and it stands for nothing any more.
    fileprivate func addUser() -> Bool {
        if users == 0 { return false }
        users += 1
        return true
    }

    /// One that was to wait for it has ended. When there is no other, it lets go of what it waits for.
    func isLeft() {
        guard side == .before, let core = withLife({ _ in ordered }) else { return }
        let isNeeded = core.state.withLock { _ in
            users -= 1
            return users > 0
        }
        if isNeeded { return }
        let end = withLife { life in
            ordered.take().flatMap { _ in endBeforeRun(with: .cancelled(reason: .requested), &life) }
        }
        end?.settle()
    }

    /// The operations that have to finish before it opens and that wait for no others of them because of a barrier.
    var waitsInItsStead: [Wait] {
        var waits: [Wait] = []
        var next: Fence? = self
        while let fence = next {
            next = nil
            var isBarrierLeft = false
            let sources = fence.withLife { $0.phase == .finished ? [] : fence.edges.all }
            for (place, source) in sources.enumerated() where !source.hasFinished {
                if let earlier = source as? Fence {
                    next = isBarrierLeft ? nil : earlier
                } else if place == 0, fence.hasBarrier {
                    isBarrierLeft = true
                    waits.append(Wait(kind: .barrier, source: source))
                } else {
                    waits.append(Wait(kind: .order, source: source))
                }
            }
        }
        return waits
    }
}

extension AnyOperation {
    final var isFence: Bool { type(of: self) == Fence.self }
}

extension [AnyOperation] {
    /// As users see it.
    var withoutFences: [AnyOperation] {
        if !contains(where: \.isFence) { return self }
        return flatMap { ($0 as? Fence)?.waitsInItsStead.map(\.source) ?? [$0] }
    }
}

/// The fences of the newest barrier.
struct Fencing {
    let barrier: AnyOperation
    let before: Fence
    let behind: Fence
    /// Where in the registry something has entered since. Nil: that would be more than to look at all that is there.
    private(set) var entries: [UInt32]? = []

    init(around barrier: AnyOperation, before: Fence, behind: Fence) {
        self.barrier = barrier
        self.before = before
        self.behind = behind
    }

    mutating func noteEntry(at place: UInt32, besides count: Int) {
        if let entered = entries?.count, entered > 2 * count + 64 { entries = nil }
        entries?.append(place)
    }
}

extension QueueCore.State {
    /// Before the barrier enters.
    mutating func setUpFences(around barrier: AnyOperation, on core: QueueCore) {
        let last = fencing
        let before: Fence
        if let last, let entries = last.entries, last.before.addUser() {
            let others = members(at: entries).filter { $0 !== last.barrier }
            before = Fence(.before, last.barrier, last.before, others, on: core)
        } else {
            before = Fence(.before, nil, nil, members(), on: core)
        }
        let behind = Fence(.behind, barrier, last?.behind, [], on: core)
        fencing = Fencing(around: barrier, before: before, behind: behind)
    }

    mutating func noteEntry(of operation: Unmanaged<AnyOperation>) {
        fencing?.noteEntry(at: operation._withUnsafeGuaranteedRef { $0.registryIndex }, besides: registry.count)
    }
}

extension QueueCore {
    /// The fence opens.
    fileprivate func forget(_ fence: Fence) {
        let forgotten = state.withLock { $0.fencing?.behind === fence ? $0.fencing.take() : nil }
        withExtendedLifetime(forgotten) {}
    }
}
