/// One planned run of a procedure or closure, with a typed outcome.
///
/// ```swift
/// let data = AsyncOperation(DataRetrieval())
/// let key = AsyncOperation("key") { try await keychain.load() }
/// let clear = AsyncOperation(Decryption(), inputs: data, key)
/// let picture = try await queue.run(clear)
/// ```
///
/// Keep the reference to await, cancel or connect the operation. The body runs at most once, or once for each attempt
/// of a retry. It runs on a task of the queue, after every dependency has finished. It sees the task-locals that its
/// queue carries, with the values of the task that adds the operation.
public class AsyncOperation<Output: Sendable>: AnyOperation, @unchecked Sendable {
    // @unchecked: this class adds no state to `AnyOperation`.

    /// Makes an operation from a closure.
    ///
    /// - Parameter body: Called at most once, on a task of the queue. An error that it throws becomes
    ///   ``OperationError/failed(_:)``.
    @inlinable
    public init(
        _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        super.init(nil, procedure: nil, input: nil) { execution in
            do { execution.succeed(with: try await body()) } catch { execution.bodyThrew(error) }
        }
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @inlinable
    public init(_ name: String?, _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Output) {
        super.init(name, procedure: nil, input: nil) { execution in
            do { execution.succeed(with: try await body()) } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes its context.
    ///
    /// ```swift
    /// let pages = AsyncOperation { context in
    ///     let index = try await context.run(AsyncOperation(Download(indexURL)))
    ///     return try parse(index)
    /// }
    /// ```
    ///
    /// - Parameter body: Called at most once, on a task of the queue, with the context of its run. An error that it
    ///   throws becomes ``OperationError/failed(_:)``.
    @inlinable
    public init(
        _ body: nonisolated(nonsending) @escaping @Sendable (OperationContext) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        super.init(nil, procedure: nil, input: nil) { execution in
            do {
                execution.succeed(with: try await body(OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes its context.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - body: Called at most once, on a task of the queue, with the context of its run. An error that it throws
    ///     becomes ``OperationError/failed(_:)``.
    @inlinable
    public init(
        _ name: String?,
        _ body: nonisolated(nonsending) @escaping @Sendable (OperationContext) async throws -> Output
    ) {
        super.init(name, procedure: nil, input: nil) { execution in
            do {
                execution.succeed(with: try await body(OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure. The operation is named after the procedure's type.
    ///
    /// - Parameter procedure: Its `execute(in:)` is called at most once, on a task of the queue.
    @inlinable
    public init<P: Procedure>(_ procedure: P) where P.Output == Output {
        super.init(nil, procedure: P.self, input: nil) { execution in
            do {
                execution.succeed(with: try await procedure.execute(in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure, with a name.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(in:)` is called at most once, on a task of the queue.
    @_disfavoredOverload  // A mistake in a closure would be reported as one about procedures.
    @inlinable
    public init<P: Procedure>(_ name: String?, _ procedure: P) where P.Output == Output {
        super.init(name, procedure: P.self, input: nil) { execution in
            do {
                execution.succeed(with: try await procedure.execute(in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    @usableFromInline
    override init(
        _ name: String?, procedure: (any Any.Type)?, inputs: [AnyOperation], requiresInputOutputs: Bool = true,
        body: @escaping Body.Code
    ) {
        super.init(name, procedure: procedure, inputs: inputs, requiresInputOutputs: requiresInputOutputs, body: body)
    }

    @usableFromInline
    override init(_ name: String?, procedure: (any Any.Type)?, input: AnyOperation?, body: @escaping Body.Code) {
        super.init(name, procedure: procedure, input: input, body: body)
    }
}

// MARK: - Outcome

extension AsyncOperation {
    /// The outcome of the operation; nil until the operation has finished, and constant afterwards.
    public final var result: Result<Output, OperationError>? {
        withLifecycle { $0.phase == .finished } ? finishedResult : nil
    }

    /// The output of the operation, when the operation has finished.
    ///
    /// If nobody ever adds the operation, this never returns. After a second without an add, that is reported once as
    /// ``Misuse``. Cancelling the task that awaits the value does not end the wait: cancel the operation, or use
    /// ``AsyncOperationQueue/run(_:)``.
    ///
    /// A body that awaits the value of another operation, itself or in a child task, releases its permit meanwhile. An
    /// unstructured task (`Task { }`) of a body does not release the permit, because the body may not wait for that
    /// task. Use ``OperationContext/run(_:file:line:)`` there, which also takes operations that were added before.
    ///
    /// - Throws: The error of the outcome. ``OperationError/dependencyCycle(_:)`` if a body awaits an operation that
    ///   waits for the operation of that body.
    public final var value: Output {
        get async throws(OperationError) {
            try await awaitOutcome()
            return try finishedResult.get()
        }
    }

    /// The outcome. Read it only when it is decided: in a `willFinish` handler, or after the operation has finished.
    @inlinable
    final var finishedResult: Result<Output, OperationError> {
        assert(hasOutcome, "The outcome of an operation is read only when it is decided.")
        if let failure { return .failure(failure) }
        return .success(storedOutput)
    }

    /// The output of an operation that has not failed. Read it only on a thread that has found the phase finished, or
    /// on the worker between two runs of the body.
    @inlinable
    final var storedOutput: Output {
        assert(!hasFailed, "a failed operation stores an error and no output")
        return castStored(outcome, to: Output.self)
    }
}

// MARK: - Body

/// The code that an operation runs: a closure around the user's, which finds the inputs and stores the outcome.
@usableFromInline
struct Body: Sendable {
    @usableFromInline typealias Code = nonisolated(nonsending) @Sendable (Execution) async -> Void

    let code: Code

    /// Runs the code for an operation, which the caller retains until this has returned.
    @inline(__always)
    nonisolated(nonsending) func run(for operation: Unretained<AnyOperation>) async {
        await code(Execution(unretained: operation))
    }
}

/// One run of a body, through which the closure around the user's finds the inputs and stores the outcome.
///
/// It does not retain the operation, because that would cost two atomic operations for each run. The worker holds the
/// operation until the closure has returned.
@usableFromInline
struct Execution: Sendable {
    @usableFromInline let unretained: Unretained<AnyOperation>

    /// The operation, retained for the caller.
    @usableFromInline
    var operation: AnyOperation { unretained.object }

    @inlinable
    @inline(__always)
    func succeed<Output: Sendable>(with output: Output) {
        unretained.use { operation in
            operation.outcome = output
            if !isPlainData(Output.self) { operation.outcomeOwns = true }
        }
    }

    @usableFromInline
    func bodyThrew(_ error: any Error) { unretained.use { $0.bodyThrew(error) } }

    func bodyFailed(_ error: OperationError) { unretained.use { $0.bodyFailed(error) } }

    /// Returns the input at `place`. Returns nil if that has no output, so that the body must not run; the failure of
    /// this operation is then stored.
    @usableFromInline
    func checkedInput<Input>(at place: Int, as type: Input.Type) -> AsyncOperation<Input>? {
        unretained.use { $0.checkedInput(at: place, as: type) }
    }

    /// Returns false if an input has no output, so that the body must not run; the failure of this operation is then
    /// stored.
    func checkInputs() -> Bool { unretained.use { $0.checkInputs() } }
}
