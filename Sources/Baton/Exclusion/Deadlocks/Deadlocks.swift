/// Finds operations that wait for one another because of the exclusions that they hold, and ends one of them.
///
/// An operation that waits for exclusions waits for their holders and for the claims before it in the wait queues.
/// ``CycleFinder`` describes the other kinds of waits. A cycle of such waits is a deadlock only if no holder outside
/// the cycle can release what its members wait for: it suffices that one of several holders finishes.
///
/// A search starts when a claim begins to wait, and when another wait begins while an operation that holds exclusions
/// waits. So the thread that adds the last wait of a cycle finds the cycle. Nearly always there is none, and the search
/// takes a few steps however many operations wait:
///
/// 1. A ``CycleSuspicion`` looks for a cycle from both ends of the new wait. It follows waits of all kinds, but not the
///    order in the wait queues.
/// 2. If there is a cycle, a ``DeadlockedSet`` finds the operations that can never finish, whatever the order in the
///    wait queues is. A cycle in the set is broken.
/// 3. If there is no such set, but an operation that the search visited is queued behind others, a
///    ``WaitSimulation`` finds out which operations can still finish.
///
/// A search that exceeds its limit is left to a sweep of the queue in the background (``PendingSuspects``), because a
/// deadlock does not disappear.
enum Deadlocks {
    /// The maximum number of operations, waits and claims that the thread which has closed a cycle examines.
    static let searchLimit = 256
    /// The maximum number of searches by the thread that has closed a cycle.
    private static let maxSearches = 256
    /// The maximum number of passes of a sweep.
    private static let maxPasses = 256

    /// Breaks the deadlocks that a new wait has closed.
    ///
    /// - Parameters:
    ///   - origin: The operation that is awaited, or that has begun to wait itself.
    ///   - body: The operation that has begun to wait for `origin`; nil if `origin` itself has begun to wait.
    static func `break`(through origin: AnyOperation, awaitedBy body: AnyOperation? = nil) {
        for _ in 0..<maxSearches {
            switch CycleSuspicion.of(origin, awaitedBy: body) {
            case .none: return
            case .unknown: return sweepLater(origin, awaitedBy: body)
            case .cycle: break
            }
            let deadlockedSet = DeadlockedSet(from: origin)
            if deadlockedSet.includes(origin) {
                // A deadlock does not go away, so if two searches find the same set, all of its waits existed at the
                // same time.
                if !deadlockedSet.isPart(of: DeadlockedSet(from: origin)) { continue }
                guard let cycle = deadlockedSet.cycle() else { return }
                cycle.break()
                continue
            }
            if deadlockedSet.exceedsLimit { return sweepLater(origin, awaitedBy: body) }
            if !deadlockedSet.dependsOnQueues { return }
            guard let simulation = WaitSimulation(from: [origin], limit: searchLimit),
                let second = WaitSimulation(from: [origin], limit: searchLimit)
            else { return sweepLater(origin, awaitedBy: body) }
            if simulation.isClear { return }
            simulation.resolve(confirmedBy: second)
        }
        sweepLater(origin, awaitedBy: body)
    }

    private static func sweepLater(_ origin: AnyOperation, awaitedBy body: AnyOperation?) {
        (body ?? origin).coreIfUnderWay?.sweepLater(.init(deadlocks: [origin]))
    }

    /// Breaks all deadlocks among the suspects and the operations that they wait for. No search has a
    /// limit, and the sweep ends after ``maxPasses`` of them.
    static func sweep(_ suspects: [AnyOperation]) async {
        var passes = 0
        while passes < maxPasses, resolve(suspects) {
            passes += 1
            await Task.yield()
        }
    }

    /// Does the same as ``sweep(_:)`` without yielding in between.
    static func sweepAtOnce(_ suspects: [AnyOperation]) {
        var passes = 0
        while passes < maxPasses, resolve(suspects) { passes += 1 }
    }

    /// Returns false if there was nothing to resolve.
    private static func resolve(_ suspects: [AnyOperation]) -> Bool {
        guard let simulation = WaitSimulation(from: suspects), !simulation.isClear else { return false }
        if let second = WaitSimulation(from: suspects) { simulation.resolve(confirmedBy: second) }
        return true
    }
}

extension AnyOperation {
    /// The number that distinguishes the claims of the operation.
    final var claimNumber: UInt32 { withLifecycle { $0.optionalState?.preconditions.requests ?? 0 } }

