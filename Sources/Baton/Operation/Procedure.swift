/// A unit of work: a value with one method, and no identity or state of its own.
///
/// A procedure can be run any number of times, by any number of operations at once. Wrap it in an ``AsyncOperation`` to
/// plan one run. A test can call it directly: `try await procedure.execute(in: OperationContext())`.
///
/// ```swift
/// struct Download: Procedure {
///     let url: URL
///
///     func execute(in context: OperationContext) async throws -> Data { try await client.data(from: url) }
/// }
///
/// let data = try await queue.run(AsyncOperation(Download(url: url)))
/// ```
///
/// ``execute(in:)`` is called on a task that belongs to the queue. A type isolated to an actor conforms by writing the
/// isolation before the method: `@MainActor func execute(in context: OperationContext) async throws -> Output`.
public protocol Procedure<Output>: Sendable {
    /// The type of the value that a run returns.
    associatedtype Output: Sendable

    /// Does the work, on a task of the queue.
    ///
    /// - Parameter context: The context of the run, with which the body can run further operations.
    /// - Returns: The output of the operation.
    /// - Throws: Any error; it becomes the operation's ``OperationError/failed(_:)``.
    func execute(in context: OperationContext) async throws -> Output
}

/// A ``Procedure`` that takes an input: a literal value, or the outputs of other operations.
///
/// Several inputs are passed as one tuple, so a procedure whose `Input` is `(Data, Key)` fits `inputs: data, key`.
public protocol InputProcedure<Input, Output>: Sendable {
    /// The type of the value that a run takes.
    associatedtype Input: Sendable
    /// The type of the value that a run returns.
    associatedtype Output: Sendable

    /// Does the work on `input`, on a task of the queue.
    ///
    /// - Parameters:
    ///   - input: The literal value, or the outputs of the operations that the input comes from.
    ///   - context: The run that calls the procedure, and the means to run further operations.
    /// - Returns: The output of the operation.
    /// - Throws: Any error; it becomes the operation's ``OperationError/failed(_:)``.
    func execute(_ input: Input, in context: OperationContext) async throws -> Output
}

// MARK: - Context

/// The context of one run of a body: it describes the run, and runs further operations.
///
/// The context has no queue. ``run(_:file:line:)`` and ``produce(_:file:line:)`` add operations to the queue on which
/// the body runs, and ``clock`` is the clock of that queue. A body that needs the queue itself, for example to read
/// ``AsyncOperationQueue/isShuttingDown``, captures it.
///
/// ```swift
/// let report = AsyncOperation("report") { context in
///     let data = try await context.run(AsyncOperation(Download(url)))
///     return try summarize(data)
/// }
/// ```
public struct OperationContext: Sendable {
    /// The operation whose body is running.
    public let operation: AnyOperation

    /// The number of this attempt, from 1; see ``AnyOperation/retry(_:attempts:deadline:file:line:if:)``.
    ///
    /// Each repetition of the body (``AsyncOperation/repeat(every:count:file:line:until:)``) begins with attempt 1
    /// again, so this does not count repetitions.
    public let attempt: Int

    /// The number of this run, as counted by ``OptionalState/run``. A context that escaped from an earlier attempt must
    /// not act for a later one.
    private let runNumber: Int32
    /// Set if the context was made for a direct call, without a run of an operation.
    private let directCall: DirectCall?

    private struct DirectCall {
        /// The queue that runs the children.
        let queue: AsyncOperationQueue
        let dependencies: OperationDependencies
    }

    @usableFromInline
    init(_ operation: AnyOperation) {
        self.operation = operation
        (attempt, runNumber) = operation.currentRun
        directCall = nil
    }

    @usableFromInline
    init(_ execution: Execution) { self.init(execution.operation) }

