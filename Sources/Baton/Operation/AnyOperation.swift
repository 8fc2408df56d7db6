/// One planned run of any output type: it has an identity, dependencies, a place in a queue, and exactly one outcome.
///
/// This is the base class of ``AsyncOperation`` and ``GroupOperation``, and the element type of lists of operations
/// whose outputs differ. Make operations as instances of those classes. All members may be used from any thread. An
/// operation that is never added never runs, and ``explain()`` says so.
public class AnyOperation: @unchecked Sendable {
    // @unchecked: each group of fields is guarded as its comment says. `@exclusivity(unchecked)` spares the dynamic
    // check, which costs a quarter of the time of a chain and finds nothing that these rules do not forbid.

    // Guards `life`, for one step at a time; see ``withLifecycle(_:)``.
    private final let lock = SpinLock()
    final let dependencyCounter = DependencyCounter()
    @exclusivity(unchecked) private final var life: Lifecycle

    // Written under the lock until a queue has adopted the operation, constant afterwards.
    @exclusivity(unchecked) final var queueNumber: UInt32 = 0
    // Guarded by the queue's lock.
    @exclusivity(unchecked) final var registryIndex: UInt32 = 0

    // Both are written under the lock while the operation is created. The add freezes `edges`, except that the linking
    // thread may append a fence; that thread reads them without the lock. The worker that runs the operation takes
    // `body`, and puts it back under the lock if the operation runs again. The thread that finishes the operation drops
    // both, which cannot happen before linking has ended.
    @exclusivity(unchecked) final var edges: DependencyList
    @exclusivity(unchecked) final var body: Body?

    // The small fields that follow fill the padding after `body`.
    /// Written under the lock while the operation is created, then under the queue's lock, because the operation may
    /// have to move to another list of the scheduler.
    private final let priorityStorage = AtomicPriority(.normal)
    /// True for a child that a running body waits for, and for a failed operation that tries again: the operation
    /// starts ahead of others, even while the queue is suspended. Written when the queue adopts the operation, then by
    /// the worker, under the queue's lock, before the operation becomes `added` again. So it may be read under the
    /// queue's lock and, in phase `added`, under the operation's lock.
    @exclusivity(unchecked) final var goesFirst = false
    /// Written under the lock until a queue has adopted the operation, constant afterwards.
    @exclusivity(unchecked) final var kinship = Kinship.none
    @exclusivity(unchecked) @usableFromInline final var hasFailed = false
    /// True if the body does not run when one of the inputs has no output.
    final let requiresInputOutputs: Bool
    /// True if releasing `outcome` may release something else. Guarded as `outcome` is.
    @exclusivity(unchecked) @usableFromInline final var outcomeOwns = false
    /// Guarded by the queue's lock.
    @exclusivity(unchecked) final var membership = ListMembership.none

    // The queue; see ``core``. Written when it adopts the operation, constant afterwards.
    @exclusivity(unchecked) final var unretainedCore: Unretained<QueueCore>?

    // Owned by the thread that adds the operation; then, while the operation waits for a single source, by the
    // ``DependentList`` of that source; then guarded by the queue's lock. These are the neighbours in that list.
    @exclusivity(unchecked) final var next: DependentList.Place?
    @exclusivity(unchecked) final var previous: DependentList.Place?

    // An `OperationError` if the operation has failed, otherwise the output. `outcome`, `hasFailed` and `outcomeOwns`
    // are written before the phase becomes finished, by the thread that runs or finishes the operation, and are read
    // only by threads that have seen the phase finished.
    @exclusivity(unchecked) @usableFromInline final var outcome: any Sendable = ()
    // Written while the operation is made.
    @exclusivity(unchecked) @usableFromInline final var fallbackName: FallbackName

    // Both are constant while other threads can read them, so they are read without the lock.
    final var inputCount: Int { life.inputCount }
    final var runNumber: UInt32 { life.runNumber }

    /// The value of ``priority``, which the setter stores without passing it on.
    @inline(__always)
    final var currentPriority: OperationPriority {
        get { priorityStorage.value }
        set { priorityStorage.value = newValue }
    }

