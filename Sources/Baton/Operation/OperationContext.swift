/// What a body is told about its run, and how it runs further operations.
public struct OperationContext: Sendable {
    /// The operation whose body this is.
    public let operation: AnyOperation

    /// Which run of the body this is, from 1; see ``AnyOperation/retry(_:attempts:deadline:file:line:if:)``.
    public let attempt: Int

    /// Of the body, as ``OptionalState/run`` counts: what an earlier attempt has kept is of no use in a later one.
    private let run: Int32
    /// Set when there is no run of an operation around this.
    private let directCall: DirectCall?

    private struct DirectCall {
        /// Where children run.
        let queue: AsyncOperationQueue
        let dependencies: OperationDependencies
    }

    @usableFromInline
    init(_ operation: AnyOperation) {
        self.operation = operation
        (attempt, run) = operation.currentRun
        directCall = nil
    }

    @usableFromInline
    init(_ execution: Execution) { self.init(execution.operation) }

    /// For calling a procedure directly, in a test or from another body: `try await procedure.execute(in:
    /// OperationContext())`.
    ///
    /// ``operation`` is a stand-in that never runs. What the procedure runs or produces goes to `queue`, and it finds
    /// `outputs` as those of its ``dependencies``.
    public init(attempt: Int = 1, outputs: [any Sendable] = [], queue: AsyncOperationQueue = .shared) {
        operation = AsyncOperation<Void>("direct call") {}
        (self.attempt, run) = (attempt, 0)
        directCall = DirectCall(queue: queue, dependencies: OperationDependencies(found: outputs))
    }

    /// The operations that this one depended on, with their outputs. To be asked while the body runs.
    public var dependencies: OperationDependencies {
        directCall?.dependencies ?? OperationDependencies(of: operation)
    }
}

// MARK: - Further operations

extension OperationContext {
    /// Runs a child, with everything it needs that nobody has added yet, on the queue of this operation, and returns
    /// its output.
    ///
    /// Meanwhile the body holds no permit of its queue, so children cannot starve, whatever the queue's width; they
    /// also run while the queue is suspended. When this operation or the calling task is cancelled, so is the child,
    /// and this returns when the child has finished. `child` may have been added before, also to another queue. May be
    /// called from child tasks of the body.
    ///
    /// - Throws: The error of the child's outcome. ``OperationError/dependencyCycle(_:)`` if the child waits for this
    ///   operation. ``OperationError/misuse(_:)`` if the body has returned: await what it starts.
    public func run<Output>(_ child: AsyncOperation<Output>) async throws(OperationError) -> Output {
        if let directCall { return try await directCall.queue.run(child) }
        let core = try runningCore(else: .ranAfterTheEnd)
        if operation.isCancelled { child.cancel(reason: .parent(operation.reference)) }
        try await RunScope(child, on: core, parent: operation).outcome()
        return try child.finishedResult.get()
    }

    /// Adds an operation, with everything it needs that nobody has added yet, to the queue of this operation, and
    /// returns it.
    ///
    /// It is on its own from there: this operation does not wait for it, and is not waited for by it; a cancel of this
    /// one does not reach it. The operation's ``AnyOperation/didProduce(_:)`` handlers are told. One that was added
    /// before is ``Misuse``, and left alone.
    ///
    /// - Throws: ``OperationError/misuse(_:)`` if the body has returned: then nothing is added.
    @discardableResult
    public func produce<Produced: AnyOperation>(
        _ product: Produced, file: StaticString = #fileID, line: UInt = #line
    ) throws(OperationError) -> Produced {
        if let directCall {
            return product.add(
                to: directCall.queue, includingDependencies: true, file: file, line: line)
        }
        let core = try runningCore(else: .producedAfterTheEnd)
        let added = core.addWithUpstream(product, from: .produced, CallSite(file: file, line: line))
        if added.last === product { operation.tellOfProduct(product, from: core) }
        return product
    }

    /// The body's own queue, while the body runs.
    private func runningCore(else misuse: Misuse.Kind) throws(OperationError) -> QueueCore {
        guard let runningCore else { throw .misuse(Misuse(misuse, operation: operation.reference)) }
        return runningCore
    }

    /// Nil: the body has returned, in this run of it, or there is no run of the operation.
    private var runningCore: QueueCore? {
        operation.withLife { life in
            life.phase == .executing && life.optionalState?.run ?? 0 == run ? operation.core : nil
        }
    }
}

// MARK: - Time

extension OperationContext {
    /// The clock of this operation's queue, which measures its delays and time limits, too: in a test, virtual time.
    ///
    /// A context that was made for a direct call has the clock of the queue that it was made with. When the body has
    /// returned, this is the system's continuous clock.
    public var clock: OperationClock {
        OperationClock((directCall?.queue.core ?? runningCore)?.time ?? .continuous)
    }

    /// Suspends the body for at least this time, on the clock of this operation's queue.
    ///
    /// With a replacement, this is a debounce: the operation that comes next cancels the one that sleeps.
    ///
    /// ```swift
    /// let search = AsyncOperation("search") { context in
    ///     try await context.sleep(for: .milliseconds(300))
    ///     return try await index.find(text)
    /// }.unique(by: "search", policy: .replace)
    /// ```
    ///
    /// The body executes while it sleeps: it keeps its permit of the queue, and a time limit of the operation goes on.
    /// To wait without a permit, give the operation a delay (``AnyOperation/delay(_:file:line:)``); the pauses between
    /// the attempts of a retry take none either. May be called from child tasks of the body. An unstructured task
    /// (`Task { }`) of the body is not cancelled with the operation, so there a sleep that has begun goes on.
    ///
    /// - Parameter duration: Zero or less returns at once. There is no longest duration.
    /// - Throws: `CancellationError` as soon as the operation or the calling task is cancelled, also if it was before.
    ///   ``OperationError/misuse(_:)`` if the body has returned: await what it starts.
    public func sleep(for duration: Duration) async throws {
        let core = try directCall?.queue.core ?? runningCore(else: .sleptAfterTheEnd)
        if operation.isCancelled { throw CancellationError() }
        try await core.time.sleep(for: duration)
    }
}

/// What a body finds of the operations that its own depended on: all finished, inputs first, then in the order added.
///
/// A procedure that does not know who makes its input can look for it by type, or by a protocol that anybody's output
/// can conform to, whatever its operation:
///
/// ```swift
/// let image = context.dependencies.outputs(of: (any ImageProvider).self).lazy.compactMap(\.image).first
/// ```
public struct OperationDependencies: Sendable {
    /// The operations. Empty after the body's operation has finished, and in a direct call.
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

    /// Their outputs of this type or protocol, in order. Those that have none, or one of another type, are passed over.
    public func outputs<Output>(of type: Output.Type) -> [Output] { found.compactMap { $0 as? Output } }
}
