/// Runs operations: a limited number at a time, higher priorities first, each operation after its dependencies.
///
/// ```swift
/// let queue = AsyncOperationQueue()
/// let picture = try await queue.run(image)      // adds what `image` needs, and awaits it
/// ```
///
/// Bodies run on tasks of the queue, on its executor. The queue never blocks a thread to wait. All members may be used
/// from any thread. Releasing the queue does not stop it: operations that were added go on. If the queue is suspended
/// when it is released, operations that have not begun finish with ``OperationError/queueReleased``, because nobody
/// could resume the queue.
public final class AsyncOperationQueue: Sendable {
    /// A width without a limit: all ready operations run at the same time.
    public static let unlimited = Int.max

    /// The default width, 64, which is what Dispatch in effect gives Foundation's operation queues.
    public static let defaultMaxConcurrentOperationCount = 64

    /// A queue of the default width for the whole process. It is suspended only if somebody suspends it.
    public static let shared = AsyncOperationQueue(name: "shared")

    // Safe: `init` retains the core, and `deinit` passes that reference to the trampoline. The trampoline bounds the
    // recursion if an object of the user's that the queue owns holds the last handle of another queue.
    unowned(unsafe) let core: QueueCore

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - name: The name that explanations and reports use for the queue.
    ///   - maxConcurrentOperationCount: The width of the queue, at least 1; see the property. A smaller number is
    ///     ``Misuse``, and the queue gets the default width.
    ///   - isSuspended: Whether the queue waits to be resumed before it starts anything.
    ///   - executor: The executor on which conditions are evaluated and bodies run; the global executor if nil. Use a
    ///     ``ThreadExecutor`` for bodies that block their thread. Handlers, observers and time limits do not depend on
    ///     this executor, because Baton has threads for them. Do not use an executor that runs jobs inside `enqueue`:
    ///     it can end a task from within a cancel of that same task, and the Swift runtime then terminates the process.
    ///   - taskPriority: The priority that the tasks of the queue have for their executor; nil leaves it unspecified.
    ///     It does not order the operations of the queue; see ``AnyOperation/priority``.
    ///   - clock: The clock that measures the delays and time limits of the operations, and the times of the queue's
    ///     events.
    ///   - taskLocals: The task-locals that reach bodies and handlers, as in
    ///     `taskLocals: Request.$id, ServiceContext.$current`. Their values are those of the task that adds an
    ///     operation. They are bound around the operation's body, with the hooks of ``around(_:)``, and around its
    ///     handlers, except handlers that are added after the operation has finished and its other handlers have
    ///     returned. Operations that the body runs or produces get the values in turn. Conditions, the operations that
    ///     conditions bring along, and retry predicates do not see them. A value is released when the operation has
    ///     finished and its handlers have returned. Each task-local costs about 0.1 to 0.2 µs per operation.
    ///   - onMisuse: The handler for calls that make no sense; see the property.
    public convenience init<each Local: Sendable>(
        name: String? = nil,
        maxConcurrentOperationCount: Int = defaultMaxConcurrentOperationCount,
        isSuspended: Bool = false,
        executor: (any TaskExecutor)? = nil,
        taskPriority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        taskLocals: repeat TaskLocal<each Local>,
        onMisuse: (@Sendable (Misuse) -> Void)? = nil
    ) {
        var carried: [CarriedTaskLocal] = []
        repeat carried.append(CarriedTaskLocal(each taskLocals))
        self.init(
            name: name, maxConcurrentOperationCount: maxConcurrentOperationCount, isSuspended: isSuspended,
            executor: executor, taskPriority: taskPriority, clock: clock, carrying: carried, onMisuse: onMisuse,
            probe: nil)
    }

