/// One planned run of a procedure or closure, with a typed outcome. A reference: keep it to await, cancel or connect
/// it.
///
/// ```swift
/// let data = AsyncOperation(DataRetrieval())
/// let key = AsyncOperation("key") { try await keychain.load() }
/// let clear = AsyncOperation(Decryption(), inputs: data, key)
/// let picture = try await queue.run(clear)
/// ```
///
/// The body runs at most once (of a retry: once for each attempt), on a task of the queue, after every dependency has
/// finished. It finds the task-locals of whoever adds it that its queue carries.
public class AsyncOperation<Output: Sendable>: AnyOperation, @unchecked Sendable {
    // @unchecked: it adds no state to `AnyOperation`.

    /// Makes an operation from a closure.
    ///
    /// - Parameter body: Called at most once, on a task of the queue. What it throws becomes
    ///   ``OperationError/failed(_:)``.
    @inlinable
    public init(
        _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        super.init(nil, procedure: nil, input: nil) { execution in
            do { execution.succeed(with: try await body()) } catch { execution.bodyThrew(error) }
        }
        made(file, line)
    }

    /// Makes an operation with a name from a closure.
    ///
    /// - Parameters:
    ///   - name: What it is called in errors and explanations.
    ///   - body: Called at most once, on a task of the queue. What it throws becomes ``OperationError/failed(_:)``.
    @inlinable
    public init(_ name: String?, _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Output) {
        super.init(name, procedure: nil, input: nil) { execution in
            do { execution.succeed(with: try await body()) } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that returns nothing, which is stored as it is.
    ///
    /// - Parameter body: Called at most once, on a task of the queue. What it throws becomes
    ///   ``OperationError/failed(_:)``.
    @inlinable
    public init(
        _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Void,
        file: StaticString = #fileID, line: UInt = #line
    ) where Output == Void {
        super.init(plain: body, nil)
        made(file, line)
    }

    /// Makes an operation with a name from a closure that returns nothing, which is stored as it is.
    ///
    /// - Parameter name: What it is called in errors and explanations.
    /// - Parameter body: Called at most once, on a task of the queue. What it throws becomes
    ///   ``OperationError/failed(_:)``.
    @inlinable
    public init(
        _ name: String?, _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Void
    ) where Output == Void {
        super.init(plain: body, name)
    }

    /// Makes an operation from a closure that wants its context, to run further operations or to know its own.
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
        made(file, line)
    }

    /// Makes an operation with a name from a closure that wants its context, to run further operations or to know its
    /// own.
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

    /// Plans one run of a procedure. Without a name, it is called after the procedure's type.
    @inlinable
    public init<P: Procedure>(_ procedure: P) where P.Output == Output {
        super.init(nil, procedure: P.self, input: nil) { execution in
            do {
                execution.succeed(with: try await procedure.execute(in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure, with a name of its own.
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
        _ name: String?, procedure: (any Any.Type)?, inputs: [AnyOperation], needed: Bool = true,
        body: @escaping Body.Wrapped
    ) {
        super.init(name, procedure: procedure, inputs: inputs, needed: needed, body: body)
    }

    @usableFromInline
    override init(plain body: @escaping Body.Plain, _ name: String?) { super.init(plain: body, name) }

    @usableFromInline
    override init(_ name: String?, procedure: (any Any.Type)?, input: AnyOperation?, body: @escaping Body.Wrapped) {
        super.init(name, procedure: procedure, input: input, body: body)
    }
}

// MARK: - Outcome

extension AsyncOperation {
    /// The one outcome: nil until the operation has finished, never changed afterwards.
    public final var result: Result<Output, OperationError>? {
        withLife { $0.phase == .finished } ? finishedResult : nil
    }

    /// The output, when it is there.
    ///
    /// Returns when the operation has finished; if nobody ever adds it, never: after a second without an add that is
    /// reported once as ``Misuse``. Cancelling the task that awaits does not interrupt this: cancel the operation, or
    /// use ``AsyncOperationQueue/run(_:)``. A body that awaits the value of another operation, itself or in a child
    /// task, releases its permit meanwhile. An unstructured task (`Task { }`) of a body does not, because the
    /// body may not wait for it: use ``OperationContext/run(_:)`` there, which takes operations that were added before,
    /// too.
    ///
    /// - Throws: The error of the outcome; ``OperationError/dependencyCycle(_:)`` if the body of an operation awaits
    ///   something that waits for that operation.
    public final var value: Output {
        get async throws(OperationError) {
            try await awaitOutcome(for: WorkerTaskContext.current?.running)
            return try finishedResult.get()
        }
    }

    /// Of one that was seen finished.
    @inlinable
    final var finishedResult: Result<Output, OperationError> {
        if let failure { return .failure(failure) }
        return .success(storedOutput)
    }

    /// Of one that was seen finished, and has not failed.
    @inlinable
    final var storedOutput: Output {
        // Nearly always the two types are the same, and a bit cast is several times as fast as a dynamic one.
        func opened<Stored>(_ value: Stored) -> Output {
            Stored.self == Output.self ? unsafeBitCast(value, to: Output.self) : value as! Output
        }
        // Without this, `Stored` would be `any Sendable` itself.
        return _openExistential(outcome, do: opened)
    }
}