    /// Fails the operation if it still waits for the exclusions of the claim with this number.
    final func endAsDeadlocked(_ path: [OperationReference], claim number: UInt32) {
        enum End {
            case early(EarlyEnd)
            case evaluation(UnsafeContinuation<OperationError?, Never>)
        }
        let error = OperationError.exclusionDeadlock(path)
        let end = withLifecycle { life -> End? in
            guard let preconditions = life.optionalState?.preconditions, preconditions.requests == number else {
                return nil
            }
            // An operation whose claim was granted or cancelled in the meantime does not fail.
            if life.phase == .evaluating {
                return life.optionalState?.preconditions.takeWaitingEvaluation().map { .evaluation($0) }
            }
            guard preconditions.claimState == .requested else { return nil }
            return endBeforeRun(with: error, &life).map { .early($0) }
        }
        switch end {
        case .early(let end): end.complete()
        case .evaluation(let continuation):
            // The claim is withdrawn at once, and not when the task goes on, because a search would find the same cycle
            // until then.
            ExclusionManager.release(by: self)
            TSanAnnotations.willResume(self)
            continuation.resume(returning: error)
        case nil: break
        }
    }
}

// MARK: - Suspicion

/// Tells whether a new wait may have closed a cycle.
///
/// The search alternates between both ends of the wait and goes further each time, until one side has been seen
/// completely. A claim that nobody waits for is decided in one step, however many claims are before it, and so is a
/// wait for an operation that runs, however many operations wait behind it. A claim of a further attempt is queued
/// before the claims of first attempts, so these wait for it as well. For such a claim the search starts only from the
/// claim itself.
enum CycleSuspicion {
    case none
    case cycle
    /// The search has reached its limit.
    case unknown

    static func of(_ origin: AnyOperation, awaitedBy body: AnyOperation?) -> CycleSuspicion {
        let passesOthers = body == nil && ExclusionManager.isQueuedAsFurtherAttempt(origin)
        var limit = 16
        while limit <= Deadlocks.searchLimit {
            var back = Search(from: origin, to: [ObjectIdentifier(body ?? origin)], limit)
            let answer = back.run({ $0.mayWaitFor(within: &$1) }) { found in
                passesOthers && ExclusionManager.isQueued(found, behind: origin)
            }
            switch answer {
            case .none: return .none
            case .cycle: return .cycle
            case .unknown where passesOthers:
                limit *= 4
                continue
            case .unknown: break
            }
            var ahead = Search(from: body ?? origin, to: back.seen, limit)
            switch ahead.run({ $0.mayBeWaitedFor(within: &$1) }) {
            case .none: return .none
            case .cycle: return .cycle
            case .unknown: limit *= 4
            }
        }
        return .unknown
    }

    private struct Search {
        private var found: [AnyOperation]
        private(set) var seen: Set<ObjectIdentifier>
        private let ends: Set<ObjectIdentifier>
        private var search: ExclusionTable.BlockerSearch

        init(from start: AnyOperation, to ends: Set<ObjectIdentifier>, _ limit: Int) {
            found = [start]
            seen = [ObjectIdentifier(start)]
            self.ends = ends
            search = ExclusionTable.BlockerSearch(limit: limit)
        }

        mutating func run(
            _ neighbours: (AnyOperation, inout ExclusionTable.BlockerSearch) -> [AnyOperation],
            orUntil isEnd: (AnyOperation) -> Bool = { _ in false }
        ) -> CycleSuspicion {
            var next = 0
            while next < found.count, !search.isTruncated {
                for neighbour in neighbours(found[next], &search) {
                    if ends.contains(ObjectIdentifier(neighbour)) || isEnd(neighbour) { return .cycle }
                    if seen.insert(ObjectIdentifier(neighbour)).inserted { found.append(neighbour) }
                }
                next += 1
            }
            return search.isTruncated ? .unknown : .none
        }
    }
}

extension AnyOperation {
    fileprivate final func mayWaitFor(within search: inout ExclusionTable.BlockerSearch) -> [AnyOperation] {
        let sources = waitsFor(first: search.budget + 1)
        if !search.spend(sources) || !hasClaim { return sources.operations }
        return sources.operations + ExclusionManager.possibleBlockers(of: self, within: &search)
    }

    fileprivate final func mayBeWaitedFor(within search: inout ExclusionTable.BlockerSearch) -> [AnyOperation] {
        let waiting = waitingOperations(first: search.budget + 1)
        if !search.spend(waiting) || !hasClaim { return waiting.operations }
        return waiting.operations + ExclusionManager.possiblyBlocked(by: self, within: &search)
    }

    /// True if the operation holds exclusions or waits for some.
    private final var hasClaim: Bool { withLifecycle { $0.optionalState?.preconditions.hasClaim ?? false } }
}

extension ExclusionTable.BlockerSearch {
    fileprivate mutating func spend(_ neighbours: AnyOperation.Neighbours) -> Bool {
        spend(neighbours.isComplete ? neighbours.operations.count : budget + 1)
    }
}