    /// Makes a queue with settings that only Baton's own targets use.
    ///
    /// - Parameters:
    ///   - probe: Called with every event, outside every lock, on the thread that emits the event.
    ///   - initialBatchLimit: How many operations a worker takes at once when it begins, at most 16. A worker takes more while
    ///     bodies are short.
    @_disfavoredOverload  // `AsyncOperationQueue { … }` would be ambiguous in the package.
    package init(
        name: String? = nil, maxConcurrentOperationCount width: Int = defaultMaxConcurrentOperationCount,
        isSuspended: Bool = false, executor: (any TaskExecutor)? = nil, taskPriority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(), carrying taskLocals: [CarriedTaskLocal] = [],
        onMisuse: (@Sendable (Misuse) -> Void)? = nil, probe: (@Sendable (OperationEvent) -> Void)?,
        initialBatchLimit: Int = 1
    ) {
        let core = QueueCore(
            name: name, width: width < 1 ? Self.defaultMaxConcurrentOperationCount : width, isSuspended: isSuspended,
            executor: executor, priority: taskPriority, time: TimeSource(clock), taskLocals: taskLocals,
            onMisuse: onMisuse, probe: probe, initialBatchLimit: initialBatchLimit)
        self.core = Unmanaged.passRetained(core).takeUnretainedValue()
        if width < 1 { core.report(Misuse(.invalidWidth(width), queue: name)) }
    }

    deinit { Trampoline.run(.releaseQueue(Unmanaged.passUnretained(core).takeRetainedValue())) }
}

// MARK: - Configuration

extension AsyncOperationQueue {
    /// The name that explanations and reports use for the queue.
    public var name: String? { core.name }

    /// The width of the queue: how many bodies may run at a time, not counting those that wait for other operations.
    ///
    /// The width may be changed at any time; bodies that are running go on. A width of less than 1 is ``Misuse`` and
    /// changes nothing.
    public var maxConcurrentOperationCount: Int {
        get { core.state.withLock { $0.scheduler.width } }
        set {
            if newValue < 1 { return core.report(Misuse(.invalidWidth(newValue), queue: name)) }
            core.change { $0.scheduler.width = newValue }
        }
    }

    /// The order in which ready operations of the same priority start; depth first by default.
    ///
    /// It may be changed at any time, and applies to operations that become ready from then on.
    public var schedulingOrder: SchedulingOrder {
        get { core.state.withLock { $0.scheduler.order } }
        set { core.change { $0.scheduler.order = newValue } }
    }

    /// A Boolean value that indicates whether the queue starts no further operations.
    ///
    /// While it is true, no operation starts or repeats. Running bodies go on, and so do the children that they run.
    /// Failed operations still make their further attempts, unless ``suspendsFurtherAttempts`` is set. Cancelled
    /// operations finish.
    public var isSuspended: Bool {
        get { core.state.withLock { $0.scheduler.isSuspended } }
        set {
            let (returning, number) = core.change { state in
                let isChanged = state.scheduler.isSuspended != newValue
                state.scheduler.isSuspended = newValue
                if isChanged { state.suspensionCount += 1 }
                return (newValue ? state.scheduler.takeReturning() : nil, isChanged ? state.suspensionCount : nil)
            }
            // The broadcaster reads the user's clock, which may set this property again, so no lock may be held here.
            if let number { core.broadcaster.queueIsSuspended(newValue, number: number) }
            core.releaseExclusions(from: returning)
        }
    }

    /// A Boolean value that indicates whether suspending the queue also holds back further attempts; false by default.
    ///
    /// By default a failed operation tries again although the queue is suspended, because it has begun. If this is
    /// true, the next attempt waits until the queue is resumed, and then starts before operations of its priority that
    /// have not begun. If a suspended queue is released, such an operation ends with ``OperationError/queueReleased``.
    /// The children that a running body waits for go on in any case. This may be changed at any time, and applies to
    /// attempts that fail from then on.
    public var suspendsFurtherAttempts: Bool {
        get { core.state.withLock { $0.scheduler.suspendsFurtherAttempts } }
        set { core.change { $0.scheduler.suspendsFurtherAttempts = newValue } }
    }

    /// The operations that were added and have not finished, children included, in no particular order.
    ///
    /// - Complexity: O(n) for n operations.
    public var operations: [AnyOperation] { core.state.withLock { $0.members() } }

    /// The number of operations that were added and have not finished, children included.
    ///
    /// - Complexity: O(w) for w running workers of the queue.
    public var operationCount: Int { core.state.withLock { $0.count() } }

    /// The handler for misuse of calls that do not throw; nil, the default, writes one line to standard error.
    ///
    /// The handler is called once for each misuse, on the thread that detects it, which is usually the thread that made
    /// the call. The call has changed nothing, unless its `Misuse.Kind` says otherwise.
    public var onMisuse: (@Sendable (Misuse) -> Void)? {
        get { core.misuseHandler.withLock { $0 } }
        set {
            // The former handler is the user's, so it is released after unlocking.
            let former = core.misuseHandler.withLock { handler in
                defer { handler = newValue }
                return handler
            }
            withExtendedLifetime(former) {}
        }
    }
}

