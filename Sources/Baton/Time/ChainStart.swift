import Synchronization

/// When the first of several operations has started, on the clock of its queue.
///
/// Each operation that a delay looks at has one of its own, for itself and everything that it needs, which is told by those of its
/// dependencies. So a chain of such delays is built in a time in proportion to its length: nobody walks through what another
/// call has seen. The dependencies know their readers weakly, so no chain of these is kept or released by its first one.
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

    private let state = LockedState(State())
    /// Something of what it needs has got or lost a dependency. It still tells its readers, and takes no new ones.
    private let hasChanged = Atomic<Bool>(false)

    init() {}

    /// Of `last` and everything that it needs now. What of it has started counts as if it started with this.
    init(of last: AnyOperation) { Self.chain(of: last).tell(self) }

    /// The first one counts.
    func note(_ time: TimeSource) { note(Start(time: time, instant: time.now)) }

    /// Zero if none has started.
    var elapsed: Duration {
        guard let start = state.withLock({ $0.start }) else { return .zero }
        return start.time.now - start.instant
    }

    /// The operations that it is of have other dependencies now.
    func dependenciesHaveChanged() {
        var changed = [self]
        while let chain = changed.popLast() {
            if chain.hasChanged.exchange(true, ordering: .relaxed) { continue }
            let readers = chain.state.withLock { $0.readers }
            changed.append(contentsOf: readers.compactMap(\.chain))
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
    private func tell(_ reader: ChainStart) {
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

    fileprivate var isUsable: Bool { !hasChanged.load(ordering: .relaxed) }
}

extension AnyOperation {
    /// Its own, and the dependencies that are still to tell it, if it is new.
    fileprivate final func chainStart() -> (ChainStart, sources: [AnyOperation]) {
        let new = ChainStart()
        let found = withLife { life -> (ChainStart, [AnyOperation])? in
            if life.hasBegun || life.phase == .finished { return nil }
            let details = life.madeDetails()
            if let known = details.chainStart, known.isUsable { return (known, []) }
            details.add(new)
            return (new, edges.all)
        }
        if let found { return found }
        new.note(core?.time ?? TimeSource(ContinuousClock()))
        return (new, [])
    }
}
