extension AsyncOperationQueue {
    /// Adds an operation that starts after everything in the queue has finished, and before everything that is added
    /// later.
    ///
    /// ```swift
    /// queue.add(writes)
    /// queue.addBarrier(checkpoint)        // starts when all writes have finished
    /// queue.add(moreWrites)               // start when the checkpoint has finished
    /// ```
    ///
    /// - **Bodies that wait.** The barrier does not hold back an operation that the body of an earlier operation awaits
    ///   with ``OperationContext/run(_:file:line:)`` or, on its own task, ``run(_:)``. The barrier waits for that body,
    ///   and so for the operation. Operations that a body produces come after the barrier.
    /// - **Bodies of other queues.** The barrier does not hold back an operation that the body of another queue awaits
    ///   in this way, either. The barrier does not wait for that operation, so both may run at the same time.
    /// - **Inputs and dependencies.** The inputs of the barrier are added with it. Its other dependencies must have
    ///   been added before, or be added to another queue.
    /// - **Cycles.** An operation that was added after the barrier waits for the barrier. If the barrier, or an
    ///   operation before it, depends on that operation or awaits it, both fail with
    ///   ``OperationError/dependencyCycle(_:)``.
    /// - **Cancelled barriers.** A barrier that is cancelled before it starts has no effect on the others.
    /// - **Memory.** Until the barrier starts or is cancelled, it retains the operations that it waits for, with their
    ///   outputs, as every operation retains its dependencies.
    ///
    /// Adding an operation that was added before is ``Misuse`` and changes nothing.
    ///
    /// - Parameter operation: The operation that runs alone.
    /// - Complexity: O(n) for n operations in the queue if it has no unfinished barrier, or if the last one has joined
    ///   another operation; otherwise for n operations that have been added since the last one. The barrier adds no
    ///   cost to operations that are added later.
    @_disfavoredOverload  // The compiler would not report a mistake in the closure of `addBarrier { … }`.
    public func addBarrier(_ operation: AnyOperation, file: StaticString = #fileID, line: UInt = #line) {
        core.addBarrier(operation, CallSite(file: file, line: line))
    }

    /// Makes a barrier from a closure, adds it and returns it. See ``addBarrier(_:file:line:)``.
    ///
    /// - Parameter body: The closure that runs as the body, on a task of the queue. It receives no context.
    /// - Returns: The barrier, which explanations and events call "barrier".
    /// - Complexity: O(n) for n operations in the queue if it has no unfinished barrier, otherwise for n operations
    ///   that have been added since the last one.
    @discardableResult
    public func addBarrier<Output: Sendable>(
        _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Output
    ) -> AsyncOperation<Output> {
        addBarrier(nil, body)
    }

    /// Makes a barrier with a name from a closure, adds it and returns it. See ``addBarrier(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - name: The name of the operation in explanations and events. Nil names it "barrier".
    ///   - body: The closure that runs as the body, on a task of the queue. It receives no context.
    /// - Returns: The barrier.
    /// - Complexity: O(n) for n operations in the queue if it has no unfinished barrier, otherwise for n operations
    ///   that have been added since the last one.
    @discardableResult
    public func addBarrier<Output: Sendable>(
        _ name: String?, _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Output
    ) -> AsyncOperation<Output> {
        let operation = AsyncOperation(name ?? "barrier", body)
        core.addBarrier(operation, nil)
        return operation
    }
}

extension QueueCore {
    fileprivate func addBarrier(_ barrier: AnyOperation, _ callSite: CallSite?) {
        // Inputs that were added after the barrier would wait for the barrier.
        addInputs(of: barrier)
        add(barrier: barrier, callSite)
    }
}

// MARK: - Fences

/// An operation without a body that stands before or behind a barrier. It finishes as soon as every operation that it
/// waits for has finished.
///
/// A barrier and each later operation need a single edge to a fence, however many operations and barriers come before.
/// A fence belongs to no queue, is never shown to users, and cannot be cancelled, so cancelling a barrier does not
/// change the order of the others.
final class Fence: AnyOperation, @unchecked Sendable {
    enum Side {
        /// The fence opens when every operation that was in the queue before the barrier has finished.
        case before
        /// The fence opens when the barrier and every earlier barrier have finished.
        case behind
    }

