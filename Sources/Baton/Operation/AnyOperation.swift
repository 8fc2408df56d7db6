internal import Synchronization

/// One planned run: identity, dependencies, a place in a queue, and exactly one outcome, whatever its output's type.
///
/// The base class of ``AsyncOperation`` and ``GroupOperation``, and the element type of lists in which outputs differ.
/// Make operations as one of these. All members may be used from any thread. An operation that is never added never
/// runs; ``explain()`` says so.
public class AnyOperation: @unchecked Sendable {
    // @unchecked: the fields below are each guarded as their group says; `@exclusivity(unchecked)` spares the dynamic
    // check, which costs a quarter of a chain and finds nothing that these rules do not forbid.

    // Guards `life`, for a step at a time; see ``withLife(_:)``.
    private final let lock = SpinLock()
    final let dependencyCounter = DependencyCounter()
    @exclusivity(unchecked) private final var life: Lifecycle

    // Constant after the claim, and written under the lock before.
    @exclusivity(unchecked) final var queueNumber: UInt32 = 0
    // Guarded by the queue's lock.
    @exclusivity(unchecked) final var registryIndex: UInt32 = 0

    // Written under the lock while created; frozen by the add and read without it by the linking thread; dropped in the
    // step that finishes the operation, which cannot come before linking has ended.
    @exclusivity(unchecked) final var edges: DependencyList
    @exclusivity(unchecked) final var body: Body?

    // In the gap that the body leaves. `goesFirst` as `queueNumber`, but for a later change under the queue's lock;
    // `hasFailed` belongs to `outcome`.
    /// Written under the lock while created, then under the queue's, because a list of that may have to change.
    private final let levelStorage = Atomic<UInt8>(OperationPriority.normal.rawValue)
    /// A child that a running body waits for, or one that has failed and tries again: ahead of others, also while the
    /// queue is suspended.
    @exclusivity(unchecked) final var goesFirst = false
    /// A child that a running body waits for. As `queueNumber`.
    @exclusivity(unchecked) final var isChild = false
    @exclusivity(unchecked) final var hasFailed = false
    /// Its body does not run if one of its inputs has no output.
    final let needsInputs: Bool
    /// Belongs to `outcome`: releasing that may release something else.
    @exclusivity(unchecked) @usableFromInline final var outcomeOwns = false
    /// Guarded by the queue's lock.
    @exclusivity(unchecked) final var listing = Listing.none

    // Written in the claim, constant afterwards. Not retained; see ``core``.
    @exclusivity(unchecked) final var home: Unmanaged<QueueCore>?

    // Belongs to the thread that adds the operation; while it waits for a single source, to the list of that, see
    // ``DependentList``; then guarded by the queue's lock. Forwards and backwards.
    @exclusivity(unchecked) final var link: UnsafeMutableRawPointer?
    @exclusivity(unchecked) final var backLink: UnsafeMutableRawPointer?

    // With `hasFailed`: written once, before the phase becomes finished, by whoever finishes the operation; read only
    // by those who have seen it finished. An `OperationError` if it has failed, else the output.
    @exclusivity(unchecked) @usableFromInline final var outcome: any Sendable = ()
    // Written while the operation is made.
    @exclusivity(unchecked) @usableFromInline final var fallbackName: FallbackName

    // Constant while others read them, and so read without the lock.
    final var inputCount: Int { life.inputCount }
    final var runNumber: UInt32 { life.runNumber }

