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

    // `init` retains the core, and `deinit` passes that reference to the trampoline. The trampoline bounds the
    // recursion if one of the user's objects that the queue owns holds the last handle of another queue.
    private let handle: Unretained<QueueCore>

    @inline(__always)
    var core: QueueCore { handle.object }

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - name: The name that explanations and reports use for the queue. An empty name is no name.
    ///   - maxConcurrentOperationCount: The width of the queue, at least 1; see the property. A smaller number is
    ///     ``Misuse``, and the queue gets the default width.
    ///   - isSuspended: Whether the queue waits to be resumed before it starts anything.
    ///   - executor: The executor on which conditions are evaluated and bodies run; the global executor if nil. Use a
    ///     ``ThreadExecutor`` for bodies that block their thread. Handlers, observers and time limits do not depend on
    ///     this executor, because Baton has threads for them. Do not use an executor that runs jobs inside `enqueue`:
    ///     it can end a task from within a cancellation of that same task, and the Swift runtime then terminates the
    ///     process.
    ///   - taskPriority: The priority that the tasks of the queue have for their executor; nil leaves it unspecified.
    ///     It does not order the operations of the queue; see ``AnyOperation/priority``.
    ///   - clock: The clock that measures the delays and time limits of the operations, and the times of the queue's
    ///     events.
    ///   - taskLocals: The task-locals that reach bodies and handlers, as in
    ///     `taskLocals: Request.$id, ServiceContext.$current`. Their values are those of the task that adds an
    ///     operation. They are bound around the operation's body, with the hooks of ``around(file:line:_:)``, around
    ///     the closures that decide about another attempt or repetition, and around its handlers, except handlers that
    ///     are added after the operation has finished and its other handlers have returned. Operations that the body
    ///     runs or produces get the values in turn. Conditions, their dependencies and backoffs do not see them. A
    ///     value is released when the operation has finished and its handlers have returned. Each task-local costs
    ///     about 0.1 to 0.2 µs per operation.
    ///   - onMisuse: The handler for calls that make no sense; see the property.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    public convenience init<each Local: Sendable>(
        name: String? = nil,
        maxConcurrentOperationCount: Int = defaultMaxConcurrentOperationCount,
        isSuspended: Bool = false,
        executor: (any TaskExecutor)? = nil,
        taskPriority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        taskLocals: repeat TaskLocal<each Local>,
        onMisuse: (@Sendable (Misuse) -> Void)? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        var carried: [CarriedTaskLocal] = []
        repeat carried.append(CarriedTaskLocal(each taskLocals))
        self.init(
            name: name, maxConcurrentOperationCount: maxConcurrentOperationCount, isSuspended: isSuspended,
            executor: executor, taskPriority: taskPriority, clock: clock, carrying: carried, onMisuse: onMisuse,
            probe: nil, callSite: CallSite(file: file, line: line))
    }

    /// Makes a queue with settings that only Baton's own targets use.
    ///
    /// - Parameter probe: Called with every event, outside every lock, on the thread that emits the event.
    @_disfavoredOverload  // `AsyncOperationQueue { … }` would be ambiguous in the package.
    package init(
        name: String? = nil, maxConcurrentOperationCount width: Int = defaultMaxConcurrentOperationCount,
        isSuspended: Bool = false, executor: (any TaskExecutor)? = nil, taskPriority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(), carrying taskLocals: [CarriedTaskLocal] = [],
        onMisuse: (@Sendable (Misuse) -> Void)? = nil, probe: (@Sendable (OperationEvent) -> Void)?,
        callSite: CallSite? = nil
    ) {
        let name = name?.isEmpty == true ? nil : name
        let core = QueueCore(
            name: name, width: width < 1 ? Self.defaultMaxConcurrentOperationCount : width, isSuspended: isSuspended,
            executor: executor, priority: taskPriority, time: TimeSource(clock), taskLocals: taskLocals,
            onMisuse: onMisuse, probe: probe)
        handle = Retained(core).handOver()
        if width < 1 { core.report(Misuse(.invalidWidth(width), queue: name, callSite: callSite)) }
    }

    deinit { Trampoline.run(.releaseQueue(Retained(handedOver: handle).take())) }
}

// MARK: - Configuration

extension AsyncOperationQueue {
    /// The name that explanations and reports use for the queue.
    public var name: String? { core.name }

    /// The width of the queue: the number of bodies that may run at a time, without those that wait for operations.
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
            let (requeued, number) = core.change { state in
                let isChanged = state.scheduler.isSuspended != newValue
                state.scheduler.isSuspended = newValue
                if isChanged { state.suspensionCount += 1 }
                return (newValue ? state.scheduler.takeRequeued() : nil, isChanged ? state.suspensionCount : nil)
            }
            // The broadcaster reads the user's clock, which may set this property again, so no lock may be held here.
            if let number { core.broadcaster.queueIsSuspended(newValue, number: number) }
            core.releaseExclusions(from: requeued)
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
    public var operations: [AnyOperation] { core.state.withLock { $0.registry.members() } }

    /// The number of operations that were added and have not finished, children included.
    public var operationCount: Int { core.state.withLock { $0.registry.count } }