    private let side: Side
    /// The number of its barrier in ``Barriers``.
    fileprivate let number: Int
    /// True if the first edge of the fence leads to a barrier.
    private let hasBarrier: Bool
    /// The queue whose order the fence keeps. Nil when the fence is open or nobody needs it. Written under the
    /// operation's lock.
    private var orderedQueue: QueueCore?
    /// The number of operations and fences that wait for this fence, or are about to. Guarded by the queue's lock, as
    /// is `isCurrent`.
    fileprivate var users = 0
    /// True while later operations are placed behind this fence.
    fileprivate var isCurrent: Bool

    /// Makes a fence.
    ///
    /// - Parameters:
    ///   - number: The number of the barrier. Both of its fences have the same one.
    ///   - barrier: The previous barrier, or the barrier itself for the fence behind it.
    ///   - earlier: The fence on the same side of the previous barrier. It is needed because `barrier`, which waits for
    ///     everything that `earlier` waits for, may be cancelled.
    ///   - others: Further operations of any kind to wait for.
    init(
        _ side: Side, _ number: Int, _ barrier: AnyOperation?, _ earlier: Fence?, _ others: [AnyOperation],
        on core: QueueCore
    ) {
        self.side = side
        self.number = number
        hasBarrier = barrier != nil
        orderedQueue = core
        isCurrent = side == .behind
        super.init(after: (barrier.map { [$0] } ?? []) + (earlier.map { [$0] } ?? []) + others)
        // Operations that wait for the fence raise its priority, and the fence passes the priority on to its sources.
        currentPriority = .veryLow
        earlier?.users += 1
        withLifecycle { _ = $0.adopt() }
        // The fence retains itself until it opens or nobody needs it.
        _ = Retained(self).handOver()
    }

    /// Opens the fence, after every operation that it waits for has finished.
    func open() {
        if let (core, action) = withLifecycle({ life in orderedQueue.take().map { ($0, life.finish()) } }) {
            if side == .behind {
                let opened = core.state.withLock { $0.barriers.removeFinishedBarrier(of: self) }
                withExtendedLifetime(opened) {}
            }
            _ = core.complete(self, action, continuing: false)
        }
        Retained(handedOver: self).release()
    }

    /// Called when an operation that was to wait for the fence ends early. If no other operation needs the fence, the
    /// fence stops waiting and releases its dependencies.
    func removeUser(_ user: AnyOperation) {
        guard let core = withLifecycle({ _ in orderedQueue }) else { return }
        let isCancelled = side == .before && !user.isFence && !user.hasJoined
        let unneeded = core.state.withLock { state in
            users -= 1
            assert(users >= 0)
            // Later operations wait for the fence behind the previous barrier again.
            let behind = isCancelled ? state.barriers.removeCancelledBarrier(waitingFor: self)?.behind : nil
            return [self, behind].compactMap(\.self).filter { $0.users == 0 && !$0.isCurrent }
        }
        for fence in unneeded { fence.dissolve() }
    }

    private func dissolve() {
        let end = withLifecycle { life in
            orderedQueue.take().flatMap { _ in endBeforeRun(with: .cancelled(reason: .requested), &life) }
        }
        end?.complete()
    }

