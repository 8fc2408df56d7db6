/// An operation without a body that stands before or behind a barrier. It finishes as soon as every operation that it
/// waits for has finished.
///
/// A barrier and each later operation need a single edge to a fence, however many operations and barriers come before.
/// A fence belongs to no queue, is never shown to users, and cannot be cancelled, so cancelling a barrier does not
/// change the order of the others.
final class Fence: AnyOperation, @unchecked Sendable {
    enum Side {
        /// Opens when all that was there before the barrier has finished.
        case before
        /// Opens when the barrier and all earlier ones have finished.
        case behind
    }

    private let side: Side
    /// The place of its barrier in ``Barriers``.
    fileprivate let number: Int
    /// The first edge is that to a barrier.
    private let hasBarrier: Bool
    /// The queue in which it makes the order. Nil: it is open, or nobody needs it. Written under the lock.
    @exclusivity(unchecked) private var ordered: QueueCore?
    /// How many operations and fences wait for this fence, or are about to. Guarded by the queue's lock, as `isListed`.
    @exclusivity(unchecked) fileprivate var users = 0
    /// True while later operations are placed behind this fence.
    @exclusivity(unchecked) fileprivate var isListed: Bool

    /// - Parameters:
    ///   - number: The same for both fences of a barrier.
    ///   - barrier: Waits for what `earlier` waits for, unless it is cancelled.
    ///   - others: Of any kind.
    init(
        _ side: Side, _ number: Int, _ barrier: AnyOperation?, _ earlier: Fence?, _ others: [AnyOperation],
        on core: QueueCore
    ) {
        self.side = side
        self.number = number
        hasBarrier = barrier != nil
        ordered = core
        isListed = side == .behind
        super.init(after: (barrier.map { [$0] } ?? []) + (earlier.map { [$0] } ?? []) + others)
        // What waits for it raises it, and so what it waits for.
        level = .veryLow
        earlier?.users += 1
        withLife { _ = $0.claim() }
        // Until it opens, or nobody needs it.
        _ = Unmanaged.passRetained(self)
    }

    /// All that it waits for has finished.
    func open() {
        if let (core, ending) = withLife({ life in ordered.take().map { ($0, life.finish()) } }) {
            if side == .behind {
                let opened = core.state.withLock { $0.barriers.fenceOpens(self) }
                withExtendedLifetime(opened) {}
            }
            _ = core.settle(self, ending, continuing: false)
        }
        Unmanaged.passUnretained(self).release()
    }

    /// Called when an operation that was to wait for the fence ends early. If no other operation needs the fence, the
    /// fence stops waiting and releases its dependencies.
    func isLeft(by leaver: AnyOperation) {
        guard let core = withLife({ _ in ordered }) else { return }
        let isCancelled = side == .before && !leaver.isFence && !leaver.hasJoined
        let unneeded = core.state.withLock { state in
            users -= 1
            // What comes later stands behind the earlier barriers again.
            let behind = isCancelled ? state.barriers.isCancelled(behind: self)?.behind : nil
            return [self, behind].compactMap(\.self).filter { $0.users == 0 && !$0.isListed }
        }
        for fence in unneeded { fence.dissolve() }
    }

    private func dissolve() {
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
        let own = Set(lazy.filter { !$0.isFence }.map { ObjectIdentifier($0) })
        return flatMap { operation in
            guard let fence = operation as? Fence else { return [operation] }
            return fence.waitsInItsStead.map(\.source).filter { !own.contains(ObjectIdentifier($0)) }
        }
    }
}

/// A barrier that has not finished.
struct Fencing {
    let barrier: AnyOperation
    let before: Fence
    let behind: Fence
}

/// The barriers of a queue that have not finished, in the order in which they were added.
struct Barriers {
    private struct Entry {
        /// Nil: it has been cancelled, or has finished.
        var fencing: Fencing?
        /// Where in the registry something has entered after the barrier and before the next one. Nil: more than it
        /// takes to look at all that is there.
        var places: [UInt32]? = []

        /// In no particular order: the longer list takes up the shorter one.
        mutating func takePlaces(of other: Entry) {
            guard let own = places, let others = other.places else { return places = nil }
            places = nil
            places = own.count < others.count ? others + own : own + others
        }
    }

    /// The last one is there.
    private var list: [Entry] = []
    /// The number of the first in the list.
    private var first = 0
    /// So many of the first have gone.
    private var gone = 0

    @inline(__always)
    var isEmpty: Bool { list.isEmpty }

    var newest: Fencing? { list.last?.fencing }

    /// Where something has entered since the newest barrier. Nil: at too many places.
    var placesSinceNewest: [UInt32]? { list.last?.places }

    var nextNumber: Int { first + list.count }

    mutating func append(_ fencing: Fencing) { list.append(Entry(fencing: fencing)) }

    /// - Parameter count: How many operations there are.
    mutating func noteEntry(at place: UInt32, besides count: Int) {
        let last = list.count - 1
        if let noted = list[last].places?.count, noted > 2 * count + 64 { list[last].places = nil }
        list[last].places?.append(place)
    }

    /// The fence behind a barrier opens: all earlier ones have gone.
    mutating func fenceOpens(_ fence: Fence) -> Fencing? { take(fence.number) { $0.behind === fence } }

    /// The barrier behind this fence is cancelled.
    mutating func isCancelled(behind fence: Fence) -> Fencing? {
        let removed = take(fence.number) { $0.before === fence }
        removed?.behind.isListed = false
        return removed
    }

    /// Nil: it is not there any more. When the last ones go, their numbers are given to others.
    private mutating func take(_ number: Int, if isMeant: (Fencing) -> Bool) -> Fencing? {
        guard number >= first + gone, number < nextNumber, let taken = list[number - first].fencing, isMeant(taken)
        else { return nil }
        list[number - first].fencing = nil
        while gone < list.count, list[gone].fencing == nil { gone += 1 }
        // What entered after the last ones has entered after the one before them.
        while list.count > gone, list[list.count - 1].fencing == nil {
            let last = list.removeLast()
            list[list.count - 1].takePlaces(of: last)
        }
        // Half of them at a time, so that each is moved a few times at most.
        if gone > list.count / 2 {
            list.removeFirst(gone)
            first += gone
            gone = 0
        }
        return taken
    }
}

extension QueueCore.State {
    /// Before the barrier enters.
    mutating func setUpFences(around barrier: AnyOperation, on core: QueueCore) {
        let (last, number) = (barriers.newest, barriers.nextNumber)
        let before: Fence
        // A barrier that has joined an operation does not need its fence.
        if let last, let places = barriers.placesSinceNewest, last.before.users > 0 {
            let others = members(at: places).filter { $0 !== last.barrier }
            before = Fence(.before, number, last.barrier, last.before, others, on: core)
        } else {
            before = Fence(.before, number, nil, nil, members(), on: core)
        }
        // That of the barrier.
        before.users += 1
        let behind = Fence(.behind, number, barrier, last?.behind, [], on: core)
        barriers.append(Fencing(barrier: barrier, before: before, behind: behind))
    }

    mutating func noteEntry(of operation: Unmanaged<AnyOperation>) {
        barriers.noteEntry(at: operation._withUnsafeGuaranteedRef { $0.registryIndex }, besides: registry.count)
    }

    /// So many operations are about to stand behind the fence.
    func addUsers(_ count: Int, of fence: Fence) { fence.users += count }
}

extension AnyOperation {
    /// It shares the outcome of another operation, and waits for nothing else.
    final var hasJoined: Bool { withLife { $0.optionalState?.uniqueness?.joined != nil } }
}