    /// The handler for misuse of calls that do not throw; nil, the default, writes one line to standard error.
    ///
    /// The handler is called once for each misuse, on the thread that detects it, which is usually the thread that made
    /// the call. The call has changed nothing, unless its `Misuse.Kind` says otherwise. Misuse of the handler itself,
    /// or of a task that it has started, is written to standard error.
    ///
    /// Misuse of an operation that has not been added, such as a negative time limit, belongs to no queue yet and is
    /// written to standard error.
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

extension AsyncOperationQueue: CustomStringConvertible {
    /// The name of the queue, the number of its operations, and whether it is suspended or shut down, such as
    /// "queue ‘images’ (3 operations, suspended)".
    public var description: String {
        let (count, isSuspended, isShutDown) = core.state.withLock { state in
            (state.registry.count, state.scheduler.isSuspended, state.shutdownState != .running)
        }
        return "queue\(name.map { " \($0.quoted)" } ?? "") (\(count == 1 ? "1 operation" : "\(count) operations")"
            + "\(isSuspended ? ", suspended" : "")\(isShutDown ? ", shut down" : ""))"
    }
}

// MARK: - Cancelling and waiting

extension AsyncOperationQueue {
    /// Cancels every operation that is in the queue at this moment; see ``AnyOperation/cancel(reason:)``.
    ///
    /// All operations are marked as cancelled before any body notices its cancellation. So a body that throws because
    /// another operation was cancelled ends as cancelled, too.
    ///
    /// - Parameter reason: The reason that the errors of the operations carry.
    /// - Complexity: O(n) for n operations.
    public func cancelAll(reason: CancellationReason = .queue) {
        core.cancelAll(reason: reason)
    }

    /// Returns when every operation has finished and its handlers have returned.
    ///
    /// Use this between two phases of a program, and in tests: the queue goes on taking operations, and waits for those
    /// that are added meanwhile, too. At the end of a program use ``drain()``, which refuses further operations, or
    /// ``shutdown(within:clock:)``, which also cancels what does not finish in time. To wait for one operation, await
    /// its ``AsyncOperation/value`` or ``AnyOperation/waitUntilFinished()``.
    ///
    /// This does not return while the queue is suspended and has operations, or while an operation waits for one that
    /// nobody adds. An operation that was cancelled before it was added does not count. If the queue is suspended when
    /// this is called and has not been resumed a second later, that is reported as ``Misuse``, and the wait goes on.
    ///
    /// A body that calls this method on another queue, itself or in a child task, releases its permit meanwhile. A body
    /// or a handler that calls it on its own queue would wait for itself: such a call is ``Misuse``, and returns at
    /// once. Baton cannot detect it in an unstructured task (`Task { }`).
    ///
    /// If an operation of the queue waits for the body, directly or not, neither could go on. Baton finds this after a
    /// second or more, even if the operation waits for an exclusion that the body holds. The call is then ``Misuse``,
    /// and returns although the queue is not idle. Such a wait lasts forever on a seeded schedule and in a handler.
    /// Cancelling the body does not end its wait.
    public func waitUntilIdle() async {
        if refusesToWaitForItself(in: "waitUntilIdle") { return }
        let check = core.checkSuspension(during: "waitUntilIdle")
        await core.waitUntilIdleReleasingPermit()
        check?.cancel()
    }
}

// MARK: - Hooks

extension AsyncOperationQueue {
    /// Calls a hook around every body that starts from now on, for example for tracing or logging.
    ///
    /// ```swift
    /// queue.around { context, body in
    ///     try await Request.$id.withValue(nextID()) { try await body() }
    /// }
    /// ```
    ///
    /// The hook runs on the task of the body. It must call `body` once and rethrow its error. `body` returns when the
    /// operation's body has returned, and throws the error that the operation's body throws. An error that the hook
    /// throws after the body has succeeded becomes the error of the operation. If the hook neither calls `body` nor
    /// throws, the operation fails with ``OperationError/misuse(_:)``; a second call of `body` throws this error.
    ///
    /// The body of a group is the run of its children. The hook holds no permit after it, so the hooks of several
    /// groups may go on side by side, whatever the width of the queue.
    ///
    /// The first hook that was added is the outermost one. Bodies of queues without hooks pay nothing for this feature.
    /// For task-locals whose values come from the task that adds an operation, use the `taskLocals` parameter of the
    /// queue's initializer instead.
    ///
    /// - Parameters:
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    ///   - hook: The hook. Its `context` describes the operation whose body starts, and its `body` runs the inner hooks
    ///     and the body of the operation.
    public func around(
        file: StaticString = #fileID, line: UInt = #line,
        _ hook:
            @escaping @Sendable (
                _ context: OperationContext, _ body: @Sendable () async throws -> Void
            ) async throws -> Void
    ) {
        core.middleware.withLock { $0.append(Middleware(hook: hook, callSite: CallSite(file: file, line: line))) }
        core.hasMiddleware.isSet = true
    }
}

// MARK: - Order

/// The order in which ready operations of one priority start.
///
/// ```swift
/// tiles.schedulingOrder = .lastInFirstOut     // what the user sees now comes first
/// ```
///
/// In every order, children of a running body and further attempts come first, and operations that wait for an
/// ``Exclusion`` get it in the order in which they asked. An operation whose priority is changed goes behind the others
/// that have the new priority.
@nonexhaustive
public enum SchedulingOrder: Sendable, CaseIterable {
    /// Operations whose last dependency has just finished come before those that wait, so that few results wait to be
    /// used.
    ///
    /// At most 16 such operations start in a row while others of their priority wait; if several bodies run at a time,
    /// a few more may. Operations that were ready when they were added start in the order of the adds.
    case depthFirst
    /// Operations start in the order in which they became ready, as in Foundation's `OperationQueue`.
    case firstInFirstOut
    /// The operation that became ready last starts first, as suits the tiles of a map that scrolls.
    ///
    /// Operations that became ready early may wait for as long as others come.
    case lastInFirstOut
}