    /// Makes a context for calling a procedure directly, in a test or from another body.
    ///
    /// ```swift
    /// let output = try await procedure.execute(in: OperationContext())
    /// ```
    ///
    /// ``operation`` is then a stand-in that never runs.
    ///
    /// - Parameters:
    ///   - attempt: The number of the run, which the procedure finds as its `attempt`.
    ///   - outputs: The outputs that the procedure finds in its ``dependencies``.
    ///   - queue: The queue for the operations that the procedure runs or produces.
    public init(attempt: Int = 1, outputs: [any Sendable] = [], queue: AsyncOperationQueue = .shared) {
        operation = AsyncOperation<Void>("direct call") {}
        (self.attempt, runNumber) = (attempt, 0)
        directCall = DirectCall(queue: queue, dependencies: OperationDependencies(found: outputs))
    }

    /// The operations that this one depended on, with their outputs. Read it while the body runs.
    ///
    /// - Complexity: O(n) for n dependencies.
    public var dependencies: OperationDependencies {
        directCall?.dependencies ?? OperationDependencies(of: operation)
    }
}

// MARK: - Further operations

extension OperationContext {
    /// Runs a child on the queue of this operation, with everything it needs that nobody has added yet.
    ///
    /// Adds the child, the operations that it takes its inputs from and its other dependencies, directly or not, as
    /// ``AsyncOperationQueue/run(_:)`` does, and returns the child's output. While it waits, the body holds no permit
    /// of its queue, so children cannot starve, whatever the width of the queue. Children that this call adds also run
    /// while the queue is suspended. When this operation or the calling task is cancelled, the child is cancelled, too,
    /// even if others need it, and this returns when the child has finished. The child may have been added before, also
    /// to another queue. Child tasks of the body may call this.
    ///
    /// An operation runs once, so in a body that is retried, make the child in the body. A further attempt that calls
    /// this for an operation which has already finished without an output gets the old error, and that is reported as
    /// ``Misuse``.
    ///
    /// - Parameters:
    ///   - child: The operation to run.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: The output of the child.
    /// - Throws: The error of the child's outcome. ``OperationError/dependencyCycle(_:)`` if the child waits for this
    ///   operation. ``OperationError/misuse(_:)`` if the body has returned: await everything that the body starts.
    /// - Complexity: O(n) for n operations and dependencies that come before the child and are not yet known to have
    ///   been added.
    public func run<Output>(
        _ child: AsyncOperation<Output>, file: StaticString = #fileID, line: UInt = #line
    ) async throws(OperationError) -> Output {
        if let directCall { return try await directCall.queue.run(child) }
        let core = try runningCore(else: .ranAfterTheEnd, CallSite(file: file, line: line))
        if operation.isCancelled {
            child.cancel(reason: .parent(operation.reference))
        } else if attempt > 1, child.error != nil {
            core.report(
                Misuse(
                    .ranFinishedOperation(in: operation.reference), operation: child.reference,
                    callSite: CallSite(file: file, line: line)), of: child)
        }
        try await RunScope(child, on: core, parent: operation).outcome()
        return try child.finishedResult.get()
    }

    /// Adds an operation to the queue of this operation, with everything it needs that nobody has added yet.
    ///
    /// This includes its dependencies of every kind, as with ``run(_:file:line:)``.
    ///
    /// ```swift
    /// for link in page.links { try context.produce(AsyncOperation(Crawl(link))) }
    /// ```
    ///
    /// The product is independent: neither operation waits for the other, and a cancellation of this operation does not
    /// reach the product. The ``AnyOperation/didProduce(_:)`` handlers of this operation are called. Producing an
    /// operation that was added before is ``Misuse``, and does not change that operation.
    ///
    /// - Parameter product: The operation to add.
    /// - Returns: The product.
    /// - Throws: ``OperationError/misuse(_:)`` if the body has returned; nothing is added then.
    /// - Complexity: O(n) for n operations and dependencies that come before the product and are not yet known to have
    ///   been added.
    @discardableResult
    public func produce<Produced: AnyOperation>(
        _ product: Produced, file: StaticString = #fileID, line: UInt = #line
    ) throws(OperationError) -> Produced {
        if let directCall {
            return product.add(
                to: directCall.queue, includingDependencies: true, file: file, line: line)
        }
        let callSite = CallSite(file: file, line: line)
        let core = try runningCore(else: .producedAfterTheEnd, callSite)
        let added = core.addWithUpstream(product, from: .produced, callSite)
        if added.last === product { operation.noteProduct(product, from: core) }
        return product
    }

