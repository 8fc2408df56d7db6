import Synchronization

/// When the first of several operations has started, on the clock of its queue.
///
/// Each operation that a delay looks at has one of its own, for itself and everything that it needs, which is told by
/// those of its dependencies. So a chain of such delays is built in a time in proportion to its length: nobody walks
/// through what another call has seen. If the operation gets further dependencies, it has another one of these from
/// then on, which is told by the former one and by the further dependencies. The dependencies know their readers
/// weakly, so no chain of these is kept or released by its first one.
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
        /// To be told of the start. None from then on.
        var readers: [Reader] = []
        /// With so many readers, those that have gone are dropped.
        var sweepCount = 8

        /// Returns those that it has looked at.
        mutating func sweepReaders() -> [ChainStart?] {
            let looked = readers.map(\.chain)
            readers = zip(readers, looked).filter { $0.1 != nil }.map(\.0)
            sweepCount = max(8, 2 * readers.count)
            return looked
        }
    }

    /// How the dependencies have changed since the chain was made. After any change, the chain still tells its readers.
    private enum Change: UInt8 {
        case none
        /// Its operation has got further ones. The next one of that operation reads it, and nobody else does.
        case growth
        /// Its operation has lost some, or something that the operation needs has got or lost some. It takes no new
        /// readers.
        case other
    }

    private let state = Locked(State())
    /// Only grows.
    private let change = Atomic<UInt8>(Change.none.rawValue)
    /// Its operation had so many places for dependencies.
    private let placeCount: Int

    init(placeCount: Int = 0) { self.placeCount = placeCount }

    /// Of `last` and everything that it needs now. What of it has started counts as if it started with this.
    convenience init(of last: AnyOperation) {
        self.init()
        Self.chain(of: last).tell(self)
    }

    /// The first one counts.
    func note(_ time: TimeSource) { note(Start(time: time, instant: time.now)) }

    /// Zero if none has started.
    var elapsed: Duration {
        guard let start = state.withLock({ $0.start }) else { return .zero }
        return start.time.now - start.instant
    }

    /// Its operation has got another dependency.
    func dependencyWasAdded() { note(.growth) }

    /// Its operation has lost a dependency.
    func dependencyWasRemoved() { note(.other) }

    private func note(_ change: Change) {
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
        var untold = [self]
        while let chain = untold.popLast() {
            let readers = chain.state.withLock { state -> [Reader] in
                if state.start != nil { return [] }
                state.start = start
                defer { state.readers = [] }
                return state.readers
            }
            untold.append(contentsOf: readers.compactMap(\.chain))
        }
    }

    /// When this starts, so does `reader`: now, if it has started.
    fileprivate func tell(_ reader: ChainStart) {
        // What is looked at is released after unlocking.
        let (start, looked) = state.withLock { state -> (Start?, [ChainStart?]) in
            if let start = state.start { return (start, []) }
            state.readers.append(Reader(chain: reader))
            return (nil, state.readers.count < state.sweepCount ? [] : state.sweepReaders())
        }
        withExtendedLifetime(looked) {}
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
        for (source, reader) in links { chains[ObjectIdentifier(source)]?.tell(reader) }
        return chains[ObjectIdentifier(last)]!
    }

    /// How much the next one of its operation can take from it.
    fileprivate enum Use {
        /// It is still right.
        case all
        /// It is right but for the dependencies after so many places.
        case allBefore(Int)
        case none
    }

    fileprivate var use: Use {
        switch Change(rawValue: change.load(ordering: .relaxed)) {
        case .none?: .all
        case .growth?: .allBefore(placeCount)
        case .other?, nil: .none
        }
    }
}

extension AnyOperation {
    /// Its own, and the dependencies that are still to tell it, if it is new.
    fileprivate final func chainStart() -> (ChainStart, sources: [AnyOperation]) {
        let found = withLife { life -> (ChainStart, former: ChainStart?, sources: [AnyOperation])? in
            if life.hasBegun || life.phase == .finished { return nil }
            let optionalState = life.madeOptionalState()
            let former = optionalState.chainStart
            let use = former?.use ?? .none
            if case .all = use, let former { return (former, nil, []) }
            let new = ChainStart(placeCount: edges.placeCount)
            optionalState.add(new)
            // A removal may have moved the others to other places.
            guard case .allBefore(let count) = use, optionalState.removals == nil else {
                return (new, nil, edges.all.filter { !$0.isFence })
            }
            return (new, former, edges.all(after: count))
        }
        guard let (chain, former, sources) = found else {
            let chain = ChainStart()
            chain.note(core?.time ?? TimeSource(ContinuousClock()))
            return (chain, [])
        }
        former?.tell(chain)
        return (chain, sources)
    }
}
