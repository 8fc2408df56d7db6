/// What a body is told about its run, and how it runs further operations.
public struct OperationContext: Sendable {
    /// The operation whose body this is.
    public let operation: AnyOperation

    /// Which run of the body this is, from 1.
    public let attempt: Int

    /// Where children run when there is no run of an operation around this.
    private let queueOfDirectCall: AsyncOperationQueue?

    @usableFromInline
    init(_ operation: AnyOperation) {
        self.operation = operation
        attempt = 1
        queueOfDirectCall = nil
    }

    /// For calling a procedure directly, in a test or from another body: `try await procedure.execute(in: OperationContext())`.
    ///
    /// ``operation`` is a stand-in that never runs; ``run(_:)`` runs its children on `queue`.
    public init(queue: AsyncOperationQueue = .shared) {
        operation = AsyncOperation<Void>("direct call") {}
        attempt = 1
        queueOfDirectCall = queue
    }

    /// Runs a child, with everything it needs that nobody has added yet, on the queue of this operation, and returns its output.
    ///
    /// Meanwhile the body holds no slot of its queue, so children cannot starve, whatever the queue's width; they also run
    /// while the queue is suspended. When this operation or the calling task is cancelled, so is the child, and this returns
    /// when the child has finished. `child` may have been added before, also to another queue. May be called from child
    /// tasks of the body.
    ///
    /// - Throws: The error of the child's outcome. ``OperationError/dependencyCycle(_:)`` if the child waits for this
    ///   operation. ``OperationError/misuse(_:)`` if the body has returned: await what it starts.
    public func run<Output>(_ child: AsyncOperation<Output>) async throws(OperationError) -> Output {
        if let queueOfDirectCall { return try await queueOfDirectCall.run(child) }
        let parent = operation
        let (core, isCancelled) = parent.life.withLock { life in
            (life.phase == .executing ? parent.core : nil, life.isCancelled)
        }
        guard let core else { throw .misuse(Misuse(.ranAfterTheEnd, operation: parent.reference)) }
        if isCancelled { child.cancel(reason: .parent(parent.reference)) }
        try await RunScope(child, on: core, parent: parent).outcome()
        return try child.finishedResult.get()
    }
}
