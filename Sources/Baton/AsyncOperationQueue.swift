/// Runs operations: so many at a time, higher priorities first, each after its dependencies.
///
/// ```swift
/// let queue = AsyncOperationQueue()
/// let picture = try await queue.run(image)      // adds what `image` needs, and awaits it
/// ```
///
/// Bodies run on tasks of the queue, on its executor. Nothing ever blocks a thread to wait. All members may be used
/// from any thread. Releasing the queue does not stop it: what was added goes on; if it is suspended, what has not
/// begun finishes with ``OperationError/queueReleased``, because nobody could resume it.
public final class AsyncOperationQueue: Sendable {
    /// No limit to the operations that run at a time.
    public static let unlimited = Int.max

    /// What Dispatch in effect gave Foundation's queues: 64.
    public static let defaultMaxConcurrentOperationCount = 64

    /// One for the whole process, never suspended unless somebody does so, of the default width.
    public static let shared = AsyncOperationQueue(name: "shared")

    // Safe: retained from the beginning to the end. So its release can be left to the trampoline: what a queue has of
    // the user's may be the last handle of another queue.
    unowned(unsafe) let core: QueueCore

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - name: What it is called in explanations and reports.
    ///   - maxConcurrentOperationCount: Its width, at least 1; see the property. Less is ``Misuse`` and gives the
    ///     default.
    ///   - isSuspended: Whether it waits to be resumed before it starts anything.
    ///   - executor: Where conditions are evaluated and bodies run; the global executor if nil. For bodies that block
    ///     their thread use a ``ThreadExecutor``. Handlers, observers and time limits do not depend on it: Baton has
    ///     threads for them. An executor that runs a job inside `enqueue` can end a task inside a cancel of that very
    ///     task, which Swift's runtime answers by ending the process.
    ///   - taskPriority: What the tasks of the queue say to their executor; nil says nothing. It does not order the
    ///     operations of the queue: that is ``AnyOperation/priority``.
    ///   - clock: What measures the delays and time limits of its operations, and the times of its events.
    ///   - taskLocals: The task-locals that reach bodies and handlers, as in `taskLocals: Request.$id,
    ///     ServiceContext.$current`. Their values are those of the task that adds an operation. They are bound around
    ///     its body, with the hooks of ``around(_:)``, and around its handlers, but not around handlers that are added
    ///     when it has finished and the others have returned. Operations that the body runs or produces get them in
    ///     turn. Conditions, with the operations that they bring along, and retry predicates do not find them. A value
    ///     is released when the operation has finished and its handlers have returned. Each costs some 0.1 to 0.2 µs
    ///     per operation.
    ///   - onMisuse: Told of calls that make no sense; see the property.
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

    /// - Parameters:
    ///   - probe: Told of every event on the thread that tells it, outside every lock.
    ///   - leastReach: How many operations a worker takes at once when it begins, at most 16; it learns to take more.
    @_disfavoredOverload  // `AsyncOperationQueue { … }` would be ambiguous in the package.
    package init(
        name: String? = nil, maxConcurrentOperationCount width: Int = defaultMaxConcurrentOperationCount,
        isSuspended: Bool = false, executor: (any TaskExecutor)? = nil, taskPriority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(), carrying taskLocals: [CarriedTaskLocal] = [],
        onMisuse: (@Sendable (Misuse) -> Void)? = nil, probe: (@Sendable (OperationEvent) -> Void)?,
        leastReach: Int = 1
    ) {
        let core = QueueCore(
            name: name, width: width < 1 ? Self.defaultMaxConcurrentOperationCount : width, isSuspended: isSuspended,
            executor: executor, priority: taskPriority, time: TimeSource(clock), taskLocals: taskLocals,
            onMisuse: onMisuse, probe: probe, leastReach: leastReach)
        self.core = Unmanaged.passRetained(core).takeUnretainedValue()
        if width < 1 { core.report(Misuse(.invalidWidth(width), queue: name)) }
    }

    deinit { Trampoline.run(.releaseQueue(Unmanaged.passUnretained(core).takeRetainedValue())) }
}

// MARK: - Configuration

extension AsyncOperationQueue {
    /// What it is called in explanations and reports.
    public var name: String? { core.name }

