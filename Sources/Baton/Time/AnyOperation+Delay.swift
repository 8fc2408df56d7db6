extension AnyOperation {
    /// Starts the operation no sooner than `duration` after its dependencies have finished.
    ///
    /// ```swift
    /// let search = AsyncOperation(Search(text)).delay(.milliseconds(300)).unique(by: "search", policy: .replace)
    /// ```
    ///
    /// The operation holds no permit during the delay, but needs one to start. Its conditions are evaluated after the
    /// delay. An operation whose inputs are missing does not wait. Time is measured by the queue's clock. Only the
    /// first attempt waits; the pauses before further attempts are those of ``retry(_:attempts:deadline:file:line:)``.
    ///
    /// If this method is called again, the last delay counts. A call after the operation was added is reported as
    /// ``Misuse`` and has no effect.
    ///
    /// - Parameters:
    ///   - duration: The length of the delay. A negative duration is reported as ``Misuse`` and counts as zero.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: This operation.
    @discardableResult
    public final func delay(_ duration: Duration, file: StaticString = #fileID, line: UInt = #line) -> Self {
        let place = CallSite(file: file, line: line)
        return delay(by: .for(checked(duration, "a delay", place)), place)
    }

    /// Starts the operation no sooner than after the time that `rest` returns once the dependencies have finished.
    ///
    /// - Parameter rest: Returns the length of the delay. Zero or less means no delay.
    @discardableResult
    package final func delay(
        asking rest: @escaping @Sendable () -> Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        delay(by: .asking(rest), CallSite(file: file, line: line))
    }

    @discardableResult
    fileprivate final func delay(by delay: Delay, _ place: CallSite) -> Self {
        // The former delay, which owns one of the user's closures, is released after unlocking.
        var delay = Optional(delay)
        changeTiming("a delay", place) { timing in
            swap(&timing.ensureRareTimedState().delay, &delay)
            timing.preconditions.requireDelay()
        }
        withExtendedLifetime(delay) {}
        return self
    }
}

extension AsyncOperation where Output == Void {
    /// Returns an operation that finishes when `duration` has passed since its dependencies have finished.
    ///
    /// The operation holds no permit during the delay, but needs one to start. Time is measured by the queue's clock.
    ///
    /// - Parameters:
    ///   - duration: The length of the delay. A negative duration is reported as ``Misuse`` and counts as zero.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: A new operation.
    public static func delay(
        _ duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Void> {
        AsyncOperation("delay") {}.delay(duration, file: file, line: line)
    }
}

extension AsyncOperation {
    /// Returns an operation with this one's output that starts when `duration` has passed since this one has finished.
    ///
    /// The new operation waits as ``AnyOperation/delay(_:file:line:)`` describes. If this operation has no output, the
    /// new one does not wait.
    ///
    /// - Parameters:
    ///   - duration: The length of the delay. A negative duration is reported as ``Misuse`` and counts as zero.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: A new operation, which depends on this one.
    public final func delayed(
        by duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        AsyncOperation("delay", self) { $0 }.recordOrigin(step: .delayed, file, line)
            .delay(duration, file: file, line: line)
    }

    /// Returns an operation with this one's output that waits until `duration` has passed since the start of its chain.
    ///
    /// With a duration of 5 s, the new operation waits for 3 s after 2 s of work, and does not wait after 6 s of work.
    /// The chain is this operation with everything that it directly or indirectly needs at the time of this call; it
    /// starts when the first of these operations starts. Operations that have started before the call count as if they
    /// started with it.
    ///
    /// - Parameters:
    ///   - duration: The minimum time from the start of the chain. A negative duration is reported as ``Misuse`` and
    ///     counts as zero.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: A new operation, which depends on this one.
    /// - Complexity: O(*n*) for *n* operations of the chain and dependencies between them, not counting those that a
    ///   former call has visited. If an operation has lost a dependency, or an operation that it needs has gained or
    ///   lost one, all of its dependencies count again.
    public final func delayed(
        untilAtLeast duration: Duration, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        let operation = AsyncOperation("delay", self) { $0 }.recordOrigin(step: .delayed, file, line)
        let place = CallSite(file: file, line: line)
        let least = operation.checked(duration, "a delay", place)
        return operation.delay(by: .sinceStart(of: ChainStart(of: self), least), place)
    }
}

/// The delay between the time at which all dependencies have finished and the start.
enum Delay {
    case `for`(Duration)
    case sinceStart(of: ChainStart, Duration)
    case asking(@Sendable () -> Duration)