    /// See ``priority``. Cast, because `init(rawValue:)` is a jump table, and each edge of a graph asks for two. Safe:
    /// nothing but the raw value of a priority is ever stored, which is how the priority itself is represented.
    @inline(__always)
    final var level: OperationPriority {
        get { unsafeBitCast(levelStorage.load(ordering: .relaxed), to: OperationPriority.self) }
        set { levelStorage.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// The first `inputs.count` dependencies hand over their outputs; the body reads them by their place.
    @usableFromInline
    init(
        _ name: String?, procedure: (any Any.Type)?, inputs: [AnyOperation], needed: Bool = true,
        body: @escaping Body.Wrapped
    ) {
        needsInputs = needed
        edges = DependencyList(inputs)
        life = Lifecycle(inputCount: inputs.count)
        self.body = .wrapped(body)
        fallbackName = FallbackName(procedure)
        if let name { withLife { $0.madeOptionalState().name = name } }
    }

    /// As above, with one input or none: no array is made.
    @usableFromInline
    init(_ name: String?, procedure: (any Any.Type)?, input: AnyOperation?, body: consuming @escaping Body.Wrapped) {
        needsInputs = true
        life = Lifecycle(inputCount: input == nil ? 0 : 1)
        edges = if let input { DependencyList(input) } else { DependencyList() }
        self.body = .wrapped(consume body)
        fallbackName = FallbackName(procedure)
        if let name { withLife { $0.madeOptionalState().name = name } }
    }

    /// As above, with no input and no output.
    @usableFromInline
    init(plain body: consuming @escaping Body.Plain, _ name: String?) {
        needsInputs = true
        life = Lifecycle()
        edges = DependencyList()
        self.body = .plain(consume body)
        fallbackName = .none
        if let name { withLife { $0.madeOptionalState().name = name } }
    }

    /// As above, with nothing to run.
    init(after sources: [AnyOperation]) {
        needsInputs = false
        life = Lifecycle()
        edges = DependencyList(sources)
        fallbackName = .none
    }

    deinit {
        // What has edges has one of these, too.
        if body != nil || outcomeOwns || life.borrowedOptionalState != nil { bury() }
    }

    /// Its state, for one step. Never two at once, and nothing of the user's in it.
    @inline(__always)
    final func withLife<Result, Failure: Error>(
        _ step: (inout Lifecycle) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try lock.withLock { () throws(Failure) in try step(&life) }
    }
}

extension AnyOperation {
    /// All that an operation owns and that may own other operations. A test looks whether a stored property is missing
    /// here.
    struct Remains {
        var body: Body?
        var edges: DependencyList.Taken
        var optionalState: OptionalState?
        var outcome: any Sendable
    }

    /// Its queue. To be asked for only while it is added and unfinished, under its lock or where it cannot finish: then
    /// it is in the queue's registry, which keeps the queue alive.
    @inline(__always)
    final var core: QueueCore? { home?.takeUnretainedValue() }

    /// From `deinit`: what it owns is released in a loop, because a chain of operations would recurse, by whatever they
    /// are linked.
    @inline(never)
    private final func bury() {
        TSanAnnotations.didAwait(self)
        let optionalState = withLife { life in
            assert(life.dependents.isEmpty, "who depends on an operation holds it")
            return life.takeOptionalState()
        }
        // Moved, never copied: a copy that lives to the end of this scope would be released here, and recurse.
        Trampoline.run(
            .release(
                Remains(
                    body: body.take(), edges: edges.take(), optionalState: consume optionalState, outcome: takeOutcome()
                )))
    }

    private final func takeOutcome() -> any Sendable {
        var taken: any Sendable = ()
        swap(&taken, &outcome)
        return taken
    }

    /// At the finish of one that has run: nothing is retained after it.
    @inline(__always)
    final func dropBodyAndEdges() {
        body = nil
        edges.drop()
        TSanAnnotations.willResume(self)
    }

    /// As above, of one that may have ended before: it also leaves the lists of those sources that have not finished.
    /// Those that have finished meanwhile count it down, and the last of them, or this, lets go of it.
    final func leaveSources() {
        body = nil
        var fence: Fence?
        if dependencyCounter.isLinked, dependencyCounter.holdUnlessZero() {
            edges.visit(of: .passUnretained(self)) { place, source in
                let isCounted = source._withUnsafeGuaranteedRef { $0.withLife { !$0.unregister(place) } }
                if !isCounted {
                    _ = dependencyCounter.countDown()
                    if source._withUnsafeGuaranteedRef({ $0.isFence }) {
                        fence = source.takeUnretainedValue() as? Fence
                    }
                }
            }
            if case .ended = dependencyCounter.countDown() { Unmanaged.passUnretained(self).release() }
        }
        dropEdgesIfOver()
        fence?.isLeft(by: self)
    }

    /// Nobody has it in a list any more, and it has finished.
    @inline(never)
    private final func dropEdgesIfOver() {
        let edges = withLife { life in
            life.phase == .finished && (dependencyCounter.isZero || !dependencyCounter.isLinked)
                ? self.edges.take() : .none
        }
        withExtendedLifetime(edges) {}
        TSanAnnotations.willResume(self)
    }

    /// It had ended before, and what it waited for has been counted down since: no list has it any more.
    @inline(never)
    static func letGo(ended operation: Unmanaged<AnyOperation>) {
        operation._withUnsafeGuaranteedRef { $0.dropEdgesIfOver() }
        operation.release()
    }
}

// MARK: - Name, priority, executor, state

extension AnyOperation {
    /// What it is called in errors and explanations; without one, the type of its procedure; nil if it has neither.
    ///
    /// In errors and explanations an operation without a name is called after the place that made it: "parse.swift:38",
    /// or "parse.swift:38 then"; see ``OperationReference/name``.
    ///
    /// Setting it after the add is ``Misuse`` and changes nothing.
    public final var name: String? {
        get { withLife { $0.optionalState?.name } ?? fallbackName.type.map { "\($0)" } }
        set { change("name") { $0.madeOptionalState().name = newValue } }
    }

    /// Sets ``name``, where an expression is handier than a statement.
    ///
    /// ```swift
    /// let picture = data.then(TiltShift()).name("tilt shift")
    /// ```
    ///
    /// After the add this is ``Misuse`` and changes nothing.
    @discardableResult
    public final func name(_ name: String, file: StaticString = #fileID, line: UInt = #line) -> Self {
        change("name", CallSite(file: file, line: line)) { $0.madeOptionalState().name = name }
        return self
    }

    /// Which of several ready operations of the queue starts first; `.normal` unless set.
    ///
    /// May be set at any time. It decides when the operation starts, and when its body goes on that has waited. What it
    /// waits for (dependencies, the original of a join, what its body awaits or iterates) gets at least the same
    /// priority, transitively, and keeps it: else an urgent operation would wait for one that nobody thinks urgent. So
    /// this may be higher than what was set. It does not count in the line for an ``Exclusion``, nor raise who holds
    /// it.
    ///
    /// - Complexity: Of a set, O(1), and if it is raised, O(n) for n operations: those that it waits for directly,
    ///   those that are raised because of it, and those that these wait for directly.
    public final var priority: OperationPriority {
        get { level }
        set { setLevel(newValue) }
    }

    /// Sets ``priority``, where an expression is handier than a statement.
    ///
    /// ```swift
    /// let picture = data.then(TiltShift()).priority(.high)
    /// ```
    @discardableResult
    public final func priority(_ priority: OperationPriority) -> Self {
        setLevel(priority)
        return self
    }

    /// Where its body runs, if not where its queue says; nil unless set, and when it has finished. It still takes a
    /// permit of its queue.
    ///
    /// Setting it after the add is ``Misuse`` and changes nothing.
    public final var executor: (any TaskExecutor)? {
        get { withLife { $0.optionalState?.executor } }
        set { setExecutor(newValue, nil) }
    }

    /// Sets ``executor``, where an expression is handier than a statement.
    ///
    /// ```swift
    /// let listing = AsyncOperation(Listing(folder)).executor(threads)
    /// ```
    ///
    /// After the add this is ``Misuse`` and changes nothing.
    @discardableResult
    public final func executor(
        _ executor: (any TaskExecutor)?, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        setExecutor(executor, CallSite(file: file, line: line))
        return self
    }

    private final func setExecutor(_ executor: (any TaskExecutor)?, _ callSite: CallSite?) {
        // Released after unlocking.
        var former: (any TaskExecutor)?
        change("executor", callSite) { life in
            former = life.madeOptionalState().executor
            life.madeOptionalState().executor = executor
        }
        withExtendedLifetime(former) {}
    }

    /// Where it is in its life, at this moment.
    public final var state: OperationState {
        let (phase, isPaused, hasConditionsLeft) = withLife {
            (
                $0.phase, $0.optionalState?.timing?.isPaused ?? false,
                $0.optionalState?.preconditions.hasConditionsLeft ?? false
            )
        }
        return switch phase {
        case .created: .created
        case .added: dependencyCounter.isZero && !isPaused ? (hasConditionsLeft ? .evaluating : .ready) : .waiting
        case .evaluating: .evaluating
        case .executing: .executing
        case .finishing: .finishing
        case .finished: .finished
        }
    }

    /// Why it has no output; nil until it has finished, and if it has one.
    public final var error: OperationError? { hasFinished ? failure : nil }

    /// Whether a cancel came before its outcome. True for good then, also if its body returned a value all the same.
    public final var isCancelled: Bool { withLife { $0.isCancelled } }

    /// Changes what may change only before the add.
    @inline(__always)
    final func change(_ what: String, _ callSite: CallSite? = nil, _ body: (inout Lifecycle) -> Void) {
        let isTooLate = withLife { life in
            if life.phase != .created { return true }
            body(&life)
            return false
        }
        if isTooLate { wasChangedTooLate(what, callSite) }
    }

    /// Limits, delays and attempts, as above.
    @inline(__always)
    final func changeTiming(_ what: String, _ callSite: CallSite, _ body: (TimedState) -> Void) {
        let isTooLate = withLife { life in
            guard let timing = life.timingToChange() else { return true }
            timing._withUnsafeGuaranteedRef(body)
            return false
        }
        if isTooLate { wasChangedTooLate(what, callSite) }
    }

    /// False: it is too late, or they have to be its own.
    @inline(__always)
    final func changeSharedLimits(_ body: (inout SharedLimits.Values) -> Void) -> Bool {
        withLife { $0.changeSharedLimits(body) }
    }

    @inline(never)
    private final func wasChangedTooLate(_ what: String, _ callSite: CallSite?) {
        report(Misuse(.changedAfterAdding(what), operation: reference, callSite: callSite))
    }
}

/// Two are equal when they are the same operation.
extension AnyOperation: Hashable {
    /// Whether both are the same operation.
    public static func == (left: AnyOperation, right: AnyOperation) -> Bool { left === right }

    /// Hashes its identity.
    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension AnyOperation: CustomStringConvertible {
    /// The name and the state.
    public final var description: String { "\(reference) (\(state))" }
}