// MARK: - Adding

extension AsyncOperationQueue {
    /// Adds an operation, together with the operations that it takes its inputs from, directly or not, and that nobody
    /// has added.
    ///
    /// Other dependencies (``AnyOperation/addDependency(_:file:line:)``) are left to their owner, who adds them to this
    /// queue or to another one, in any order. ``run(_:)`` and `includingDependencies` add them, too.
    ///
    /// Adding an operation twice is ``Misuse``, and the second add changes nothing. An input that was added together
    /// with its reader may be added once more to the same queue; that is not misuse.
    ///
    /// - Parameters:
    ///   - operation: The operation to add.
    ///   - includingDependencies: Whether to add every dependency, direct or not, instead of the inputs alone.
    /// - Returns: The operation.
    /// - Complexity: O(m + n) for m inputs of the operation and n operations that are added with it, including the
    ///   inputs of those.
    @discardableResult
    @inlinable
    public func add<Operation: AnyOperation>(
        _ operation: Operation, includingDependencies: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) -> Operation {
        add(operation, includingDependencies, file, line)
        return operation
    }

    /// Separate from the public method, so that its result costs nothing where the caller discards it.
    @usableFromInline
    func add(_ operation: AnyOperation, _ includingDependencies: Bool, _ file: StaticString, _ line: UInt) {
        let place = CallSite(file: file, line: line)
        if includingDependencies {
            core.addWithUpstream(operation, place)
        } else {
            core.addWithInputs(operation, place)
        }
    }

    /// Adds several operations, each as ``add(_:includingDependencies:file:line:)`` does.
    ///
    /// - Complexity: O(n) for n operations, the operations that are added with them, and the inputs of all of these.
    public func add(
        _ first: AnyOperation, _ second: AnyOperation, _ more: AnyOperation..., file: StaticString = #fileID,
        line: UInt = #line
    ) {
        add([first, second] + more, file: file, line: line)
    }

    /// Adds several operations in their order. This is the fastest way to add many operations.
    ///
    /// Each operation is added as ``add(_:includingDependencies:file:line:)`` adds it.
    ///
    /// - Complexity: O(n) for n operations, the operations that are added with them, and the inputs of all of these.
    public func add(_ operations: [AnyOperation], file: StaticString = #fileID, line: UInt = #line) {
        operations.withUnsafeBufferPointer { core.add($0, CallSite(file: file, line: line), withInputs: true) }
    }

    /// Adds several operations of one type, in their order.
    ///
    /// This overload avoids converting the array to one of ``AnyOperation``, which would retain each operation once
    /// more.
    ///
    /// - Complexity: O(n) for n operations, the operations that are added with them, and the inputs of all of these.
    public func add<Operation: AnyOperation>(
        _ operations: [Operation], file: StaticString = #fileID, line: UInt = #line
    ) {
        // Safe: an array stores a reference to a subclass as it stores one to the superclass, and the memory is only
        // read here.
        operations.withUnsafeBufferPointer { operations in
            operations.withMemoryRebound(to: AnyOperation.self) {
                core.add($0, CallSite(file: file, line: line), withInputs: true)
            }
        }
    }

    /// Makes an operation from a closure, adds it, and returns it.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    /// - Returns: The operation.
    @discardableResult
    public func add<Output: Sendable>(
        _ name: String? = nil, _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        let operation = AsyncOperation(name, body).recordOrigin(file, line)
        core.add(operation, nil)
        return operation
    }

    /// Adds an operation, with everything it needs that nobody has added yet. Nothing happens, and no misuse is
    /// reported, if the operation was added before.
    package func addUnlessAdded(_ operation: AnyOperation) { core.addWithUpstream(operation, nil) }