    /// How many bodies run at a time, not counting those that wait for other operations: the width of the queue.
    ///
    /// May be changed at any time; what runs goes on. Less than 1 is ``Misuse`` and changes nothing.
    public var maxConcurrentOperationCount: Int {
        get { core.state.withLock { $0.scheduler.width } }
        set {
            if newValue < 1 { return core.report(Misuse(.invalidWidth(newValue), queue: name)) }
            core.change { $0.scheduler.width = newValue }
        }
    }

    /// In which order operations of one priority start. Depth first, unless it is set.
    ///
    /// May be changed at any time, and holds for what becomes ready from then on.
    public var schedulingOrder: SchedulingOrder {
        get { core.state.withLock { $0.scheduler.order } }
        set { core.change { $0.scheduler.order = newValue } }
    }

    /// While true nothing new starts, and nothing repeats. What runs goes on, with the children that it runs and the
    /// further attempts of what has failed, unless ``suspendsFurtherAttempts`` is set; what is cancelled finishes.
    public var isSuspended: Bool {
        get { core.state.withLock { $0.scheduler.isSuspended } }
        set {
            let (returning, number) = core.change { state in
                let isChanged = state.scheduler.isSuspended != newValue
                state.scheduler.isSuspended = newValue
                if isChanged { state.suspensionCount += 1 }
                return (newValue ? state.scheduler.takeReturning() : nil, isChanged ? state.suspensionCount : nil)
            }
            // The hub asks the clock, which is the user's and may set this again.
            if let number { core.hub.queueIsSuspended(newValue, number: number) }
            core.giveNamesBack(from: returning)
        }
    }

    /// Whether suspending the queue also holds further attempts back; false unless set.
    ///
    /// By default an operation that has failed tries again although the queue is suspended, because it has begun. With
    /// true, its next attempt waits until the queue is resumed, and then comes before operations of its priority that
    /// have not begun. If a suspended queue is released, such an operation ends with ``OperationError/queueReleased``.
    /// The children that a running body waits for go on in any case. May be changed at any time, and holds for attempts
    /// that fail from then on.
    public var suspendsFurtherAttempts: Bool {
        get { core.state.withLock { $0.scheduler.suspendsFurtherAttempts } }
        set { core.change { $0.scheduler.suspendsFurtherAttempts = newValue } }
    }

    /// The operations that were added and have not finished, children included, in no particular order.
    public var operations: [AnyOperation] { core.state.withLock { $0.members() } }

    /// How many operations were added and have not finished.
    public var operationCount: Int { core.state.withLock { $0.count() } }