    /// The unfinished operations that have to finish before the fence opens. Operations before an unfinished barrier
    /// are left out, because that barrier waits for them.
    var underlyingWaits: [Wait] {
        var waits: [Wait] = []
        var next: Fence? = self
        while let fence = next {
            next = nil
            var isBarrierLeft = false
            let sources = fence.withLifecycle { $0.phase == .finished ? [] : fence.edges.all }
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
    /// The operations without fences. Each fence is replaced by the operations that it waits for.
    var withoutFences: [AnyOperation] {
        if !contains(where: \.isFence) { return self }
        let own = Set(lazy.filter { !$0.isFence }.map { ObjectIdentifier($0) })
        return flatMap { operation in
            guard let fence = operation as? Fence else { return [operation] }
            return fence.underlyingWaits.map(\.source).filter { !own.contains(ObjectIdentifier($0)) }
        }
    }
}

/// An unfinished barrier with its fences.
struct FencedBarrier {
    let barrier: AnyOperation
    let before: Fence
    let behind: Fence
}

/// The barriers of a queue that have not finished, in the order in which they were added.
struct Barriers {
    private struct Entry {
        /// The barrier, or nil if it has been cancelled or has finished.
        var barrier: FencedBarrier?
        /// The places of the registry where operations have entered after this barrier and before the next one. Nil if
        /// there are so many that looking at every operation of the queue takes less time.
        var places: [UInt32]? = []

        /// Adds the places of another entry, in no particular order. The shorter list is appended to the longer one.
        mutating func takePlaces(of other: Entry) {
            guard let own = places, let others = other.places else { return places = nil }
            places = nil
            places = own.count < others.count ? others + own : own + others
        }
    }

    /// The entries. The last one is an unfinished barrier.
    private var list: [Entry] = []
    /// The number of the first entry in `list`.
    private var first = 0
    /// The number of entries at the front of `list` whose barriers are removed.
    private var removedCount = 0

    @inline(__always)
    var isEmpty: Bool { list.isEmpty }

    var newest: FencedBarrier? { list.last?.barrier }

    /// The places where operations have entered since the newest barrier, or nil if there are too many.
    var placesSinceNewest: [UInt32]? { list.last?.places }

    var nextNumber: Int { first + list.count }

    mutating func append(_ barrier: FencedBarrier) { list.append(Entry(barrier: barrier)) }

    /// Notes that an operation has entered after the newest barrier.
    ///
    /// - Parameter count: The number of operations in the queue.
    mutating func noteEntry(at place: UInt32, besides count: Int) {
        let last = list.count - 1
        if let noted = list[last].places?.count, noted > 2 * count + 64 { list[last].places = nil }
        list[last].places?.append(place)
    }

    /// Removes the barrier of a fence that opens.
    mutating func removeFinishedBarrier(of fence: Fence) -> FencedBarrier? {
        remove(fence.number) { $0.behind === fence }
    }

    /// Removes the barrier that waits for this fence, because the barrier is cancelled.
    mutating func removeCancelledBarrier(waitingFor fence: Fence) -> FencedBarrier? {
        let removed = remove(fence.number) { $0.before === fence }
        removed?.behind.isCurrent = false
        return removed
    }

    /// Removes a barrier. Returns nil if it is not there any more. When the newest barriers go, later ones get the same
    /// numbers; `isMeant` tells them apart.
    private mutating func remove(_ number: Int, where isMeant: (FencedBarrier) -> Bool) -> FencedBarrier? {
        guard number >= first + removedCount, number < nextNumber, let removed = list[number - first].barrier,
            isMeant(removed)
        else { return nil }
        list[number - first].barrier = nil
        while removedCount < list.count, list[removedCount].barrier == nil { removedCount += 1 }
        // The operations that entered after the removed barriers count as entered after the barrier before them.
        while list.count > removedCount, list[list.count - 1].barrier == nil {
            let last = list.removeLast()
            list[list.count - 1].takePlaces(of: last)
        }
        // Entries are removed once they are more than half of the list, so that each remaining entry is moved only a
        // few times.
        if removedCount > list.count / 2 {
            list.removeFirst(removedCount)
            first += removedCount
            removedCount = 0
        }
        return removed
    }
}

extension QueueCore.State {
    /// Makes the fences of a barrier, before the barrier enters.
    mutating func setUpFences(around barrier: AnyOperation, on core: QueueCore) {
        let (last, number) = (barriers.newest, barriers.nextNumber)
        let before: Fence
        // If nobody waits for the previous `before` fence, its barrier has joined another operation and does not wait
        // for the operations before it.
        if let last, let places = barriers.placesSinceNewest, last.before.users > 0 {
            let others = registry.members(at: places).filter { $0 !== last.barrier }
            before = Fence(.before, number, last.barrier, last.before, others, on: core)
        } else {
            before = Fence(.before, number, nil, nil, registry.members(), on: core)
        }
        // Counts the barrier itself as a user.
        before.users += 1
        let behind = Fence(.behind, number, barrier, last?.behind, [], on: core)
        barriers.append(FencedBarrier(barrier: barrier, before: before, behind: behind))
    }

    mutating func noteEntry(of operation: Unretained<AnyOperation>) {
        barriers.noteEntry(at: operation.use { $0.registryIndex }, besides: registry.count)
    }

    /// Counts operations that are about to wait for the fence.
    func addUsers(_ count: Int, of fence: Fence) { fence.users += count }
}

extension AnyOperation {
    /// True if the operation shares the outcome of another one, and therefore waits for nothing else.
    final var hasJoined: Bool { withLifecycle { $0.optionalState?.uniqueness?.joined != nil } }
}