    /// Returns the body's queue. Throws the misuse if the body has returned.
    private func runningCore(
        else misuse: Misuse.Kind, _ callSite: CallSite
    ) throws(OperationError) -> QueueCore {
        guard let runningCore else {
            throw .misuse(Misuse(misuse, operation: operation.reference, callSite: callSite))
        }
        return runningCore
    }

    /// The body's queue; nil if this run of the body has returned, or if the context was made for a direct call.
    private var runningCore: QueueCore? {
        operation.withLifecycle { life in
            life.phase == .executing && (life.optionalState?.run ?? 0) == runNumber ? operation.core : nil
        }
    }
}

// MARK: - Time

extension OperationContext {
    /// The clock of this operation's queue, which also measures delays and time limits. In a test it may be virtual
    /// time.
    ///
    /// A context that was made for a direct call has the clock of the queue that it was made with. After the body has
    /// returned, this is the system's continuous clock.
    public var clock: OperationClock {
        OperationClock((directCall?.queue.core ?? runningCore)?.time ?? .continuous)
    }

    /// Suspends the body for at least `duration`, on the clock of this operation's queue.
    ///
    /// At the beginning of a body, together with the uniqueness policy `.replace`, a sleep is a debounce: a newer
    /// operation with the same key cancels the one that still sleeps.
    ///
    /// ```swift
    /// let search = AsyncOperation("search") { context in
    ///     try await context.sleep(for: .milliseconds(300))
    ///     return try await index.find(text)
    /// }.unique(by: "search", policy: .replace)
    /// ```
    ///
    /// A body that sleeps is executing: it keeps its permit, and a time limit of the operation continues to run. To
    /// wait without a permit, give the operation a delay (``AnyOperation/delay(_:file:line:)``); the pauses between the
    /// attempts of a retry take no permit either. Child tasks of the body may call this. An unstructured task
    /// (`Task { }`) of the body is not cancelled with the operation, so a sleep that has begun there goes on.
    ///
    /// - Parameters:
    ///   - duration: The shortest time to sleep. Zero or less returns at once. There is no upper limit.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Throws: `CancellationError` as soon as the operation or the calling task is cancelled, even if it was
    ///   cancelled before the call. ``OperationError/misuse(_:)`` if the body has returned: await everything that the
    ///   body starts.
    public func sleep(for duration: Duration, file: StaticString = #fileID, line: UInt = #line) async throws {
        let core =
            try directCall?.queue.core ?? runningCore(else: .sleptAfterTheEnd, CallSite(file: file, line: line))
        if operation.isCancelled { throw CancellationError() }
        try await core.time.sleep(for: duration)
    }
}

/// The operations that a body's operation depended on, with their outputs: inputs first, then in the order added.
///
/// All of them have finished. A procedure that does not know which operation makes its input can look for the input by
/// type, or by a protocol that the outputs of any operations conform to:
///
/// ```swift
/// let image = context.dependencies.outputs(of: (any ImageProvider).self).lazy.compactMap(\.image).first
/// ```
public struct OperationDependencies: Sendable {
    /// The dependencies. The array is empty after the body's operation has finished, and in a direct call.
    public let operations: [AnyOperation]
    private let found: [any Sendable]

    init(of operation: AnyOperation) {
        operations = operation.dependencies
        found = operations.compactMap { $0.hasFailed ? nil : $0.outcome }
    }

    init(found: [any Sendable]) {
        operations = []
        self.found = found
    }

    /// Returns the outputs of this type or protocol, in the order of the dependencies.
    ///
    /// Dependencies that have no output, or an output of another type, are passed over.
    ///
    /// - Parameter type: The type or protocol to look for.
    /// - Complexity: O(n) for n dependencies.
    public func outputs<Output>(of type: Output.Type) -> [Output] { found.compactMap { $0 as? Output } }
}
