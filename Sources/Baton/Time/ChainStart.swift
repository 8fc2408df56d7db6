import Synchronization

/// The time at which the first of several operations has started, on the clock of its queue.
///
/// Every operation that such a delay has visited has a `ChainStart` of its own, which covers the operation and
/// everything that it needs. The chain starts of the dependencies inform it. So a chain of such delays is built in time
/// proportional to its length, because no call visits the operations that another call has visited.
///
/// If the operation gets further dependencies, it gets a new `ChainStart`, which is informed by the former one and by
/// the further dependencies. A chain start references its readers weakly, so it neither retains them nor releases a
/// chain of them recursively.
final class ChainStart: Sendable {
    private struct Start {
        let time: TimeSource
        let instant: Duration
    }

    private struct Reader {
        weak let chain: ChainStart?
    }

    private struct State {
        var start: Start?
        /// The chain starts to inform of the start. Empty after the start.
        var readers: [Reader] = []
        /// The number of readers at which released ones are removed.
        var sweepCount = 8

        /// Removes released readers. Returns the readers that it has retained, which the caller releases after
        /// unlocking.
        mutating func sweepReaders() -> [ChainStart?] {
            let retained = readers.map(\.chain)
            readers = zip(readers, retained).filter { $0.1 != nil }.map(\.0)
            sweepCount = max(8, 2 * readers.count)
            return retained
        }
    }

    /// The changes of the dependencies since the chain start was made. It informs its readers even after a change.
    private enum DependencyChange: UInt8 {
        case none
        /// The operation has got further dependencies. Only the next chain start of the same operation becomes a
        /// reader.
        case growth
        /// The operation has lost a dependency, or an operation that it needs has got or lost one. There are no new
        /// readers.
        case other
    }

    private let state = Locked(State())
    /// The raw value of the most serious ``DependencyChange``, which never decreases.
    private let change = Atomic<UInt8>(DependencyChange.none.rawValue)
    /// The number of places for dependencies that the operation had when this object was made.
    private let placeCount: Int

    init(placeCount: Int = 0) { self.placeCount = placeCount }

    /// Covers `last` and everything that it needs now. Operations that have started count as if they started now.
    convenience init(of last: AnyOperation) {
        self.init()
        Self.chain(of: last).add(self)
    }

    /// Notes a start at the current time. Only the first start counts.
    func note(_ time: TimeSource) { note(Start(time: time, instant: time.now)) }

    /// The time since the start; zero if no operation has started.
    var elapsed: Duration {
        guard let start = state.withLock({ $0.start }) else { return .zero }
        return start.time.now - start.instant
    }

    /// Notes that the operation has got a dependency.
    func dependencyWasAdded() { note(.growth) }

    /// Notes that the operation has lost a dependency.
    func dependencyWasRemoved() { note(.other) }

    private func note(_ change: DependencyChange) {
        var changed = [(chain: self, change: change)]
        while let (chain, change) = changed.popLast() {
            let (former, now) = chain.change.max(change.rawValue, ordering: .relaxed)
            if former == now { continue }
            let readers = chain.state.withLock { $0.readers }
            for case let reader? in readers.map(\.chain) { changed.append((reader, .other)) }
        }
    }

    // MARK: Readers

    private func note(_ start: Start) {
        var unvisited = [self]
        while let chain = unvisited.popLast() {
            let readers = chain.state.withLock { state -> [Reader] in
                if state.start != nil { return [] }
                state.start = start
                defer { state.readers = [] }
                return state.readers
            }
            unvisited.append(contentsOf: readers.compactMap(\.chain))
        }
    }

    /// Makes the start of this object the start of `reader`. If this one has started, `reader` starts now.
    fileprivate func add(_ reader: ChainStart) {
        // The readers that were retained by the sweep are released after unlocking.
        let (start, retained) = state.withLock { state -> (Start?, [ChainStart?]) in
            if let start = state.start { return (start, []) }
            state.readers.append(Reader(chain: reader))
            return (nil, state.readers.count < state.sweepCount ? [] : state.sweepReaders())
        }
        withExtendedLifetime(retained) {}
        if let start { reader.note(start.time) }
    }

    // MARK: Building

    private static func chain(of last: AnyOperation) -> ChainStart {
        var chains: [ObjectIdentifier: ChainStart] = [:]
        var links: [(source: AnyOperation, reader: ChainStart)] = []
        var left = [last]
        while let operation = left.popLast() {
            if chains[ObjectIdentifier(operation)] != nil { continue }
            let (chain, sources) = operation.chainStart()
            chains[ObjectIdentifier(operation)] = chain
            for source in sources {
                links.append((source, chain))
                left.append(source)
            }
        }
        for (source, reader) in links { chains[ObjectIdentifier(source)]?.add(reader) }
        return chains[ObjectIdentifier(last)]!
    }

    /// The part of a chain start that the next one of the same operation can rely on.
    fileprivate enum Reuse {
        /// It is still complete.
        case all
        /// It is complete except for the dependencies after this many places.
        case allBefore(Int)
        case none
    }

    fileprivate var reuse: Reuse {
        switch DependencyChange(rawValue: change.load(ordering: .relaxed)) {
        case .none?: .all
        case .growth?: .allBefore(placeCount)
        case .other?, nil: .none
        }
    }
}

extension AnyOperation {
    /// Returns the chain start of the operation. If it is new, also returns the dependencies that have to inform it.
    fileprivate final func chainStart() -> (ChainStart, sources: [AnyOperation]) {
        let found = withLife { life -> (ChainStart, former: ChainStart?, sources: [AnyOperation])? in
            if life.hasBegun || life.phase == .finished { return nil }
            let optionalState = life.ensureOptionalState()
            let former = optionalState.chainStart
            let reuse = former?.reuse ?? .none
            if case .all = reuse, let former { return (former, nil, []) }
            let new = ChainStart(placeCount: edges.placeCount)
            optionalState.add(new)
            // A removal may have moved the remaining dependencies to other places.
            guard case .allBefore(let count) = reuse, optionalState.removals == nil else {
                return (new, nil, edges.all.filter { !$0.isFence })
            }
            return (new, former, edges.all(after: count))
        }
        guard let (chain, former, sources) = found else {
            let chain = ChainStart()
            chain.note(core?.time ?? TimeSource(ContinuousClock()))
            return (chain, [])
        }
        former?.add(chain)
        return (chain, sources)
    }
}