    /// Returns the remaining delay, and its end if that is known on the clock of `timerService`. Reads the user's clock
    /// or calls a closure, so the caller holds no lock.
    func rest(on timerService: TimerService) -> (duration: Duration, end: Duration?) {
        switch self {
        case .for(let duration): (duration, nil)
        case .sinceStart(let chain, let duration): chain.rest(of: duration, on: timerService)
        case .asking(let rest): (rest().bounded, nil)
        }
    }
}

// MARK: - Pauses

extension AnyOperation {
    /// Returns false if the end of the operation came before the end of the pause.
    final func endPause() -> Bool {
        let isOver = withLifecycle { $0.endPause() }
        if isObserved { publishEvents() }
        return isOver
    }

    /// Called when the timer of a pause fires. Takes over the reference to the operation that the timer held for the
    /// queue.
    static func pauseEnded(of operation: consuming Retained<AnyOperation>) {
        let (core, isFurtherAttempt) = operation.use { operation in
            let pause = operation.withLifecycle { life in
                (life.endPause() ? operation.core : nil, life.isBetweenAttempts)
            }
            if operation.isObserved { operation.publishEvents() }
            return pause
        }
        // The operation has ended before its pause, so the reference is released.
        if let core {
            let listed = operation.handOver()
            core.change { $0.list(listed, isFurtherAttempt: isFurtherAttempt) }
        } else {
            operation.release()
        }
    }
}

extension QueueCore {
    /// Lets the operation wait in no list and on no task. The timer takes over the reference that the queue holds to
    /// the operation.
    ///
    /// - Parameter end: The end of the pause, if the caller knows it. If the clock were read once for the duration and
    ///   again for the end, and moved in between, the pause would be too long.
    func pause(_ operation: consuming Retained<AnyOperation>, for duration: Duration, until end: Duration? = nil) {
        if duration <= .zero { return AnyOperation.pauseEnded(of: operation) }
        let end = end ?? timerService.now + duration
        // The timer may fire before its ticket is stored in the operation.
        let paused = operation.handOver()
        let retained = paused.object
        timerService.add(.pauseEnd(paused), at: end) { ticket in
            let hasEnded = retained.withLifecycle { life in
                guard life.phase == .added, let timing = life.optionalState?.timing else { return true }
                return !timing.storePause(until: end, ticket: ticket)
            }
            if hasEnded, timerService.remove(ticket) != nil { Retained(handedOver: paused).release() }
        }
    }
}

// MARK: - Start of a chain

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
        /// The operation has gained dependencies. Only the next chain start of the same operation becomes a
        /// reader.
        case growth
        /// The operation has lost a dependency, or an operation that it needs has gained or lost one. There are no
        /// new readers.
        case other
    }

    private let state = Locked(State())
    /// The raw value of the most serious ``DependencyChange``, which never decreases.
    private let change = AtomicMaximum(DependencyChange.none.rawValue)
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

    /// Returns the part of `duration` that is left since the start, and its end if that is known on the clock of
    /// `timerService`. Everything is left if no operation has started.
    func rest(of duration: Duration, on timerService: TimerService) -> (duration: Duration, end: Duration?) {
        guard let start = state.withLock({ $0.start }) else { return (duration, nil) }
        let end = start.instant + duration
        return (end - start.time.now, timerService.counts(from: start.time) ? end : nil)
    }

    /// Notes that the operation has gained a dependency.
    func dependencyWasAdded() { note(.growth) }

    /// Notes that the operation has lost a dependency.
    func dependencyWasRemoved() { note(.other) }

    private func note(_ change: DependencyChange) {
        var changed = [(chain: self, change: change)]
        while let (chain, change) = changed.popLast() {
            guard chain.change.raise(to: change.rawValue) else { continue }
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
        switch DependencyChange(rawValue: change.value) {
        case .none?: .all
        case .growth?: .allBefore(placeCount)
        case .other?, nil: .none
        }
    }
}

extension AnyOperation {
    /// Returns the chain start of the operation. If it is new, also returns the dependencies that have to inform it.
    fileprivate final func chainStart() -> (ChainStart, sources: [AnyOperation]) {
        let found = withLifecycle { life -> (ChainStart, former: ChainStart?, sources: [AnyOperation])? in
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
            chain.note(timeOfQueue ?? TimeSource(ContinuousClock()))
            return (chain, [])
        }
        former?.add(chain)
        return (chain, sources)
    }
}