    /// Adds an operation, with everything it needs that nobody has added yet, and returns its output when it has
    /// finished.
    ///
    /// The operation may have been added before. Cancelling the calling task cancels the operation, and also cancels
    /// each operation that this call has added, unless another unfinished operation needs it or somebody else awaits
    /// it. Even then, this returns only when the operation has finished, so that no work goes on after the caller has
    /// continued.
    ///
    /// A body that calls this, itself or in a child task, releases its permit while it waits, as it does with
    /// ``OperationContext/run(_:)``. A call from an unstructured task (`Task { }`) of a body does not release the
    /// permit.
    ///
    /// - Parameter operation: The operation to add and await.
    /// - Returns: The output of the operation.
    /// - Throws: The error of the operation's outcome.
    /// - Complexity: O(n) for n operations and dependencies that come before the operation and are not yet known to
    ///   have been added.
    public func run<Output>(_ operation: AsyncOperation<Output>) async throws(OperationError) -> Output {
        try await RunScope(operation, on: core).outcome()
        return try operation.finishedResult.get()
    }
}

extension AnyOperation {
    /// Adds this operation to a queue, as ``AsyncOperationQueue/add(_:includingDependencies:file:line:)`` does.
    ///
    /// Added as the last operation of a chain of inputs, it adds the whole chain.
    ///
    /// ```swift
    /// let text = data.then(Decoding()).then(Formatting()).add(to: queue)
    /// ```
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operation.
    ///   - includingDependencies: Whether to add every dependency, direct or not, instead of the inputs alone.
    /// - Returns: This operation.
    /// - Complexity: O(m + n) for m inputs of the operation and n operations that are added with it, including the
    ///   inputs of those.
    @discardableResult
    @inlinable
    public final func add(
        to queue: AsyncOperationQueue, includingDependencies: Bool = false, file: StaticString = #fileID,
        line: UInt = #line
    ) -> Self {
        queue.add(self, includingDependencies, file, line)
        return self
    }
}

// MARK: - Cancelling and waiting

extension AsyncOperationQueue {
    /// Cancels every operation that is in the queue at this moment; see ``AnyOperation/cancel(reason:)``.
    ///
    /// All operations are marked as cancelled before any body notices its cancel. So a body that throws because another
    /// operation was cancelled ends as cancelled, too.
    ///
    /// - Parameter reason: The reason that the errors of the operations carry.
    /// - Complexity: O(n) for n operations.
    public func cancelAll(reason: CancellationReason = .queue) {
        core.cancelAll(reason: reason)
    }

    /// Returns when every operation has finished and its handlers have returned.
    ///
    /// This does not return while the queue is suspended and has operations, or while an operation waits for one that
    /// nobody adds.
    ///
    /// A body that awaits the idleness of another queue, itself or in a child task, releases its permit meanwhile. A
    /// body or a handler that awaits the idleness of its own queue would wait for itself: such a call is ``Misuse``,
    /// and returns at once. Baton cannot detect it in an unstructured task (`Task { }`).
    ///
    /// The search for cycles does not follow waits for idleness. Two bodies that await the idleness of each other's
    /// queues wait forever, and so does a body that awaits a queue whose operations need its exclusion or its output.
    /// ``AnyOperation/explain()`` then says only that they wait for that idleness.
    public func waitUntilIdle() async {
        if refusesToWaitForItself() { return }
        await core.waitUntilIdleReleasingPermit()
    }
}

extension QueueCore {
    /// Waits until the queue is idle. If a body calls this, an operation stands for the idleness, so that the body
    /// releases its permit and explanations say what it waits for.
    ///
    /// - Parameter closedBefore: Whether to wait until the queue is closed first.
    func waitUntilIdleReleasingPermit(closedBefore: Bool = false) async {
        guard let body = WorkerTaskContext.current?.running, let queue = body.core else {
            return await waitUntilIdle(closedBefore: closedBefore)
        }
        let idleness = AsyncOperation<Void>("idleness of \(name.map { "‘\($0)’" } ?? "a queue")") {
            await self.waitUntilIdle(closedBefore: closedBefore)
        }
        AsyncOperationQueue(name: "idleness", executor: queue.services.executor).add(idleness)
        _ = try? await idleness.value
    }

    private func waitUntilIdle(closedBefore: Bool) async {
        if closedBefore { await waitUntilClosed() }
        await waitUntilIdle()
    }
}

extension QueueCore {
    /// Ends the operations that nobody can start any more, because the last handle of the queue was released while the
    /// queue was suspended.
    func lastHandleWasReleased() {
        let stranded = state.withLock { state in
            state.isReleased = true
            return state.members().filter { state.strands($0) }
        }
        for operation in stranded { operation.endUnlessRetried(with: .queueReleased)?.complete() }
    }
}