    /// Called once for every call that makes no sense and does not throw, on the thread that made it. It changed
    /// nothing. Nil, the default, writes a line to standard error.
    public var onMisuse: (@Sendable (Misuse) -> Void)? {
        get { core.misuseHandler.withLock { $0 } }
        set {
            // Released after unlocking.
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
    /// Adds an operation, and what it takes its inputs from, directly or not, as far as nobody has added that.
    ///
    /// Its other dependencies (``AnyOperation/addDependency(_:file:line:)``) are left to their owner, who adds them
    /// here or to another queue, in any order; ``run(_:)`` and `includingDependencies` add them, too.
    ///
    /// To add an operation twice is ``Misuse``, and the second add changes nothing. To add an input once more after it
    /// came along with its reader is no misuse, if it is added to the same queue.
    ///
    /// - Parameters:
    ///   - operation: What is to run.
    ///   - includingDependencies: Whether everything that it needs is added, not its inputs alone.
    /// - Returns: The operation.
    /// - Complexity: O(m + n) for m inputs of the operation and n operations that come along, with the inputs of those.
    @discardableResult
    @inlinable
    public func add<Operation: AnyOperation>(
        _ operation: Operation, includingDependencies: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) -> Operation {
        add(operation, includingDependencies, file, line)
        return operation
    }

    /// Apart, so that returning the operation costs nothing where nobody wants it.
    @usableFromInline
    func add(_ operation: AnyOperation, _ includingDependencies: Bool, _ file: StaticString, _ line: UInt) {
        let place = CallSite(file: file, line: line)
        if includingDependencies {
            core.addWithUpstream(operation, place)
        } else {
            core.addWithInputs(operation, place)
        }
    }

    /// Adds several operations, as ``add(_:includingDependencies:file:line:)`` does each.
    public func add(
        _ first: AnyOperation, _ second: AnyOperation, _ more: AnyOperation..., file: StaticString = #fileID,
        line: UInt = #line
    ) {
        add([first, second] + more, file: file, line: line)
    }

    /// Adds several operations: the fastest way to add many.
    public func add(_ operations: [AnyOperation], file: StaticString = #fileID, line: UInt = #line) {
        operations.withUnsafeBufferPointer { core.add($0, CallSite(file: file, line: line), withInputs: true) }
    }

    /// Adds several operations of one type, as they are: made an array of ``AnyOperation`` first, each would be
    /// retained once more.
    public func add<Operation: AnyOperation>(
        _ operations: [Operation], file: StaticString = #fileID, line: UInt = #line
    ) {
        // Safe: a reference to a subclass is stored as one to its superclass is, and is only read here.
        operations.withUnsafeBufferPointer { operations in
            operations.withMemoryRebound(to: AnyOperation.self) {
                core.add($0, CallSite(file: file, line: line), withInputs: true)
            }
        }
    }

    /// Makes an operation from a closure, adds it and returns it.
    @discardableResult
    public func add<Output: Sendable>(
        _ name: String? = nil, _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        let operation = AsyncOperation(name, body).made(file, line)
        core.add(operation, nil)
        return operation
    }

    /// Adds it with everything it needs that nobody has added yet. One that was added before is left alone, and no
    /// misuse.
    package func addUnlessAdded(_ operation: AnyOperation) { core.addWithUpstream(operation, nil) }

    /// Adds an operation, with everything it needs that nobody has added yet, and returns its output when it has
    /// finished.
    ///
    /// It may have been added before. Cancelling the calling task cancels it, and of what this call added whatever no
    /// other unfinished operation needs and nobody else awaits; this returns when the operation has finished all the
    /// same, so that no work goes on behind the caller. Called by a body or a child task of it, it releases that body's
    /// permit meanwhile, as `context.run` does; called in an unstructured task (`Task { }`) it does not.
    ///
    /// - Throws: The error of the outcome.
    public func run<Output>(_ operation: AsyncOperation<Output>) async throws(OperationError) -> Output {
        try await RunScope(operation, on: core).outcome()
        return try operation.finishedResult.get()
    }
}

extension AnyOperation {
    /// Adds this to the queue, as ``AsyncOperationQueue/add(_:includingDependencies:file:line:)`` does: last in a chain
    /// of inputs, it adds the whole chain.
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

// MARK: - Ending

extension AsyncOperationQueue {
    /// Cancels every operation that is in the queue at this moment; see ``AnyOperation/cancel(reason:)``.
    ///
    /// All are cancelled before any body notices, so that one that throws because of another ends as cancelled, too.
    public func cancelAll(reason: CancellationReason = .queue) {
        core.cancelAll(reason: reason)
    }

    /// Returns when every operation has finished and its handlers have returned.
    ///
    /// While the queue is suspended, or an operation waits for one that nobody adds, this waits, too.
    ///
    /// A body that awaits the idleness of another queue, itself or in a child task, releases its permit meanwhile. A
    /// body or a handler that awaits the idleness of its own queue would wait for itself: that is ``Misuse``, and
    /// returns at once. It cannot be told in an unstructured task. What the awaited queue waits for is not
    /// looked through: two bodies that await the idleness of each other's queues, or one that awaits a queue whose
    /// operations need its exclusion or its output, wait for ever, and ``AnyOperation/explain()`` says only that they
    /// wait for that idleness.
    public func waitUntilIdle() async {
        if refusesToWaitForItself() { return }
        await core.waitUntilIdleReleasingPermit()
    }
}

extension QueueCore {
    /// A body that waits does so for an operation, so that it releases its permit, and says what it waits for.
    ///
    /// - Parameter closedBefore: Waits until the queue is closed first.
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
    /// The last handle is gone.
    func handleReleased() {
        let stranded = state.withLock { state in
            state.isReleased = true
            return state.members().filter { state.strands($0) }
        }
        for operation in stranded { operation.endUnlessRetried(with: .queueReleased)?.settle() }
    }
}