    /// Makes an operation whose first dependencies are `inputs`, which hand over their outputs. The body finds each
    /// input by its index in the edges.
    ///
    /// - Parameter requiresInputOutputs: Whether the body runs only if all inputs have outputs.
    @usableFromInline
    init(
        _ name: String?, procedure: (any Any.Type)?, inputs: [AnyOperation], requiresInputOutputs: Bool = true,
        body: @escaping Body.Code
    ) {
        self.requiresInputOutputs = requiresInputOutputs
        edges = DependencyList(inputs)
        life = Lifecycle(inputCount: inputs.count)
        self.body = Body(code: body)
        fallbackName = FallbackName(procedure)
        if let name { withLifecycle { $0.ensureOptionalState().name = name } }
    }

    /// Makes an operation with one input or none, without an array for it.
    @usableFromInline
    init(_ name: String?, procedure: (any Any.Type)?, input: AnyOperation?, body: consuming @escaping Body.Code) {
        requiresInputOutputs = true
        life = Lifecycle(inputCount: input == nil ? 0 : 1)
        edges = if let input { DependencyList(input) } else { DependencyList() }
        self.body = Body(code: consume body)
        fallbackName = FallbackName(procedure)
        if let name { withLifecycle { $0.ensureOptionalState().name = name } }
    }

    /// Makes an operation that waits for `sources` and has no body.
    init(after sources: [AnyOperation]) {
        requiresInputOutputs = false
        life = Lifecycle()
        edges = DependencyList(sources)
        fallbackName = .none
    }

    deinit {
        // An operation with edges has a body, an owning outcome or optional state, too.
        if body != nil || outcomeOwns || life.borrowedOptionalState != nil { releaseRemains() }
    }

    /// Performs one step on the operation's state, under its lock. A step never takes a second operation's lock, and
    /// never runs the user's code.
    @inline(__always)
    final func withLifecycle<Result, Failure: Error>(
        _ step: (inout Lifecycle) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try lock.withLock { () throws(Failure) in try step(&life) }
    }
}

extension AnyOperation {
    enum Kinship {
        case none
        /// The operation was given to a group that has neither started nor ended.
        case childOfPlannedGroup
        /// The group ended before it started, and has ended the operation, which nobody had added.
        case childOfUnstartedGroup
        /// A running body waits for the operation.
        case child
    }

    /// Everything that an operation owns and that may own other operations. A test checks that no stored property is
    /// missing here.
    struct Remains {
        var body: Body?
        var edges: DependencyList.Taken
        var optionalState: OptionalState?
        var outcome: any Sendable
    }

    /// The queue. Read it only while the operation is added and unfinished, either under the operation's lock or where
    /// the operation cannot finish. The operation is then in the queue's registry, which keeps the queue alive.
    @inline(__always)
    final var core: QueueCore? { unretainedCore?.object }

    /// The queue; nil before the add and after the finish. Unlike ``core``, it may be read by a thread that does not
    /// know whether the operation finishes meanwhile. The caller does not hold the operation's lock.
    final var coreIfUnderWay: QueueCore? { withLifecycle { $0.isUnderWay ? core : nil } }

    /// The clock of the queue; nil before the add, and when the operation has finished and its queue was released.
    final var timeOfQueue: TimeSource? {
        let (core, number) = withLifecycle { life -> (QueueCore?, UInt32) in
            (life.isUnderWay ? self.core : nil, queueNumber)
        }
        return (core ?? QueueDirectory.find(number))?.time
    }

    /// Gives everything that the operation owns to the trampoline. If `deinit` released it directly, a chain of
    /// operations would release one another recursively, whatever links them.
    @inline(never)
    private final func releaseRemains() {
        TSanAnnotations.didAwait(self)
        let optionalState = withLifecycle { life in
            assert(life.dependents.isEmpty, "The dependents of an operation retain it.")
            return life.takeOptionalState()
        }
        // Every part is moved. A copy that lives to the end of this scope would be released here, and recurse.
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

    /// Drops the body and the edges of an operation that may have ended before its run. The operation leaves the
    /// dependent lists of the sources that have not finished. The sources that have finished meanwhile count it down;
    /// the last of them, or this call, releases it.
    final func unlinkFromSources() {
        body = nil
        var fence: Fence?
        if dependencyCounter.isLinked, dependencyCounter.holdUnlessZero() {
            edges.visit(of: Unretained(self)) { place, source in
                let isCounted = source.use { $0.withLifecycle { !$0.unregister(place) } }
                if !isCounted {
                    _ = dependencyCounter.countDown()
                    if source.use({ $0.isFence }) {
                        fence = source.object as? Fence
                    }
                }
            }
            if case .ended = dependencyCounter.countDown() { Retained(handedOver: self).release() }
        }
        dropEdgesIfUnlinked()
        fence?.removeUser(self)
    }

    /// Drops the edges if the operation has finished and no source has it in a list any more.
    @inline(never)
    private final func dropEdgesIfUnlinked() {
        let edges = withLifecycle { life in
            life.phase == .finished && (dependencyCounter.isZero || !dependencyCounter.isLinked)
                ? self.edges.take() : .none
        }
        withExtendedLifetime(edges) {}
        TSanAnnotations.willResume(self)
    }

    /// Releases an operation that ended before its run, after all of its sources have counted it down, so that no list
    /// has it any more.
    @inline(never)
    static func releaseAfterEarlyEnd(_ operation: consuming Retained<AnyOperation>) {
        operation.use { $0.dropEdgesIfUnlinked() }
        operation.release()
    }
}

extension AnyOperation: Hashable {
    /// Returns whether both are the same operation.
    public static func == (left: AnyOperation, right: AnyOperation) -> Bool { left === right }

    /// Hashes the identity of the operation.
    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension AnyOperation: CustomStringConvertible {
    /// The name and the state, as in "‘parse’ (waiting)".
    public final var description: String { "\(reference) (\(state))" }
}

// MARK: - Waiting for the end

extension AnyOperation {
    /// Returns when the operation has finished, whatever its outcome.
    ///
    /// Use this for an operation whose output is unknown, such as an element of ``dependencies`` or of the queue's
    /// ``AsyncOperationQueue/operations``. The outcome is then in ``error``, which this call does not throw. To get an
    /// output, await ``AsyncOperation/value``.
    ///
    /// ```swift
    /// for upload in uploads { try await upload.waitUntilFinished() }
    /// let failed = uploads.filter { $0.error != nil }
    /// ```
    ///
    /// The call waits as ``AsyncOperation/value`` does: a body that calls it releases its permit meanwhile, a
    /// cancellation of the calling task does not end the wait, and if nobody ever adds the operation, the call never
    /// returns, which is reported as ``Misuse`` after a second.
    ///
    /// - Throws: ``OperationError/dependencyCycle(_:)`` if a body awaits an operation that waits for the operation of
    ///   that body. No error of the operation itself.
    public final func waitUntilFinished() async throws(OperationError) {
        try await awaitOutcome()
    }
}

// MARK: - Outcome

/// Storing and reading the outcome.
extension AnyOperation {
    @usableFromInline
    final var hasFinished: Bool { withLifecycle { $0.phase == .finished } }

    /// True if the outcome is decided, although `willFinish` handlers may still be running.
    @usableFromInline
    final var hasOutcome: Bool { withLifecycle { $0.isDecided } }

    /// Stores an error as the outcome. Called by the thread that finishes the operation, before it publishes the
    /// outcome.
    final func setFailure(_ error: OperationError) {
        outcome = error.bounded
        outcomeOwns = true
        hasFailed = true
    }

    /// The error of a failed operation. Read it only on a thread that has found the phase finished.
    @usableFromInline
    final var failure: OperationError? { hasFailed ? outcome as? OperationError : nil }

    final var outcomeKind: OperationOutcome { failure?.outcome ?? .success }

    /// Stores the error that the body has thrown. Called on the operation's own task.
    @usableFromInline
    final func bodyThrew(_ error: any Error) { bodyFailed(OperationError(thrownByBody: error)) }

    /// Stores this error, or the reason of a cancellation if the operation was cancelled, because the body has ended
    /// without an output.
    @usableFromInline
    final func bodyFailed(_ error: OperationError) {
        let (reason, wait) = withLifecycle { life -> (CancellationReason?, String?) in
            let timing = life.optionalState?.timing
            if !life.isCancelled { return (timing?.timeoutReason, nil) }
            return (life.optionalState?.cancellationReason ?? .requested, timing?.rareTimedState?.waitAtLimit)
        }
        setFailure(reason?.error(waitingFor: wait) ?? error)
    }

    /// Stores the error of an operation whose body does not run, because of a dependency policy, an invalid
    /// precondition or a missing input. Called on the worker that has taken the operation.
    @usableFromInline
    final func failWithoutRunning(with error: OperationError) {
        withLifecycle { $0.bodyWasSkipped() }
        setFailure(error)
    }
}
